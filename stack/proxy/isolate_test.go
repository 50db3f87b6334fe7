package proxy

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// isolated runs f while the loops stand still.
func (r *rig) isolated(f func(now int64)) {
	r.t.Helper()
	if err := r.Isolate(f); err != nil {
		r.t.Error(err)
	}
}

// brief is a server that answers a byte with a byte and closes.
func brief(t testing.TB) *server {
	return serve(t, func(c *net.TCPConn) {
		c.SetDeadline(time.Now().Add(patience))
		var b [1]byte
		if n, _ := c.Read(b[:]); n == 1 {
			c.Write(b[:])
		}
	})
}

// visit connects, sends a byte and reads one.
func visit(t testing.TB, r *rig) {
	c, err := net.DialTimeout("tcp", r.addr().String(), patience)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	write(t, c.(*net.TCPConn), "x")
	wantBytes(t, c.(*net.TCPConn), "x")
}

// crowd keeps clients coming, n at a time, until all of them have been served.
func crowd(t testing.TB, r *rig, n, total int) (done <-chan struct{}) {
	var running sync.WaitGroup
	var begun atomic.Int64
	for range n {
		running.Go(func() {
			for begun.Add(1) <= int64(total) {
				visit(t, r)
			}
		})
	}
	over := make(chan struct{})
	go func() { running.Wait(); close(over) }()
	return over
}

// While f runs all that is the loops' may be touched, and nobody else does it.
// The race detector is the judge.
func TestIsolateUnderLoad(t *testing.T) {
	s := brief(t)
	r := start(t, member(s.addr(), 8), member(s.addr(), 8), loops(4))
	total := 10_000
	if testing.Short() {
		total = 1000
	}
	done := crowd(t, r, 32, total)
	var running sync.WaitGroup
	inside, calls := 0, 0 // isolation is all that guards them
	for range 3 {
		running.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				visit(t, r) // so that there is something between two isolations
				r.isolated(func(now int64) {
					if inside++; inside != 1 {
						t.Errorf("%d at once", inside)
					}
					for _, w := range r.workers {
						if w.clients.Len() < w.pairs.Len() {
							t.Errorf("%d clients with %d pairs", w.clients.Len(), w.pairs.Len())
						}
						w.retryAt = now
					}
					calls++
					inside--
				})
			}
		})
	}
	running.Wait()
	<-done
	t.Logf("%d isolations in %d connections", calls, total)
}

// Each loop does a turn afterwards, with what f left for it to do.
func TestIsolateThenTurn(t *testing.T) {
	r := start(t, member(refuser(t), 0), loops(3))
	var turned atomic.Int64
	r.isolated(func(int64) {
		for _, w := range r.workers {
			w.drained = func() { turned.Add(1) } // called by the next turn, as nobody is there
		}
	})
	until(t, func() bool { return turned.Load() == 3 }, "a turn of each loop")
}

func TestIsolateBeforeAndAfter(t *testing.T) {
	r := prepare(t, member(refuser(t), 0))
	ran := false
	r.isolated(func(now int64) { ran = now > 0 })
	if !ran {
		t.Error("nothing was done before Run")
	}
	done := make(chan error, 1)
	go func() { done <- r.Run() }()
	r.isolated(func(int64) { ran = false })
	r.stop(done)
	if err := r.Isolate(func(int64) { ran = true }); err != ErrStopped || ran {
		t.Errorf("after the end: %v, ran: %v", err, ran)
	}
}

// Stop in the middle of isolations, many times: all of them end, as done or as
// ErrStopped, and so does Run.
func TestStopWhileIsolating(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		r := prepare(t, member(refuser(t), 0), loops(4))
		done := make(chan error, 1)
		go func() { done <- r.Run() }()
		var running sync.WaitGroup
		begun := make(chan struct{}, 4)
		for range cap(begun) {
			running.Go(func() {
				first := true
				for r.Isolate(func(int64) {}) == nil {
					if first {
						first = false
						begun <- struct{}{}
					}
				}
			})
		}
		for range cap(begun) {
			<-begun
		}
		r.Stop()
		over := make(chan struct{})
		go func() { running.Wait(); close(over) }()
		select {
		case <-over:
		case <-time.After(patience):
			t.Fatal("an isolation hangs")
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Fatal("Run hangs: a loop stands in the barrier")
		}
	}
}

// A panic in f is the caller's: the loops go on.
func TestIsolatePanics(t *testing.T) {
	s := brief(t)
	r := start(t, member(s.addr(), 0))
	func() {
		defer func() { recover() }()
		r.Isolate(func(int64) { panic("mistake") })
	}()
	visit(t, r)
	r.isolated(func(int64) {})
}

func BenchmarkIsolate(b *testing.B) {
	r := start(b, member(refuser(b), 0), loops(4))
	for b.Loop() {
		r.isolated(func(int64) {})
	}
}

// A change of many members copies the lists that others read once, not once for
// each member.
func TestManyMembersAtOnce(t *testing.T) {
	s := brief(t)
	r := start(t, member(s.addr(), 0), loops(2))
	const n = 4000
	var before, after runtime.MemStats
	r.isolated(func(int64) {
		runtime.ReadMemStats(&before)
		for i := range n {
			r.SetMember(1+i, 0, s.addr())
		}
		runtime.ReadMemStats(&after)
	})
	if b := after.TotalAlloc - before.TotalAlloc; b > n*1000 {
		t.Errorf("%d bytes for %d members", b, n)
	}
	r.isolated(func(int64) {
		for i := range n {
			for _, w := range r.workers {
				w.putMember(1+i, nil)
			}
		}
	})
	if r.knowsMember(n) || !r.knowsMember(0) {
		t.Error("the lists are not what they were made")
	}
}
