package admin

import (
	"os"
	"time"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/proxy"
)

// fake is a View of a real dispatcher with one loop, and of a proxy that made
// up its totals. Its clients are served and parked in the order they came.
type fake struct {
	*dispatch.Dispatcher
	c        *config.Config
	now      dispatch.Tick
	draining bool

	connected []client
	parked    []client
}

type client struct {
	path   dispatch.Path
	waiter dispatch.Waiter
	a      dispatch.Attempt
	id     uint32
}

const start = dispatch.Tick(time.Hour)

func newFake(flags []string) (*fake, error) {
	c, err := config.Parse(flags, config.Env{
		ReadFile: func(string) ([]byte, error) { return nil, os.ErrNotExist },
	})
	if err != nil {
		return nil, err
	}
	return &fake{Dispatcher: dispatch.New(topology(c), func(int) {}), c: c, now: start}, nil
}

func topology(c *config.Config) (d dispatch.Config) {
	d.Loops = 1
	for _, v := range c.Virtuals {
		d.Virtuals = append(d.Virtuals, dispatch.VirtualConfig{Pool: dispatch.PoolID(v.Pool), Limit: v.ConnectionLimit})
	}
	for i, p := range c.Pools {
		d.Pools = append(d.Pools, dispatch.PoolConfig{
			Limit: p.ConnectionLimit, Queue: p.Queue, Depth: c.Depth(i), QueueTime: dispatch.Tick(p.QueueTime),
			WhenDownQueue: p.WhenDownQueue, WhenDownTime: dispatch.Tick(p.WhenDownTime), Tries: uint8(p.ReselectTries),
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
	return d
}

func (f *fake) Config() *config.Config { return f.c }
func (f *fake) Now() dispatch.Tick     { return f.now }
func (f *fake) Draining() bool         { return f.draining }
func (f *fake) Budget() (int, int)     { return 12, 1000 }

func (f *fake) Listening(v int) kernel.Address {
	return kernel.Address{AddrPort: f.c.Virtuals[v].Listen, Dual: f.c.Virtuals[v].Dual}
}

func (f *fake) VirtualTotals(v int) proxy.Totals {
	n := uint64(v)
	return proxy.Totals{Connections: 100 + n, Refused: 10 + n, BytesUp: 1000 + n, BytesDown: 2000 + n}
}

func (f *fake) MemberTotals(m int) proxy.Totals {
	n := uint64(m)
	return proxy.Totals{Connections: 1 + n, BytesUp: 10 + n, BytesDown: 20 + n}
}

// arrive lets a client of a virtual server in.
func (f *fake) arrive(v dispatch.VirtualID, sticky dispatch.Sticky, id uint32) {
	a := dispatch.Attempt{Since: f.now}
	f.took(client{a: a, id: id}, f.Loop(0).Arrive(f.now, v, sticky, id, a))
}

func (f *fake) took(c client, v dispatch.Verdict) {
	switch v.Kind {
	case dispatch.Proceed:
		c.path = v.Path
		f.connected = append(f.connected, c)
	case dispatch.Wait:
		c.waiter = v.Waiter
		f.parked = append(f.parked, c)
	}
}

// release ends the oldest connection.
func (f *fake) release() {
	f.Loop(0).Release(f.now, f.connected[0].path)
	f.connected = f.connected[1:]
	f.pump()
}

// fail lets the oldest dial fail.
func (f *fake) fail() {
	c := f.connected[0]
	f.connected = f.connected[1:]
	f.took(c, f.Loop(0).Failed(f.now, c.path, c.id, &c.a))
	f.pump()
}

// leave lets the oldest waiter leave.
func (f *fake) leave() {
	f.Loop(0).Leave(f.now, f.parked[0].waiter, f.parked[0].a.Since)
	f.parked = f.parked[1:]
	f.pump()
}

// pass lets time pass.
func (f *fake) pass(d time.Duration) {
	f.now += dispatch.Tick(d)
	f.Loop(0).Run(f.now)
	f.pump()
}

// pump takes the outcomes of those who waited.
func (f *fake) pump() {
	for o, ok := f.Loop(0).Next(); ok; o, ok = f.Loop(0).Next() {
		for i, c := range f.parked {
			if c.id != o.Conn {
				continue
			}
			f.parked = append(f.parked[:i:i], f.parked[i+1:]...)
			if o.Reason == dispatch.NotRefused {
				c.path = o.Path
				f.connected = append(f.connected, c)
			}
			break
		}
	}
}
