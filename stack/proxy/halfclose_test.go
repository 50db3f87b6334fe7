package proxy

import (
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// C19: FIN after bytes is a half-close; the client stays parked.
func TestC19HalfCloseWhileParked(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1))
	holder := r.dial()
	first := s.next(t)
	pass(t, holder, first)
	var waiters []*net.TCPConn
	for range 5 {
		c := r.park()
		write(t, c, "x")
		c.CloseWrite()
		waiters = append(waiters, c)
	}
	holder.Close()
	first.Close()
	for _, c := range waiters {
		up := s.next(t)
		wantEOF(t, up, "x")
		write(t, up, "reply")
		up.Close()
		wantEOF(t, c, "reply")
		c.Close()
	}
	if n := r.Dispatcher().PoolQueue(0).Abandoned.Load(); n != 0 {
		t.Errorf("%d abandoned, want none", n)
	}
}

// C19: who has closed its side follows on-client-close, by what it sent before.
func TestC19FinWhileParked(t *testing.T) {
	for _, test := range []struct {
		name    string
		policy  OnClose
		request string
		leaves  bool
	}{
		{"leave", LeaveBare, "", true},
		{"keep", LeaveNever, "", false},
		{"abort", LeaveAny, "", true},
		{"abort after bytes", LeaveAny, "x", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := hold(t)
			r := start(t, member(s.addr(), 1), pool(func(p *Pool) { p.OnClose = test.policy }))
			holder := r.dial()
			first := s.next(t)
			for range 5 {
				c := r.park()
				if test.request != "" {
					write(t, c, test.request)
				}
				if c.CloseWrite(); test.leaves {
					r.untilParked(0)
				}
			}
			if test.leaves {
				for range 5 {
					if e := r.wantEnd(ClientQuit); e.Left != "abandoned" {
						t.Errorf("left as %q", e.Left)
					}
				}
			}
			pass(t, holder, first)
			first.Close()
			wantEOF(t, holder, "")
			holder.Close()
			if !test.leaves {
				for range 5 {
					up := s.next(t)
					wantEOF(t, up, test.request)
					up.Close()
				}
			}
			r.untilInUse(0)
			s.none(t)
			want := map[bool]uint64{true: 5}[test.leaves]
			if n := r.Dispatcher().PoolQueue(0).Abandoned.Load(); n != want {
				t.Errorf("%d abandoned, want %d", n, want)
			}
		})
	}
}

// C42: bytes and FIN in one read. Reduced from 10,000.
func TestC42BytesAndFinTogether(t *testing.T) {
	for name, limit := range map[string]int64{"direct": 0, "through the queue": 1} {
		t.Run(name, func(t *testing.T) {
			kilo := strings.Repeat("k", 1000)
			s := serve(t, func(c *net.TCPConn) {
				c.SetDeadline(time.Now().Add(patience))
				wantEOF(t, c, kilo)
				write(t, c, "done")
			})
			r := start(t, member(s.addr(), limit))
			const parallel = 8
			var took [parallel][]time.Duration
			var running sync.WaitGroup
			for i := range parallel {
				running.Go(func() {
					for range 1000 / parallel {
						begun := time.Now()
						c := dialTo(t, r.addr())
						write(t, c, kilo)
						c.CloseWrite()
						wantEOF(t, c, "done")
						c.Close()
						took[i] = append(took[i], time.Since(begun))
					}
				})
			}
			running.Wait()
			all := slices.Concat(took[:]...)
			slices.Sort(all)
			t.Logf("p50 %v, p99 %v, most %v", all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
			if p99 := all[len(all)*99/100]; p99 > atOnce {
				t.Errorf("p99 %v", p99)
			}
			if limit > 0 && s.most.Load() > limit {
				t.Errorf("the server had %d at once, limit %d", s.most.Load(), limit)
			}
		})
	}
}

// C43: FIN straight after connecting is a half-close like any other.
func TestC43ConnectAndFin(t *testing.T) {
	s := serve(t, func(c *net.TCPConn) {
		c.SetDeadline(time.Now().Add(patience))
		wantEOF(t, c, "")
		write(t, c, "greeting")
	})
	r := start(t, member(s.addr(), 0))
	for range 100 {
		c := r.dial()
		c.CloseWrite()
		wantEOF(t, c, "greeting")
		c.Close()
	}
}

// C44: half-close-timeout ends those whose other side stays, and frees their
// slots. Reduced from 1000 clients and 2 s.
func TestC44HalfCloseTimeout(t *testing.T) {
	const clients = 300
	s := serve(t, func(c *net.TCPConn) {})
	r := start(t, member(s.addr(), 0), halfClose(500*time.Millisecond), loops(4))
	for range clients {
		r.dial()
	}
	begun := time.Now()
	for range clients {
		r.wantEnd(HalfClosed)
	}
	if d := time.Since(begun); d > atOnce {
		t.Errorf("it took %v", d)
	}
	r.untilInUse(0)
	if used, _ := r.Budget(); used != 0 {
		t.Errorf("%d descriptors in use", used)
	}
}

// C46: each direction ends by itself, the other one goes on.
func TestC46OtherDirectionGoesOn(t *testing.T) {
	t.Run("client first", func(t *testing.T) {
		s := hold(t)
		r := start(t, member(s.addr(), 0), halfClose(never))
		c := r.dial()
		up := s.next(t)
		write(t, c, "request")
		c.CloseWrite()
		wantEOF(t, up, "request")
		time.Sleep(300 * time.Millisecond) // the server thinks
		mega := strings.Repeat("m", 1<<20)
		go func() { io.WriteString(up, mega); up.Close() }()
		wantEOF(t, c, mega)
		if e := r.wantEnd(Served); e.Closer != "client" || e.Up != 7 || e.Down != 1<<20 {
			t.Errorf("%+v", e)
		}
	})
	t.Run("server first", func(t *testing.T) {
		s := hold(t)
		r := start(t, member(s.addr(), 0), halfClose(never))
		c := r.dial()
		up := s.next(t)
		write(t, up, "go on")
		up.CloseWrite()
		wantEOF(t, c, "go on")
		upload := strings.Repeat("u", 10<<20)
		go func() { io.WriteString(c, upload); c.Close() }()
		wantEOF(t, up, upload)
		if e := r.wantEnd(ServerEnd); e.Closer != "server" || e.Up != 10<<20 {
			t.Errorf("%+v", e)
		}
	})
}
