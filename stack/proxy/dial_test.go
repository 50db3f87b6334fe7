package proxy

import (
	"net"
	"sync"
	"testing"
	"time"

	"penstock/lb/dispatch"
	"penstock/stack/sys"
)

// C27: a refused dial goes on to another member at once, in pools that queue
// and in those that don't.
func TestC27OtherMemberAtOnce(t *testing.T) {
	for name, more := range map[string]option{"queue": tries(1), "no queue": func(c *Config) { tries(1)(c); noQueue(c) }} {
		t.Run(name, func(t *testing.T) {
			s := hold(t)
			r := start(t, member(refuser(t), 0), member(s.addr(), 0), more)
			for range 4 { // wherever the turn is
				begun := time.Now()
				c := r.dial()
				server := s.next(t)
				pass(t, c, server)
				soon(t, begun, "the way round the refusing member")
				leave(t, c, server)
				if e := r.wantEnd(Served); e.Member != 1 {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// A timed-out dial is a failed one, and the connect timeout is its own clock.
func TestDialTimesOut(t *testing.T) {
	const limit = 200 * time.Millisecond
	s := hold(t)
	r := start(t, member(blackHole(t), 0), member(s.addr(), 0), tries(100),
		func(c *Config) { c.Dispatch.Members[1].State = dispatch.Offline },
		pool(func(p *Pool) { p.ConnectTimeout = limit }))
	begun := time.Now()
	r.dialSaying("x")
	r.dialSaying("x")
	r.untilInUse(2)
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		r.SetPool(0, Pool{ConnectTimeout: never}) // for the dials that are to come
		d.SetMember(now, 1, dispatch.MemberConfig{Depth: -1})
	})
	wantBytes(t, s.next(t), "x")
	wantBytes(t, s.next(t), "x")
	if d := time.Since(begun); d < limit || d > limit+atOnce {
		t.Errorf("both served after %v", d)
	}
}

// C31 in small: a member that refuses costs nobody its place.
func TestC31RefusingMemberDrainsNoQueue(t *testing.T) {
	s := serve(t, func(c *net.TCPConn) {
		write(t, c, "B")
		time.Sleep(50 * time.Millisecond) // its work
	})
	r := start(t, member(refuser(t), 0), member(s.addr(), 2), tries(3), loops(4))
	var running sync.WaitGroup
	come := func(clients int) {
		for range clients {
			c := r.dial()
			running.Go(func() {
				wantEOF(t, c, "B")
				c.Close()
			})
		}
	}
	come(2) // one of each is dialled
	until(t, func() bool { return r.Dispatcher().Member(0).DialFailures > 0 }, "a refused dial")
	come(18)
	running.Wait()
	if n := r.MemberTotals(0).Connections; n > 10 {
		t.Errorf("the member that refuses was dialled %d times", n)
	}
	if s.most.Load() > 2 {
		t.Errorf("%d at once, limit 2", s.most.Load())
	}
}

// All members fail: back to the queue until tries are used up, then SF.
func TestTriesEnd(t *testing.T) {
	r := start(t, member(refuser(t), 0), member(refuser(t), 0), tries(2))
	dialRefused(t, r.addr())
	if e := r.wantEnd(DialFailed); e.Left != "failed" && e.Left != "-" && e.Left != "refused" {
		t.Errorf("%+v", e)
	}
	d := r.Dispatcher()
	if n := d.Member(0).DialFailures + d.Member(1).DialFailures; n != 3 {
		t.Errorf("%d dials failed, want 3", n)
	}
}

// A client that goes while its server is dialled frees the slot at once.
func TestClientResetsWhileDialling(t *testing.T) {
	r := start(t, member(blackHole(t), 1))
	c := r.dial()
	r.untilInUse(1)
	begun := time.Now()
	reset(c)
	r.wantEnd(ClientReset)
	soon(t, begun, "the end")
	r.untilInUse(0)
	if used, _ := r.Budget(); used != 0 {
		t.Errorf("%d descriptors in use", used)
	}
}

// A FIN while dialling is a half-close; when the dial fails and the client is
// parked again, the FIN counts as one of a parked client.
func TestBareFinWhileDialling(t *testing.T) {
	s := hold(t)
	r := start(t, member(blackHole(t), 1), member(s.addr(), 1), tries(5))
	a, b := r.dial(), r.dial() // one of each is dialled
	up := s.next(t)
	r.untilInUse(2)
	a.CloseWrite()
	b.CloseWrite()
	wantEOF(t, up, "") // passed on where there is a server
	until(t, func() (seen bool) {
		r.each(func(_ *worker, _ uint32, c *client) { seen = seen || c.state == dialling && c.side.Ready&sys.Fin != 0 })
		return seen
	}, "a FIN while dialling")
	r.expire()
	r.wantEnd(ClientQuit)
	r.untilParked(0)
	s.none(t)
}

// A server that accepts and resets at once: the client is reset, and the slot
// is free.
func TestServerResetsAtOnce(t *testing.T) {
	s := serve(t, func(c *net.TCPConn) { c.SetLinger(0) })
	r := start(t, member(s.addr(), 1), loops(4))
	for range 100 {
		dialRefused(t, r.addr())
		if e := r.end(); e.Code != ServerReset && e.Code != DialFailed {
			t.Errorf("%+v", e)
		}
	}
	r.untilInUse(0)
	if s.most.Load() > 1 {
		t.Errorf("%d at once, limit 1", s.most.Load())
	}
}

func TestIPv6ClientIPv4Server(t *testing.T) {
	needsIPv6(t)
	s := hold(t)
	r := start(t, member(s.addr(), 0), virtual(func(v *Virtual) { v.Listen.AddrPort = v6Any }))
	c := r.dial()
	server := s.next(t)
	pass(t, c, server)
	leave(t, c, server)
	if e := r.wantEnd(Served); !e.Client.Addr().Is6() || e.Client != c.LocalAddr().(*net.TCPAddr).AddrPort() {
		t.Errorf("client %v", e.Client)
	}
}

func TestIPv4ClientIPv6Server(t *testing.T) {
	needsIPv6(t)
	s := serveOn(t, listen(t, "[::1]:0"), func(c *net.TCPConn) { write(t, c, "six") })
	r := start(t, member(s.addr(), 0))
	c := r.dial()
	wantEOF(t, c, "six")
	c.Close()
	if e := r.wantEnd(ServerEnd); e.Client != c.LocalAddr().(*net.TCPAddr).AddrPort() {
		t.Errorf("client %v", e.Client)
	}
}

// starving returns a proxy of ten descriptors with one client served and six
// parked, to whom a raised limit then gives a slot. Two of them find a
// descriptor for their server.
func starving(t *testing.T, s *server, options ...option) (*rig, []*net.TCPConn) {
	t.Helper()
	options = append(options, member(s.addr(), 1), func(c *Config) { c.MaxDescriptors = 10 }, loops(1))
	r := start(t, options...)
	clients := []*net.TCPConn{r.dial()}
	for range 6 {
		clients = append(clients, r.park())
	}
	for _, c := range clients {
		write(t, c, "x")
	}
	r.change(func(d *dispatch.Dispatcher, now dispatch.Tick) {
		d.SetMember(now, 0, dispatch.MemberConfig{Depth: -1})
	})
	r.untilInUse(7)
	return r, clients
}

// A client that finds no descriptor for its server keeps its slot and its
// place, and is served when one is free.
func TestStarvedForDescriptors(t *testing.T) {
	s := hold(t)
	r, clients := starving(t, s)
	served := func(n int) {
		t.Helper()
		for range n {
			up := s.next(t)
			wantBytes(t, up, "x")
			t.Cleanup(func() { up.Close() })
		}
	}
	served(3)
	if used, most := r.Budget(); used != most {
		t.Errorf("%d of %d descriptors used", used, most)
	}
	s.none(t)
	reset(clients[3]) // a starved one: its descriptor serves another
	r.wantEnd(ClientQuit)
	served(1)
	for _, c := range clients[:3] { // each of them frees two
		reset(c)
		r.wantEnd(ClientReset)
	}
	served(2)
	r.untilInUse(3)
}

// Who finds no descriptor in all of connect-timeout is refused. The one that
// it had serves the next.
func TestStarvesTooLong(t *testing.T) {
	s := hold(t)
	r, _ := starving(t, s)
	r.isolated(func(now int64) { r.workers[0].feed(now + int64(never)) })
	for range 2 {
		r.wantEnd(DialFailed)
	}
	for range 5 {
		wantBytes(t, s.next(t), "x")
	}
}
