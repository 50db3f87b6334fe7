package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/frame"
)

// A client that has not completed its handshake, and sends a reset that is doubtful,
// has no more time for it than others.
func TestForwardQuitAfterADoubt(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.offered()
	c.sendAt(c.seq+1000, 0, frame.RST) // in the window
	s.send(frame.ACK, "")              // a challenge
	r.drainServer()
	r.want("arrived", "answered")
	for range 12 {
		r.pass(time.Second)
	}
	r.want("over")
	if r.ended[EndQuit] != 1 {
		t.Errorf("ended as %v", r.ended)
	}
}
