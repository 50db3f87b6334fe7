package dispatch

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// rig runs a dispatcher with one goroutine a loop, as a front end would, and
// measures concurrency by itself: it does not trust the counters.
type rig struct {
	*Dispatcher
	start time.Time
	wakes []chan struct{}

	inUse     []atomic.Int64 // by member, as a server would count
	most      []atomic.Int64
	overshoot atomic.Int64
	limits    []int64
	done      atomic.Int64
	total     int64
}

func newRig(c Config) *rig {
	r := &rig{start: time.Now(), wakes: make([]chan struct{}, c.Loops)}
	for i := range r.wakes {
		r.wakes[i] = make(chan struct{}, 1)
	}
	r.inUse = make([]atomic.Int64, len(c.Members))
	r.most = make([]atomic.Int64, len(c.Members))
	for _, m := range c.Members {
		r.limits = append(r.limits, m.Limit)
	}
	r.Dispatcher = New(c, func(i int) {
		select {
		case r.wakes[i] <- struct{}{}:
		default:
		}
	})
	return r
}

func (r *rig) now() Tick { return Tick(time.Since(r.start)) + 1 }

func (r *rig) enter(p Path) {
	n := r.inUse[p.Member].Add(1)
	if lim := r.limits[p.Member]; lim > 0 && n > lim {
		r.overshoot.Add(1)
	}
}

func (r *rig) leave(p Path) { r.inUse[p.Member].Add(-1) }

// client is a loop's connection in the stress run.
type client struct {
	state  int // 0 idle, 1 parked, 2 served
	waiter Waiter
	path   Path
	a      Attempt
}

// run drives loop i until quota connections have been served by it.
func (r *rig) run(i, clients int, quota int64, virtuals int) {
	l := r.Loop(i)
	rnd := rand.New(rand.NewPCG(uint64(i), 7))
	cs := make([]client, clients)
	var served int64
	served1 := func(c *client, p Path) {
		r.enter(p)
		c.state, c.path = 2, p
	}
	end := func(c *client) {
		r.leave(c.path)
		l.Release(r.now(), c.path)
		c.state = 0
		served++
	}
	for served < quota {
		k := rnd.IntN(clients)
		c := &cs[k]
		switch {
		case c.state == 0:
			now := r.now()
			c.a = Attempt{Since: now}
			v := l.Arrive(now, VirtualID(rnd.IntN(virtuals)), 0, uint32(k), c.a)
			switch v.Kind {
			case Proceed:
				served1(c, v.Path)
			case Wait:
				c.state, c.waiter = 1, v.Waiter
			}
		case c.state == 1 && rnd.IntN(20) == 0:
			if l.Leave(r.now(), c.waiter, c.a.Since) {
				c.state = 0
				served++
			}
		case c.state == 2 && rnd.IntN(10) == 0:
			r.leave(c.path)
			if v := l.Failed(r.now(), c.path, uint32(k), &c.a); v.Kind == Wait {
				c.state, c.waiter = 1, v.Waiter
			} else {
				c.state = 0
			}
		case c.state == 2:
			end(c)
		}
		r.pump(l, cs, served1)
		if rnd.IntN(64) == 0 {
			runtime.Gosched()
		}
	}
	// A loop has duties for others (passes, back-off) until all are done.
	deadline := time.Now().Add(20 * time.Second)
	idle := false
	for r.done.Load() < r.total && time.Now().Before(deadline) {
		r.pump(l, cs, served1)
		busy := false
		for k := range cs {
			if cs[k].state == 2 {
				end(&cs[k])
			}
			busy = busy || cs[k].state != 0
		}
		if !busy && !idle {
			idle = true
			r.done.Add(int64(clients))
		}
		runtime.Gosched()
	}
}

func (r *rig) pump(l *Loop, cs []client, served func(*client, Path)) {
	select {
	case <-r.wakes[l.index]:
	default:
	}
	if d := l.Due(); d != 0 && d <= r.now() {
		l.Run(r.now())
	}
	for {
		o, ok := l.Next()
		if !ok {
			return
		}
		c := &cs[o.Conn]
		if o.Reason != NotRefused {
			c.state = 0
			continue
		}
		served(c, o.Path)
	}
}

func TestStressNoOvershootNobodyStranded(t *testing.T) {
	const loops, clients = 4, 40
	quota := int64(100_000)
	if testing.Short() {
		quota = 10_000
	}
	pool := PoolConfig{Queue: true, Depth: -1, Tries: 200}
	r := newRig(Config{
		Loops:    loops,
		Virtuals: []VirtualConfig{{Pool: 0}, {Pool: 0, Limit: 4}, {Pool: 1}},
		Pools:    []PoolConfig{pool, pool},
		Nodes:    []NodeConfig{{Limit: 5}, {}},
		Members: []MemberConfig{
			{Pool: 0, Node: 0, Limit: 3}, {Pool: 0, Node: 1, Limit: 1},
			{Pool: 1, Node: 0, Limit: 3}, {Pool: 1, Node: 1, Limit: 2},
		},
	})
	r.total = loops * clients
	var wg sync.WaitGroup
	for i := range loops {
		wg.Go(func() { r.run(i, clients, quota, 3) })
	}
	wg.Wait()
	if n := r.overshoot.Load(); n > 0 {
		t.Errorf("%d overshoots", n)
	}
	if n := r.done.Load(); n != loops*clients {
		t.Errorf("%d of %d clients ended", n, loops*clients)
	}
	for i := range r.pools {
		if l := r.Pool(PoolID(i)); l.InUse != 0 || l.Waiting != 0 {
			t.Errorf("pool %d at the end: %+v", i, l)
		}
	}
	for i := range r.members {
		if l := r.Member(MemberID(i)); l.InUse != 0 || l.Waiting != 0 {
			t.Errorf("member %d at the end: %+v", i, l)
		}
	}
}
