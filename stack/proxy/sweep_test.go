package proxy

import (
	"net"
	"testing"
	"time"

	"penstock/lb/dispatch"
)

// down has the monitor say that a member is down, and what to do about its
// sessions.
func (r *rig) down(id int, action func(id int)) {
	r.t.Helper()
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		d.SetMemberUp(now, dispatch.MemberID(id), false)
		action(id)
	})
}

// C12, the last way: a member goes down, its connections are reset on both
// sides, and who waited is served by another one. Nobody else notices.
func TestC12ResetMember(t *testing.T) {
	a, b := hold(t), hold(t)
	r := start(t, member(a.addr(), 1), member(b.addr(), 1))
	one, two := r.dial(), r.dial()
	upA, upB := a.next(t), b.next(t)
	write(t, upA, "A")
	write(t, upB, "B")
	var first [1]byte
	if one.Read(first[:]); first[0] == 'B' {
		one, two = two, one
		wantBytes(t, one, "A")
	} else {
		wantBytes(t, two, "B")
	}
	waiter := r.park()
	begun := time.Now()
	r.down(0, r.ResetMember)
	wantReset(t, one, "")
	wantReset(t, upA, "")
	soon(t, begun, "the reset")
	if e := r.wantEnd(ServerDown); e.Member != 0 || e.Closer != "proxy" || e.Code.String() != "SD" {
		t.Errorf("%+v", e)
	}
	pass(t, two, upB)
	leave(t, two, upB)
	r.wantEnd(Served)
	pass(t, waiter, b.next(t))
	a.none(t)
}

// Many sessions are reset a portion at a time.
func TestResetInPortions(t *testing.T) {
	const n = 5 * sweepDo
	s := hold(t)
	r := start(t, member(s.addr(), 0), loops(1))
	for range n {
		r.dial()
		s.next(t)
	}
	until(t, func() bool { return r.MemberTotals(0).Open == n }, "%d sessions", n)
	r.isolated(func(now int64) {
		r.ResetMember(0)
		w := r.workers[0]
		for left := n - sweepDo; left >= 0; left -= sweepDo {
			w.sweepOn(now)
			if w.clients.Len() != left {
				t.Errorf("%d sessions are left, want %d", w.clients.Len(), left)
			}
			if left > 0 && w.nextTurn() != 1 {
				t.Error("no turn is asked for")
			}
		}
		if len(w.sweeps) != 0 {
			t.Error("the sweep goes on with nobody left")
		}
	})
	for range n {
		r.wantEnd(ServerDown)
	}
}

// Sessions that begin after the reset are none of it.
func TestResetIsForThoseBefore(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1), loops(1))
	c := r.dial()
	s.next(t)
	waiter := r.park()
	r.isolated(func(int64) { r.ResetMember(0) })
	wantReset(t, c, "")
	r.wantEnd(ServerDown)
	pass(t, waiter, s.next(t))
}

// service-down-action=reselect: who has not said or heard anything goes to
// another server, and doesn't notice; the others are reset.
func TestReselect(t *testing.T) {
	for name, prepare := range map[string]func(client, server *net.TCPConn) (same bool){
		"silent":           func(*net.TCPConn, *net.TCPConn) bool { return true },
		"client has said":  func(c, s *net.TCPConn) bool { write(t, c, "x"); wantBytes(t, s, "x"); return false },
		"server has said":  func(c, s *net.TCPConn) bool { write(t, s, "x"); wantBytes(t, c, "x"); return false },
		"server has ended": func(c, s *net.TCPConn) bool { s.CloseWrite(); wantEOF(t, c, ""); return false },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := hold(t), hold(t)
			r := start(t, member(a.addr(), 1), member(b.addr(), 0),
				func(c *Config) { c.Dispatch.Members[1].State = dispatch.Offline })
			c := r.dial()
			up := a.next(t)
			same := prepare(c, up)
			r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
				d.SetMember(now, 1, dispatch.MemberConfig{Depth: -1})
				d.SetMemberUp(now, 0, false)
				r.ReselectMember(0)
			})
			if same {
				wantEOF(t, up, "")
				pass(t, c, b.next(t))
				return
			}
			wantReset(t, up, "")
			if name != "server has ended" { // what comes behind a FIN is not told to who reads
				wantReset(t, c, "")
			}
			r.wantEnd(ServerDown)
			b.none(t)
		})
	}
}

// A client that has closed its side goes on to the next server with that.
func TestReselectHalfClosed(t *testing.T) {
	a, b := hold(t), hold(t)
	r := start(t, member(a.addr(), 1), member(b.addr(), 0),
		func(c *Config) { c.Dispatch.Members[1].State = dispatch.Offline },
		pool(func(p *Pool) { p.OnClose = LeaveNever }))
	c := r.dial()
	c.CloseWrite()
	wantEOF(t, a.next(t), "")
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		d.SetMember(now, 1, dispatch.MemberConfig{Depth: -1})
		d.SetMemberUp(now, 0, false)
		r.ReselectMember(0)
	})
	up := b.next(t)
	wantEOF(t, up, "")
	write(t, up, "answer")
	up.Close()
	wantEOF(t, c, "answer")
}

