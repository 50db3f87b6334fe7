package dispatch

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"unsafe"
)

// counted is a front end of one thread with a clock of its own.
type counted struct {
	*Dispatcher
	now Tick
}

func newCounted(loops int, text string) *counted {
	return &counted{New(mustTopology(loops, text).Config, func(int) {}), start}
}

// arrive lets a client in.
func (c *counted) arrive(loop int, conn uint32) Verdict {
	c.now++
	return c.Loop(loop).arriveAs(c.now, 0, 0, conn, Attempt{Since: c.now})
}

// park lets n clients in that must wait, and returns them.
func (c *counted) park(tb testing.TB, loop, n int) []Waiter {
	ws := make([]Waiter, n)
	for i := range ws {
		v := c.arrive(loop, uint32(i))
		if v.Kind != Wait {
			tb.Fatalf("client %d: %+v, want to wait", i, v)
		}
		ws[i] = v.Waiter
		c.settle(loop)
	}
	return ws
}

// settle runs what used up its budget.
func (c *counted) settle(loop int) {
	for l := c.Loop(loop); l.Due() == 1; {
		l.Run(c.now)
	}
}

// next returns the next outcome of the loop, running what is due at once.
func (c *counted) next(loop int) (Outcome, bool) {
	l := c.Loop(loop)
	for {
		if o, ok := l.Next(); ok {
			return o, true
		}
		if l.Due() != 1 {
			return Outcome{}, false
		}
		l.Run(c.now)
	}
}

func TestWaiterRecordIs24Bytes(t *testing.T) {
	if n := unsafe.Sizeof(record{}); n != 24 {
		t.Errorf("record has %d bytes", n)
	}
}

