package tap

import (
	"net/netip"
	"testing"

	"penstock/stack/tap/frame"
)

// A stranger who guesses a number in the window may have us doubt for a moment, but
// a SYN of his then does not have the client reset.
func TestForwardSynInDoubt(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.establish()
	c.sendAt(c.seq+1000, 0, frame.RST) // in the window
	c.sendAt(c.seq+1<<20, 0, frame.SYN)
	c.none("it was not the client")
	r.drainServer()
	s.send(frame.ACK, "") // a challenge
	c.want(frame.ACK, "")
	c.say(s, "still here")
	r.told = nil
}
