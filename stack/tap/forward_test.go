package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/frame"
	"penstock/stack/tap/track"
)

// A connection from its SYN to the last FIN: the server gets the client's own numbers
// and options, the client the server's. The slot is free when both have said all and
// know that the other knows.
func TestForward(t *testing.T) {
	for name, x := range map[string]struct {
		v Virtual
		c func(*rig) *client
	}{
		"IPv4":       {Virtual{SNAT: []netip.Addr{snat4}}, func(r *rig) *client { return r.client(1) }},
		"IPv6":       {Virtual{Listen: at6, SNAT: []netip.Addr{snat6}}, func(r *rig) *client { return r.client6(1) }},
		"IPv4, none": {Virtual{}, func(r *rig) *client { return r.client(1) }},
		"IPv6, none": {Virtual{Listen: at6}, func(r *rig) *client { return r.client6(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newForward(t, x.v)
			c := x.c(r)
			c.syn()
			s, o := r.serverSyn()
			want := c.opts
			want.TSVal = o.TSVal
			if v6 := !frame.Is4(&c.f.Src); v6 {
				want.MSS = 1440
			}
			if o != want || s.ack != c.seq+1 {
				t.Errorf("the server got %+v and %d, want %+v and %d", o, s.ack-1, want, c.seq)
			}
			if from := s.f.Dst; len(x.v.SNAT) > 0 && from != x.v.SNAT[0].As16() || len(x.v.SNAT) == 0 && from != c.f.Src {
				t.Errorf("the client is %v for the server", netip.AddrFrom16(from))
			}
			s.answer()
			o = c.synAck()
			if o.WS != 8 || !o.SACK || o.TSVal != s.opts.TSVal {
				t.Errorf("the client got %+v", o)
			}
			c.send(frame.ACK, "")
			s.want(frame.ACK, "")
			c.say(s, "request")
			s.say(c, "response")
			s.say(c, "more")
			c.fin(s)
			s.say(c, "the last")
			r.want("arrived", "answered")
			n := r.NextFlow(0)
			s.fin(c)
			r.want("over")
			if packets := r.Flow(n).Packets; r.ended[EndClient] != 1 || r.carried != [2]int{7, 20} || packets != [2]uint32{5, 6} {
				t.Errorf("ended as %v, carried %v in %v packets", r.ended, r.carried, packets)
			}
			// What comes again is passed on for a while.
			s.seq--
			s.send(frame.FIN|frame.ACK, "")
			if p, _ := c.next(); !p.Has(frame.FIN) {
				t.Errorf("the client got %+v", p)
			}
			if got := r.totals(); got.Lingering != 1 || got.Flows != 0 || got.Forwarded != 1 {
				t.Errorf("%+v", got)
			}
			r.pass(3 * time.Second)
			if n := r.fwd.flows.Len(); n != 0 {
				t.Errorf("%d flows are remembered", n)
			}
		})
	}
}

// A server that refuses, by a reset, an ICMP error, or by saying nothing, gets its
// client taken away: the handshake is the owner's again, and may go on to another.
func TestForwardRefused(t *testing.T) {
	for name, refuse := range map[string]func(r *rig, c *client, s *peer){
		"reset": func(r *rig, c *client, s *peer) {
			s.seq = 0
			s.send(frame.RST|frame.ACK, "")
		},
		"silence": func(r *rig, c *client, s *peer) {
			for range 6 {
				c.after(time.Second)
				c.syn()
			}
			syns := 0
			for {
				p, b := r.takeServer()
				if b == nil {
					break
				}
				if p.Flags == frame.SYN {
					syns++
				}
			}
			if syns < 5 { // the client's own, and ours
				t.Errorf("the SYN was sent %d times again", syns)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
			c := r.client(1)
			c.syn()
			s, _ := r.serverSyn()
			refuse(r, c, s)
			c.none("nothing is known yet")
			r.want("arrived", "refused")
			r.forward(r.only(), r.now)
			s, _ = r.serverSyn()
			s.answer()
			c.synAck()
			c.send(frame.ACK, "")
			s.want(frame.ACK, "")
			s.fin(c)
			c.fin(s)
			if r.ended[EndServer] != 1 {
				t.Errorf("ended as %v", r.ended)
			}
			r.told = nil
		})
	}
}

// A server's reset frees the slot at once. A client's does when the server has
// confirmed that it took it.
func TestForwardReset(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.establish()
	s.say(c, "hello")
	s.send(frame.RST|frame.ACK, "")
	if p, _ := c.next(); !p.Has(frame.RST) || p.Seq != c.ack {
		t.Errorf("the client got %+v", p)
	}
	r.want("arrived", "answered", "over")

	c = r.client(2)
	s = c.establish()
	c.send(frame.RST|frame.ACK, "")
	s.want(frame.RST|frame.ACK, "")
	p, _ := r.nextServer()
	if p.Flags != frame.ACK || p.Seq != s.ack-1024 {
		t.Errorf("the server is asked by %+v", p)
	}
	r.want("arrived", "answered")
	s.seq = p.Ack
	s.send(frame.RST, "")
	r.want("over")
	if r.ended[EndServerReset] != 1 || r.ended[EndClientReset] != 1 {
		t.Errorf("ended as %v", r.ended)
	}
	c.none("it is gone")
}

// A reset that the server does not take is asked about, and is no end if the client
// goes on. One with a number outside of the window is not even passed on as an end.
func TestForwardResetOfAStranger(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.establish()
	c.sendAt(c.seq+100_000_000, 0, frame.RST)
	r.drainServer()
	c.sendAt(c.seq+1000, 0, frame.RST) // in the window
	r.drainServer()
	s.send(frame.ACK, "") // a challenge
	c.next()
	c.say(s, "still here")
	s.say(c, "so am I")
	if n := r.totals().SpoofedResets; n == 0 {
		t.Error("nothing was counted")
	}
	r.pass(10 * time.Second)
	if len(r.flows) != 1 || r.Flow(r.NextFlow(0)).Conn.State() != track.Established {
		t.Errorf("%d flows", len(r.flows))
	}
}

// A server that does not hear of a reset is told again, and in the end the slot is
// free whatever it says.
func TestForwardSilentAfterReset(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	c.establish()
	c.send(frame.RST|frame.ACK, "")
	r.told = nil
	r.pass(2 * time.Second)
	r.want()
	r.pass(8 * time.Second)
	r.want("over")
}

// Both sides are reset when nothing is heard for too long.
func TestForwardTimes(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}, Idle: 20 * time.Second, HalfClose: 5 * time.Second})
	a, b := r.client(1), r.client(2)
	sa, sb := a.establish(), b.establish()
	r.pass(10 * time.Second)
	a.say(sa, "not idle")
	b.fin(sb)
	r.told = nil
	r.pass(4 * time.Second)
	b.send(frame.ACK, "") // no byte
	r.drainServer()
	r.pass(3 * time.Second)
	if p, _ := b.next(); !p.Has(frame.RST) {
		t.Errorf("the client got %+v", p)
	}
	sb.want(frame.RST, "")
	r.pass(15 * time.Second)
	if p, _ := a.next(); !p.Has(frame.RST) {
		t.Errorf("the client got %+v", p)
	}
	r.pass(10 * time.Second)
	if r.ended[EndIdle] != 1 || r.ended[EndHalfClose] != 1 {
		t.Errorf("ended as %v", r.ended)
	}
	r.told = nil
}

