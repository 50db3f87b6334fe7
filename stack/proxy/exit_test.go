package proxy

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"penstock/stack/leak"
)

// C12: whichever way the holder of the only slot goes, the slot is given back
// once, and the waiter is served at once.
func TestC12EveryExitServesTheWaiter(t *testing.T) {
	const clock = 300 * time.Millisecond
	for _, c := range []struct {
		name    string
		options []option
		leave   func(t *testing.T, r *rig, holder, server *net.TCPConn)
		code    Code
		late    time.Duration
	}{
		{"client FIN", nil, func(t *testing.T, _ *rig, holder, server *net.TCPConn) {
			leave(t, holder, server)
		}, Served, 0},
		{"client reset", nil, func(t *testing.T, _ *rig, holder, server *net.TCPConn) {
			reset(holder)
			wantReset(t, server, "")
		}, ClientReset, 0},
		{"server FIN", nil, func(t *testing.T, _ *rig, holder, server *net.TCPConn) {
			server.Close()
			wantEOF(t, holder, "")
			holder.Close()
		}, ServerEnd, 0},
		{"server reset", nil, func(t *testing.T, _ *rig, holder, server *net.TCPConn) {
			reset(server)
			wantReset(t, holder, "")
		}, ServerReset, 0},
		{"server reset, client stays", nil, func(t *testing.T, _ *rig, holder, server *net.TCPConn) {
			reset(server)
		}, ServerReset, 0},
		{"idle-timeout", []option{idle(never)}, func(t *testing.T, r *rig, holder, server *net.TCPConn) {
			r.age(never)
			wantReset(t, holder, "")
			wantReset(t, server, "")
		}, Idle, 0},
		{"half-close-timeout", []option{halfClose(clock)}, func(t *testing.T, _ *rig, holder, server *net.TCPConn) {
			server.CloseWrite()
			wantEOF(t, holder, "")
			wantReset(t, server, "")
		}, HalfClosed, clock},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := hold(t)
			r := start(t, append(c.options, member(s.addr(), 1))...)
			holder := r.dial()
			server := s.next(t)
			pass(t, holder, server)
			waiter := r.park()
			begun := time.Now()
			c.leave(t, r, holder, server)
			pass(t, waiter, s.next(t))
			if d := time.Since(begun); d > c.late+atOnce {
				t.Errorf("the waiter was served after %v", d)
			}
			r.wantEnd(c.code)
			if n := r.inUse(); n != 1 {
				t.Errorf("%d slots in use, want the waiter's", n)
			}
		})
	}
}

// C12 for dials that fail: the slot of a refused or timed-out dial serves the
// next, too.
func TestC12FailedDialServesTheWaiter(t *testing.T) {
	for name, addr := range map[string]func(testing.TB) netip.AddrPort{"refused": refuser, "timed out": blackHole} {
		t.Run(name, func(t *testing.T) {
			r := start(t, member(addr(t), 1), pool(func(p *Pool) { p.ConnectTimeout = 200 * time.Millisecond }))
			begun := time.Now()
			const clients = 3
			var running sync.WaitGroup
			for range clients {
				running.Go(func() { dialRefused(t, r.addr()) })
			}
			running.Wait()
			for range clients {
				if e := r.wantEnd(DialFailed); e.Closer != "proxy" {
					t.Errorf("%+v", e)
				}
			}
			if d := time.Since(begun); d > atOnce { // back-off of the member included
				t.Errorf("it took %v", d)
			}
			if v := r.Dispatcher().Member(0); v.DialFailures != clients {
				t.Errorf("%d dial failures", v.DialFailures)
			}
			r.untilInUse(0)
		})
	}
}

// Sessions of all kinds come and go, and no descriptor stays behind.
func TestDescriptorsComeBack(t *testing.T) {
	s := serve(t, func(c *net.TCPConn) {
		c.SetDeadline(time.Now().Add(patience))
		b := make([]byte, 1)
		c.Read(b)
		if b[0] == 'r' {
			c.SetLinger(0)
		}
	})
	r := start(t, member(s.addr(), 3), member(refuser(t), 1), tries(3))
	cycle := func() {
		for range 20 {
			a, b, c, d := r.dial(), r.dial(), r.dial(), r.dial()
			write(t, a, "r")
			write(t, b, "f")
			reset(c)
			d.Close()
			a.Close()
			b.Close()
		}
		for range 80 {
			r.end()
		}
	}
	cycle() // pipes and pools fill up
	until(t, func() bool { return s.now.Load() == 0 }, "idle servers")
	before := leak.Descriptors()
	for range 5 {
		cycle()
	}
	until(t, func() bool { return s.now.Load() == 0 }, "idle servers")
	until(t, func() bool { return leak.Descriptors() <= before }, "%d descriptors again", before)
}