// Dials in progress are given up at once.
func TestReselectDialling(t *testing.T) {
	s := hold(t)
	r := start(t, member(blackHole(t), 0), member(s.addr(), 0),
		func(c *Config) { c.Dispatch.Members[1].State = dispatch.Offline })
	var clients []*net.TCPConn
	for range 5 {
		clients = append(clients, r.dial())
	}
	r.untilInUse(5)
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		d.SetMember(now, 1, dispatch.MemberConfig{Depth: -1})
		d.SetMemberUp(now, 0, false)
		r.ReselectMember(0)
	})
	for range clients {
		write(t, s.next(t), "x")
	}
	for _, c := range clients {
		wantBytes(t, c, "x")
	}
}

// A waiter whose member stops taking clients between the grant and the dial is
// not sent there.
func TestGrantOfMemberThatWent(t *testing.T) {
	a, b := hold(t), hold(t)
	r := start(t, member(a.addr(), 1), member(b.addr(), 1), loops(2))
	r.dial()
	r.dial()
	a.next(t)
	b.next(t)
	waiter := r.park()
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		for _, w := range r.workers { // A's client ends: its slot goes to the waiter
			for i := uint32(1); i < w.pairs.Cap(); i++ {
				if p := w.pairs.At(i); p.client != 0 && p.path.Member == 0 {
					w.end(p.client, w.clients.At(p.client), Drained, "proxy", int64(now))
				}
			}
		}
		if r.parked() != 0 {
			t.Fatal("the waiter was not granted A's slot")
		}
		d.SetMemberUp(now, 0, false)
	})
	r.wantEnd(Drained)
	r.untilParked(1)
	a.none(t)
	r.down(1, r.ResetMember)
	r.wantEnd(ServerDown)
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) { d.SetMemberUp(now, 1, true) })
	pass(t, waiter, b.next(t))
}

// An operator empties the queue.
func TestFlushed(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1))
	c := r.dial()
	up := s.next(t)
	waiter := r.park()
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		d.Flush(now, 0, func(*dispatch.WaiterView) bool { return true })
	})
	wantReset(t, waiter, "")
	if e := r.wantEnd(Flushed); e.Left != "flushed" || e.Code.String() != "QX" || e.Position != 1 {
		t.Errorf("%+v", e)
	}
	pass(t, c, up)
}

// Each reason has a code, and what shares the letters differs in how it left.
func TestWordsOfRefusals(t *testing.T) {
	seen := map[string]dispatch.Reason{}
	for r := dispatch.QueueOff; int(r) < len(refusalCode); r++ {
		code := refusalCode[r]
		if code == Served {
			t.Errorf("reason %d has no code", r)
		}
		words := code.String() + " " + leftAs(code, false)
		if was, ok := seen[words]; ok && !(was == dispatch.QueueOff && r == dispatch.Overflow) {
			t.Errorf("reasons %d and %d are both %q", was, r, words)
		}
		seen[words] = r
	}
	for words, r := range map[string]dispatch.Reason{
		"QF early": dispatch.Early, "QF shed": dispatch.Shed, "QX flushed": dispatch.Flushed, "QF refused": dispatch.Overflow,
	} {
		if seen[words] != r {
			t.Errorf("%q is reason %d, want %d", words, seen[words], r)
		}
	}
	if len(codes) != int(Flushed)+1 {
		t.Errorf("%d letters for %d codes", len(codes), Flushed+1)
	}
}

// Who is refused early was never in the queue, and yet it is told how it left,
// in whatever way it is refused.
func TestRefusedEarly(t *testing.T) {
	for _, how := range []Refuse{Reset, Close, HTTP503} {
		r := start(t, member(refuser(t), 0), behindProxy, refuse(how), loops(1))
		c := r.dial()
		until(t, func() bool { return r.Clients() == 1 }, "a client whose header is waited for")
		r.isolated(func(now int64) {
			w := r.workers[0]
			for i := uint32(1); i < w.clients.Cap(); i++ {
				if c := w.clients.At(i); c.state == heading {
					w.dropPair(c, w.pairs.At(c.pair))
					w.decided(i, c, dispatch.Verdict{Kind: dispatch.Refuse, Reason: dispatch.Early}, now)
				}
			}
		})
		if how == Reset {
			wantReset(t, c, "")
		}
		c.Close()
		if e := r.wantEnd(RefusedEarly); e.Left != "early" || e.Code.String() != "QF" || e.Wait != 0 || e.Position != 0 {
			t.Errorf("%+v", e)
		}
	}
}
