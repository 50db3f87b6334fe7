package proxy

import (
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
)

// patience is how long a test waits for what must happen. What must happen at
// once is held against atOnce, which is much wider than in CASES.md: the machines
// that run this are small and shared, and may stall for seconds. never is a time
// that no test takes.
const (
	patience = 30 * time.Second
	atOnce   = patience / 3
	never    = time.Hour
)

// rig is a proxy under test with one virtual server and one pool, which is
// pool 0 of its dispatcher.
type rig struct {
	*Proxy
	t     testing.TB
	ended chan Ended // each session's end, in order for each loop
}

// base is the configuration that CASES.md describes, without members, and with
// times that no stalled machine reaches: a test that is about one sets it.
func base() Config {
	return Config{
		Dispatch: dispatch.Config{
			Loops:    2,
			Virtuals: []dispatch.VirtualConfig{{}},
			Pools: []dispatch.PoolConfig{{
				Queue: true, Depth: -1, QueueTime: dispatch.Tick(never),
				WhenDownQueue: true, WhenDownTime: dispatch.Tick(never),
			}},
		},
		Virtuals:       []Virtual{{Listen: kernel.Address{AddrPort: netip.MustParseAddrPort("127.0.0.1:0")}}},
		Pools:          []Pool{{ConnectTimeout: never}},
		MaxDescriptors: 10_000,
		MaxPipes:       16,
		Log:            slog.New(slog.DiscardHandler),
	}
}

// option changes the base.
type option func(*Config)

// member adds a server with a connection limit; 0 is none.
func member(addr netip.AddrPort, limit int64) option {
	return func(c *Config) {
		n := dispatch.NodeID(len(c.Dispatch.Nodes))
		c.Members = append(c.Members, addr)
		c.Dispatch.Nodes = append(c.Dispatch.Nodes, dispatch.NodeConfig{})
		c.Dispatch.Members = append(c.Dispatch.Members, dispatch.MemberConfig{Node: n, Limit: limit, Depth: -1})
	}
}

func loops(n int) option { return func(c *Config) { c.Dispatch.Loops = n } }

func virtual(f func(*Virtual)) option { return func(c *Config) { f(&c.Virtuals[0]) } }

func queue(f func(*dispatch.PoolConfig)) option { return func(c *Config) { f(&c.Dispatch.Pools[0]) } }

func pool(f func(*Pool)) option { return func(c *Config) { f(&c.Pools[0]) } }

func tries(n uint8) option { return queue(func(p *dispatch.PoolConfig) { p.Tries = n }) }

// halfClose sets the half-close-timeout, idle the idle-timeout.
func halfClose(d time.Duration) option { return virtual(func(v *Virtual) { v.HalfClose = d }) }
func idle(d time.Duration) option      { return virtual(func(v *Virtual) { v.IdleTimeout = d }) }

// start runs a proxy until the test's end, when nothing may be left of any
// session: no slot in use, no record, no descriptor.
func start(t testing.TB, options ...option) *rig {
	t.Helper()
	r := prepare(t, options...)
	done := make(chan error, 1)
	go func() { done <- r.Run() }()
	t.Cleanup(func() { r.stop(done) })
	return r
}

// prepare opens a proxy that nobody runs yet.
func prepare(t testing.TB, options ...option) *rig {
	t.Helper()
	r := &rig{t: t, ended: make(chan Ended, 1<<16)}
	c := base()
	c.Ended = func(_ int, e *Ended) {
		select {
		case r.ended <- *e:
		default: // more than any test looks at
		}
	}
	for _, o := range options {
		o(&c)
	}
	var err error
	if r.Proxy, err = New(c); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) stop(done <-chan error) {
	drained := r.Drain()
	r.Cut()
	select {
	case <-drained:
	case <-time.After(patience):
		r.t.Errorf("sessions are left after Cut: %d clients", r.Clients())
	}
	r.Stop()
	if err := <-done; err != nil {
		r.t.Errorf("Run: %v", err)
	}
	r.checkEmpty()
}

// checkEmpty checks that the sessions left nothing behind. Run must be over.
func (r *rig) checkEmpty() {
	r.t.Helper()
	r.checkIdle()
	if used, _ := r.Budget(); used != 0 || r.Clients() != 0 {
		r.t.Errorf("%d descriptors and %d clients in the budget at the end", used, r.Clients())
	}
	for i, w := range r.workers {
		if c, p := w.clients.Len(), w.pairs.Len(); c != 0 || p != 0 {
			r.t.Errorf("loop %d: %d client and %d pair records at the end", i, c, p)
		}
	}
}

