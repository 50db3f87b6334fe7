package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// A virtual server that forwards from now on has connections of netstack's left, and
// handshakes that become some: they go on.
func TestForwardBegins(t *testing.T) {
	r := newRig(t, behindTwo)
	a, b := r.client(1), r.client(2)
	r.released(a)
	conn := a.connect()
	r.want("connected")
	r.released(b)
	r.Change(web, Virtual{Forward: true, SNAT: []netip.Addr{snat4}})
	a.send(frame.ACK|frame.PSH, "ping")
	r.until("data", func() bool { return r.ready[conn]&sys.In != 0 })
	b.connect()
	r.want("connected")
}

// One that forwards no more has flows that are remembered. Who begins another
// connection with the same port gets one of netstack's.
func TestForwardStops(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.establish()
	c.fin(s)
	s.fin(c)
	r.want("arrived", "answered", "over")
	r.Change(web, Virtual{})
	r.decide = nil
	c.seq += 1_000_000
	r.released(c)
	c.connect()
	r.want("connected")
}

// A loop need not wake up for flows unless one is due, and does then.
func TestForwardSleeps(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}, Idle: 200e6})
	r.pass(time.Second)
	r.turn()
	if due := r.Turn(r.now) - r.now; due < 10*flowsEvery {
		t.Errorf("it wakes up in %v", time.Duration(due))
	}
	r.client(1).establish()
	if due := r.Turn(r.now) - r.now; due > 200*ms || due < 2*flowsEvery {
		t.Errorf("it sleeps for %v", time.Duration(due))
	}
	r.told = nil
}
