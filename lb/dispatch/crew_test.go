package dispatch

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// rounds is how often a race of two or three is run, if there is time.
const rounds = 100_000 / slower

// crew has a thread for each loop, to make them do things in the same instant
// many times over.
type crew struct {
	*Dispatcher
	jobs  []chan func(*Loop)
	ready atomic.Int32
	busy  atomic.Int32
	now   Tick
	conns uint32
}

func newCrew(t *testing.T, loops int, text string) *crew {
	c := &crew{Dispatcher: New(mustTopology(loops, text).Config, func(int) {}), now: start}
	for i := range loops {
		jobs := make(chan func(*Loop))
		c.jobs = append(c.jobs, jobs)
		go func() {
			for job := range jobs {
				c.ready.Add(-1)
				for c.ready.Load() > 0 {
					runtime.Gosched()
				}
				job(c.Loop(i))
				c.busy.Add(-1)
			}
		}()
	}
	t.Cleanup(func() {
		for _, jobs := range c.jobs {
			close(jobs)
		}
		checkEmpty(t, c.Dispatcher)
	})
	return c
}

// together runs the first jobs, one a loop, at the same time.
func (c *crew) together(jobs ...func(*Loop)) {
	c.ready.Store(int32(len(jobs)))
	c.busy.Store(int32(len(jobs)))
	for i, job := range jobs {
		c.jobs[i] <- job
	}
	for c.busy.Load() > 0 {
		runtime.Gosched()
	}
}

// arrive lets a client in on the loop.
func (c *crew) arrive(l *Loop) (conn uint32, v Verdict) {
	conn = atomic.AddUint32(&c.conns, 1)
	return conn, l.arriveAs(c.now, 0, 0, conn, Attempt{Since: c.now})
}

// parked is arrive for who must wait.
func (c *crew) parked(t *testing.T, loop int) (conn uint32, w Waiter) {
	t.Helper()
	c.now++
	conn, v := c.arrive(c.Loop(loop))
	if v.Kind != Wait {
		t.Fatalf("%+v, want to wait", v)
	}
	return conn, v.Waiter
}

// holder is arrive for who must get the slot.
func (c *crew) holder(t *testing.T, loop int) Path {
	t.Helper()
	_, v := c.arrive(c.Loop(loop))
	if v.Kind != Proceed {
		t.Fatalf("%+v, want a slot", v)
	}
	return v.Path
}

// only returns the outcome of the one client that must have got one by now.
func (c *crew) only(t *testing.T, conn uint32) Outcome {
	t.Helper()
	var got []Outcome
	for _, l := range c.loops {
		if l.Due() == 1 {
			l.Run(c.now)
		}
	}
	for _, l := range c.loops {
		for o, ok := l.Next(); ok; o, ok = l.Next() {
			got = append(got, o)
		}
	}
	if len(got) != 1 || got[0].Conn != conn {
		t.Fatalf("outcomes %+v, want one, of %d", got, conn)
	}
	return got[0]
}

func (c *crew) expectLoad(t *testing.T, inUse, waiting int64) {
	t.Helper()
	if l := c.Pool(0); l.InUse != inUse || l.Waiting != waiting {
		t.Fatalf("%+v, want %d in use and %d waiting", l, inUse, waiting)
	}
}

const oneSlot = "pool p\nvirtual v\nmember A limit=1"

// C05: X leaves, Y waits, Z arrives in the same instant: never two, none lost.
// C16: the slot is Y's, every time: a newcomer does not get between.
func TestC05C16NewcomerAtTheHandOver(t *testing.T) {
	c := newCrew(t, 3, oneSlot)
	for range some(rounds) {
		x := c.holder(t, 0)
		y, _ := c.parked(t, 1)
		var z uint32
		var v Verdict
		c.together(
			func(l *Loop) { l.Release(c.now, x) },
			func(l *Loop) { runtime.Gosched() },
			func(l *Loop) { z, v = c.arrive(l) },
		)
		path := c.only(t, y).Path
		if v.Kind != Wait {
			t.Fatalf("newcomer: %+v", v)
		}
		c.expectLoad(t, 1, 1)
		c.Loop(1).Release(c.now, path)
		c.Loop(2).Release(c.now, c.only(t, z).Path)
		c.expectLoad(t, 0, 0)
	}
}