// checkIdle checks that no slot is in use and nobody waits.
func (r *rig) checkIdle() {
	r.t.Helper()
	for name, l := range r.loads() {
		if l.InUse != 0 || l.Waiting != 0 {
			r.t.Errorf("%s at the end: %+v", name, l)
		}
	}
}

func (r *rig) loads() map[string]dispatch.Load {
	d := r.Dispatcher()
	m := map[string]dispatch.Load{"virtual": d.Virtual(0), "pool": d.Pool(0)}
	for i := range r.cfg.Members {
		m["member "+r.cfg.Members[i].String()] = d.Member(dispatch.MemberID(i)).Load
		m["node of "+r.cfg.Members[i].String()] = d.Node(dispatch.NodeID(i))
	}
	return m
}

// addr is where clients connect.
func (r *rig) addr() netip.AddrPort { return r.Listening(0).AddrPort }

func (r *rig) parked() int64 { return r.Dispatcher().Pool(0).Waiting }
func (r *rig) inUse() int64  { return r.Dispatcher().Pool(0).InUse }

func (r *rig) untilParked(n int64) {
	r.t.Helper()
	until(r.t, func() bool { return r.parked() == n }, "%d parked", n)
	r.Isolate(func(int64) {}) // who was counted last has its place when the turn is over
}

func (r *rig) untilInUse(n int64) {
	r.t.Helper()
	until(r.t, func() bool { return r.inUse() == n }, "%d slots in use", n)
}

// dial connects a client, closed at the test's end.
func (r *rig) dial() *net.TCPConn {
	r.t.Helper()
	return dialTo(r.t, r.addr())
}

// dialSaying connects a client that has said something before it is accepted, so
// that no clock of the proxy's runs yet.
func (r *rig) dialSaying(said string) (c *net.TCPConn) {
	r.t.Helper()
	r.isolated(func(int64) {
		c = r.dial()
		write(r.t, c, said)
	})
	return c
}

// park connects a client for which there is no slot, and returns when it
// waits. There must be no other newcomer.
func (r *rig) park() *net.TCPConn {
	r.t.Helper()
	n := r.parked() + 1
	c := r.dial()
	r.untilParked(n)
	return c
}

// untilQueued waits until so many clients of a virtual server are in the backlog, while
// its loops stand still: who has connected may be one whose last segment is on its way.
func (r *rig) untilQueued(id, n int) {
	r.t.Helper()
	until(r.t, func() bool {
		queued := 0
		for _, w := range r.workers {
			for _, fd := range w.loop.Listeners(id) {
				if i, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
					queued += int(i.Unacked)
				}
			}
		}
		return queued == n
	}, "a backlog of %d", n)
}

// end waits for the next session's end.
func (r *rig) end() Ended {
	r.t.Helper()
	select {
	case e := <-r.ended:
		return e
	case <-time.After(patience):
		r.t.Fatal("no session ended")
		return Ended{}
	}
}

// wantEnd waits for the next session's end, and holds it against a code.
func (r *rig) wantEnd(code Code) Ended {
	r.t.Helper()
	e := r.end()
	if e.Code != code {
		r.t.Errorf("ended as %v, want %v: %+v", e.Code, code, e)
	}
	return e
}

// dump logs what is left, for a test that failed.
func (r *rig) dump() {
	used, most := r.Budget()
	r.t.Logf("%d clients, %d of %d descriptors, %+v", r.Clients(), used, most, r.loads())
	for n, w := range r.workers {
		w.loop.Do(func() {
			for i := uint32(1); i < w.clients.Cap(); i++ {
				if c := w.clients.At(i); c.state != 0 {
					r.t.Logf("loop %d client %d: %+v", n, i, *c)
					if c.pair != 0 {
						r.t.Logf("  pair %+v", *w.pairs.At(c.pair))
					}
				}
			}
		})
	}
	time.Sleep(100 * time.Millisecond)
}

// until waits for something that makes no event of its own.
func until(t testing.TB, is func() bool, format string, args ...any) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: "+format, args...)
		}
	}
}

// soon fails the test if what was begun at the given time did not come at
// once.
func soon(t testing.TB, since time.Time, what string) {
	t.Helper()
	if d := time.Since(since); d > atOnce {
		t.Errorf("%s took %v, want it at once", what, d)
	}
}

var (
	v6Any      = netip.MustParseAddrPort("[::1]:0")
	noDeadline time.Time
)
