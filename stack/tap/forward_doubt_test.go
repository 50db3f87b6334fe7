package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/frame"
)

// A server sent data that was lost on its way to us, then resets with the number
// behind it. The client, which follows RFC 5961, asks back, and the server, gone,
// answers with the number that the client expects: that the client has to get.
func TestForwardResetBehindLostData(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.establish()
	s.say(c, "hello")
	c.send(frame.ACK, "")
	s.want(frame.ACK, "")
	s.seq += 1000
	s.send(frame.RST|frame.ACK, "")
	if p, _ := c.next(); !p.Has(frame.RST) || p.Seq == c.ack {
		t.Fatalf("the client got %+v", p)
	}
	r.drainServer()
	c.send(frame.ACK, "") // a challenge
	p, _ := r.nextServer()
	s.seq = p.Ack
	s.send(frame.RST, "")
	if p, b := took(c); b == nil || !p.Has(frame.RST) || p.Seq != c.ack {
		t.Errorf("the client got %+v %v", p, b != nil)
	}
	r.want("arrived", "answered", "over")
}

// What a server that answered with a cookie is asked with must not be taken for the
// client's acknowledgement.
func TestForwardQuitCookie(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.offered()
	for range 200 {
		r.pass(50 * time.Millisecond)
		for {
			p, b := r.takeServer()
			if b == nil {
				break
			}
			if p.Flags == frame.ACK && p.Ack == s.seq && s.ack-p.Seq < 4 {
				t.Fatalf("%d below what is expected, acknowledging the cookie", s.ack-p.Seq)
			}
		}
	}
}

func took(c *client) (p frame.Packet, b []byte) {
	c.r.settle()
	for _, b := range c.r.dev.Take() {
		if p.Parse(b, frame.MAC(b[:6])) == frame.TCP && p.DstPort == c.f.SrcPort {
			return p, b
		}
	}
	return p, nil
}
