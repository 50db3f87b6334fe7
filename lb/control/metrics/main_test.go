package metrics

import (
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a View of a real dispatcher and of a proxy that made up its totals.
type fake struct {
	*dispatch.Dispatcher
	c   *config.Config
	now dispatch.Tick
}

const start = dispatch.Tick(time.Hour)

// flags are a place with every kind of limit, and with none.
var flags = strings.Fields(`
	-virtual web,listen=127.0.0.1:80,pool=app,connection-limit=9 -virtual mail,listen=127.0.0.1:25,pool=mx
	-pool app,queue-time-limit=5s,reselect-tries=9 -pool mx,queue-depth-cap=none
	-member 10.0.0.1:80,pool=app,connection-limit=1 -member 10.0.0.2:80,pool=app,connection-limit=2
	-member 10.0.0.1:25,pool=mx -member 10.0.0.3:25,pool=mx,state=disabled -node 10.0.0.1,connection-limit=7`)

func newFake(t testing.TB, flags []string) *fake {
	c, err := config.Parse(flags, config.Env{
		ReadFile: func(string) ([]byte, error) { return nil, os.ErrNotExist },
	})
	if err != nil {
		t.Fatal(err)
	}
	d := dispatch.Config{Loops: 2}
	for _, v := range c.Virtuals {
		d.Virtuals = append(d.Virtuals, dispatch.VirtualConfig{Pool: dispatch.PoolID(v.Pool), Limit: v.ConnectionLimit})
	}
	for i, p := range c.Pools {
		d.Pools = append(d.Pools, dispatch.PoolConfig{
			Limit: p.ConnectionLimit, Queue: p.Queue, Depth: c.Depth(i), QueueTime: dispatch.Tick(p.QueueTime),
			WhenDownQueue: p.WhenDownQueue, Tries: uint8(p.ReselectTries),
		})
		for _, m := range p.Members {
			d.Members = append(d.Members, dispatch.MemberConfig{
				Pool: dispatch.PoolID(i), Node: dispatch.NodeID(m.Node), Limit: m.ConnectionLimit,
				Depth: m.ConnectionLimit, State: dispatch.State(m.State),
			})
		}
	}
	for _, n := range c.Nodes {
		d.Nodes = append(d.Nodes, dispatch.NodeConfig{Limit: n.ConnectionLimit, State: dispatch.State(n.State)})
	}
	return &fake{dispatch.New(d, func(int) {}), c, start}
}

func (f *fake) Config() *config.Config { return f.c }
func (f *fake) Now() dispatch.Tick     { return f.now }
func (f *fake) Draining() bool         { return false }
func (f *fake) Budget() (int, int)     { return 12, 1000 }

func (f *fake) VirtualTotals(v int) proxy.Totals {
	return proxy.Totals{Connections: uint64(100 + v), Refused: uint64(v), BytesUp: 1000, BytesDown: 2000}
}

func (f *fake) MemberTotals(m int) proxy.Totals {
	return proxy.Totals{Connections: uint64(1 + m), BytesUp: uint64(10 + m), BytesDown: uint64(20 + m)}
}

// arrive lets n clients of a virtual server in and returns what became of
// them.
func (f *fake) arrive(v dispatch.VirtualID, n int) (all []dispatch.Verdict) {
	for i := range n {
		all = append(all, f.Loop(0).Arrive(f.now, v, 0, uint32(i), dispatch.Attempt{Since: f.now}))
	}
	return all
}

// pass lets time pass.
func (f *fake) pass(d time.Duration) {
	f.now += dispatch.Tick(d)
	f.Loop(0).Run(f.now)
}

// settle takes the outcomes and returns the paths that were granted.
func (f *fake) settle(t testing.TB) (paths []dispatch.Path) {
	for o, ok := f.Loop(0).Next(); ok; o, ok = f.Loop(0).Next() {
		if o.Reason == dispatch.NotRefused {
			paths = append(paths, o.Path)
		}
	}
	return paths
}