// A client that is not there any more when its server has answered costs 3 s.
func TestForwardQuit(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	c.syn()
	s, _ := r.serverSyn()
	s.answer()
	r.pass(3100 * time.Millisecond)
	s.want(frame.RST, "")
	p, _ := r.nextServer()
	s.seq = p.Ack
	s.send(frame.RST, "")
	r.want("arrived", "answered", "over")
	if r.ended[EndQuit] != 1 {
		t.Errorf("ended as %v", r.ended)
	}
	r.drainServer()
	r.client(2).syn()
	s, _ = r.serverSyn()
	r.client(2).rst(r.client(2).seq) // before it has heard anything
	s.want(frame.RST, "")
	r.told = nil
}

// The same port again: after a reset, and after an orderly end.
func TestForwardSamePortAgain(t *testing.T) {
	for _, v := range []Virtual{{SNAT: []netip.Addr{snat4}}, {}} {
		r := newForward(t, v)
		c := r.client(1)
		for i := range 6 {
			s := c.establish()
			c.say(s, "request")
			if i%2 == 0 {
				c.send(frame.RST|frame.ACK, "")
			} else {
				c.fin(s)
				s.fin(c)
			}
			r.drainServer()
			c.seq += 1_000_000
			c.opts.TSVal += 1000
		}
		r.pass(10 * time.Second)
		r.told = nil
		if n := len(r.flows); n != 0 {
			t.Errorf("%d flows", n)
		}
	}
}

// What is counted is each byte once, whatever is lost before us or sent again: a FIN
// whose number was seen first by the acknowledgement behind it is no byte.
func TestForwardBytes(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.establish()
	c.say(s, "request")
	c.seq -= 3
	s.ack -= 3
	c.say(s, "est")
	n := r.NextFlow(0)
	if up := r.Flow(n).Bytes(track.Client); up != 7 {
		t.Errorf("%d bytes, want 7", up)
	}
	c.seq++
	c.send(frame.ACK, "")
	s.ack++
	s.want(frame.ACK, "")
	c.seq--
	s.ack--
	c.fin(s)
	if up := r.Flow(n).Bytes(track.Client); up != 7 {
		t.Errorf("%d bytes, want 7", up)
	}
	s.fin(c)
	r.told = nil
}