func expectNoAllocs(t *testing.T, what string, do func()) {
	t.Helper()
	for range 10_000 { // until every ring and table has what it needs
		do()
	}
	if n := testing.AllocsPerRun(5000, do); n != 0 {
		t.Errorf("%s: %v allocations", what, n)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, limit := range []int{0, 1, 1000} {
		c := newCounted(2, fmt.Sprintf("pool p limit=%d\nvirtual v limit=%d\nmember A limit=%d", limit, limit, limit))
		expectNoAllocs(t, fmt.Sprintf("Arrive and Release at limit %d", limit), func() {
			v := c.arrive(0, 1)
			c.Loop(0).Release(c.now, v.Path)
		})
	}
	c := newCounted(2, oneSlot)
	path := c.arrive(0, 0).Path
	c.park(t, 1, 10)
	expectNoAllocs(t, "wait, grant, Next and Release", func() {
		c.arrive(1, 1)
		c.Loop(0).Release(c.now, path)
		o, ok := c.next(1)
		if !ok {
			t.Fatal("nobody was served")
		}
		path = o.Path
	})
	expectNoAllocs(t, "wait and Leave", func() {
		v := c.arrive(1, 1)
		c.Loop(1).Leave(c.now, v.Waiter, c.now)
	})
}

// C21: who left costs no memory, wherever they stood; a table of places, of 28
// bytes each, stays for the next crowd.
func TestC21LeftBehindABlockedHead(t *testing.T) {
	const n = 200_000
	c := newCounted(1, oneSlot)
	c.arrive(0, 0)
	c.park(t, 0, 1)
	before := heapInUse()
	for _, w := range c.park(t, 0, n) {
		c.Loop(0).Leave(c.now, w, c.now)
		c.settle(0)
	}
	if l := c.Pool(0); l.Waiting != 1 {
		t.Errorf("%d wait, want 1", l.Waiting)
	}
	if kept := heapInUse() - before; kept > 10<<20 {
		t.Errorf("%d bytes are kept", kept)
	}
	if n := c.homes[0].entries; n > 1025+2 {
		t.Errorf("%d entries for one waiter", n)
	}
	runtime.KeepAlive(c)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Invariant 8: a pass does so much and no more; what is left is due at once.
func TestPassIsBounded(t *testing.T) {
	const n = 10 * passBudget
	offline := func(c *counted) { c.Loop(0).SetMemberState(c.now, 0, Offline) }
	for _, test := range []struct {
		what, rule string
		do         func(*counted)
	}{
		{"served", "", func(c *counted) { c.Loop(0).SetMemberLimit(c.now, 0, 0) }},
		{"refused", "", offline},
		{"moved", "when-down=queue", offline},
	} {
		c := newCounted(1, "pool p "+test.rule+"\nvirtual v\nmember A limit=1")
		c.arrive(0, 0)
		for i := range n {
			c.now++
			c.Loop(0).arriveAs(c.now, 0, 1, uint32(i), Attempt{Since: c.now})
			c.settle(0)
		}
		test.do(c)
		ended := func() uint64 {
			s := c.PoolQueueAll(0)
			return s.Serviced.Load() + s.Moved.Load() + s.RefusedNoMember.Load()
		}
		done := ended()
		if done == 0 || done > 2*passBudget {
			t.Errorf("%s: %d waiters in one call", test.what, done)
		}
		c.settle(0)
		if done = ended(); done != n {
			t.Errorf("%s: %d of %d waiters in the end", test.what, done, n)
		}
	}
}

// The budget ends among waiters who left: who stands behind them is not
// overtaken by a younger one of another queue that had been looked at already.
func TestBudgetOvertakesNobody(t *testing.T) {
	c := newCounted(1, oneSlot)
	l := c.Loop(0)
	c.arrive(0, 0)
	arrive := func(s Sticky, conn uint32, since Tick) Waiter {
		return l.arriveAs(c.now, 0, s, conn, Attempt{Since: since}).Waiter
	}
	arrive(0, 13, start+1e6)
	arrive(1, 10, start+1)
	var leave []Waiter
	for range 4 * passBudget {
		leave = append(leave, arrive(1, 11, start+2))
		c.settle(0)
	}
	arrive(1, 12, start+3)
	for _, w := range leave { // as Leave does on another thread, before its kick
		l.table.move(w.Slot, w.Gen, mkState(0, 0, gone))
		c.uncount(c.virtuals[0], mkState(w.Gen, 1, waiting))
	}
	l.SetMemberLimit(c.now, 0, 3)
	for _, want := range []uint32{10, 12} {
		if o, ok := c.next(0); !ok || o.Conn != want {
			t.Fatalf("client %d served (%v), want %d", o.Conn, ok, want)
		}
	}
}

// Benchmarks. The clock is a counter: what is measured is the decision.

func BenchmarkArriveRelease(b *testing.B) {
	for _, limit := range []int{0, 10_000, 4} {
		for _, loops := range []int{1, runtime.GOMAXPROCS(0)} {
			b.Run(fmt.Sprintf("limit=%d/loops=%d", limit, loops), func(b *testing.B) {
				c := newCounted(loops, fmt.Sprintf("pool p limit=%d\nvirtual v limit=%d\nmember A limit=%d\nmember B", limit, limit, limit))
				var wg sync.WaitGroup
				b.ResetTimer()
				for i := range loops {
					wg.Go(func() { arriveRelease(c.Loop(i), b.N/loops) })
				}
				wg.Wait()
			})
		}
	}
}

// arriveRelease has clients come and go.
func arriveRelease(l *Loop, n int) {
	for i := range n {
		now := start + Tick(i)
		if v := l.arriveAs(now, 0, 0, 1, Attempt{Since: now}); v.Kind == Proceed {
			l.Release(now, v.Path)
		}
		for o, ok := l.Next(); ok; o, ok = l.Next() {
			l.Release(now, o.Path)
		}
	}
}

// One slot goes from waiter to waiter; each one comes back at the end of the
// queue.
func BenchmarkHandOff(b *testing.B) {
	for _, loops := range []int{1, 2} {
		b.Run(fmt.Sprintf("loops=%d", loops), func(b *testing.B) {
			c := newCounted(loops, oneSlot)
			path, at := c.arrive(0, 0).Path, 0
			for loop := range loops {
				c.park(b, loop, 16)
			}
			b.ReportAllocs()
			for b.Loop() {
				c.arrive(at, 1)
				c.Loop(at).Release(c.now, path)
				for loop := range loops {
					if o, ok := c.Loop(loop).Next(); ok {
						path, at = o.Path, loop
						break
					}
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "handoffs/s")
		})
	}
}

// 400,000 wait, then all slots are there at once.
func BenchmarkAdmissions(b *testing.B) {
	const n = 400_000
	for b.Loop() {
		b.StopTimer()
		c := newCounted(1, oneSlot)
		c.arrive(0, 0)
		c.park(b, 0, n)
		b.StartTimer()
		c.Loop(0).SetMemberLimit(c.now, 0, 0)
		for served := 0; served < n; served++ {
			if _, ok := c.next(0); !ok {
				b.Fatalf("%d of %d served", served, n)
			}
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "admissions/s")
}

const crowd = 1_000_000

// All of a million waiters are too old at once.
func BenchmarkExpireMillion(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c := newCounted(1, "pool p queue-time=1h\nvirtual v\nmember A limit=1")
		c.arrive(0, 0)
		c.park(b, 0, crowd)
		c.now += 2 * start
		b.StartTimer()
		c.Loop(0).Run(c.now)
		for range crowd {
			if o, ok := c.next(0); !ok || o.Reason != Expired {
				b.Fatalf("%+v", o)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/crowd, "ns/waiter")
}

// All of a million waiters leave one after the other, behind a head that
// stays; then the longest that a single one of them takes.
func BenchmarkLeaveMillion(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c := newCounted(1, oneSlot)
		c.arrive(0, 0)
		c.park(b, 0, 1)
		ws := c.park(b, 0, crowd)
		b.StartTimer()
		for _, w := range ws {
			c.Loop(0).Leave(c.now, w, c.now)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/crowd, "ns/waiter")
}