// C22: the head leaves in the moment of being served: the second is always
// served, and no slot is lost.
func TestC22LeaveAtTheHandOver(t *testing.T) {
	c := newCrew(t, 3, oneSlot)
	left, all := 0, 0
	for range some(rounds) {
		all++
		x := c.holder(t, 0)
		head, w := c.parked(t, 1)
		second, _ := c.parked(t, 2)
		var won bool
		c.together(
			func(l *Loop) { l.Release(c.now, x) },
			func(l *Loop) { won = l.Leave(c.now, w, c.now) },
		)
		if won {
			left++
		} else { // granted to a client that is gone
			c.Loop(1).Release(c.now, c.only(t, head).Path)
		}
		c.Loop(2).Release(c.now, c.only(t, second).Path)
		c.expectLoad(t, 0, 0)
	}
	t.Logf("left in time %d of %d times", left, all)
}

// C30: the slot frees in the moment of expiry: served or expired, never both,
// and the slot is where the outcome says.
func TestC30ExpiryAtTheHandOver(t *testing.T) {
	c := newCrew(t, 2, "pool p queue-time=1s\nvirtual v\nmember A limit=1")
	expired, all := 0, 0
	for range some(rounds) {
		all++
		x := c.holder(t, 0)
		y, _ := c.parked(t, 1)
		end := c.now + 1e9
		c.together(
			func(l *Loop) { l.Release(end-1, x) },
			func(l *Loop) { l.Run(end) },
		)
		c.now = end
		if o := c.only(t, y); o.Reason == Expired {
			expired++
			c.expectLoad(t, 0, 0)
		} else {
			c.expectLoad(t, 1, 0)
			c.Loop(1).Release(c.now, o.Path)
		}
	}
	t.Logf("expired %d of %d times", expired, all)
}

// A limit lowered while others take: once the change is in force nobody gets
// more. Raised at the same time as the last one leaves: nobody is stranded.
func TestLowerAndRaiseAtTheHandOver(t *testing.T) {
	c := newCrew(t, 3, "pool p\nvirtual v\nmember A limit=2")
	for range some(rounds / 4) {
		x, x2 := c.holder(t, 0), c.holder(t, 0)
		y, _ := c.parked(t, 1)
		c.together(
			func(l *Loop) { l.Release(c.now, x) },
			func(l *Loop) { l.SetMemberLimit(c.now, 0, 1) },
		)
		var grants []Outcome
		for o, ok := c.Loop(1).Next(); ok; o, ok = c.Loop(1).Next() {
			grants = append(grants, o)
		}
		if n := int64(1 + len(grants)); c.Pool(0).InUse != n || c.members[0].slots.Strict() != (n > 1) {
			t.Fatalf("in use %d, want %d; strict %v", c.Pool(0).InUse, n, c.members[0].slots.Strict())
		}
		c.together(
			func(l *Loop) { l.Release(c.now, x2) },
			func(l *Loop) { l.SetMemberLimit(c.now, 0, 2) },
		)
		if len(grants) == 0 {
			grants = append(grants, c.only(t, y))
		}
		c.Loop(1).Release(c.now, grants[0].Path)
		c.expectLoad(t, 0, 0)
	}
}

// arriveAs lets a client in that is persisted to a member, as records are.
func (l *Loop) arriveAs(now Tick, v VirtualID, s Sticky, conn uint32, a Attempt) Verdict {
	return l.arrive(now, l.d.virtuals[v], s, conn, a)
}
