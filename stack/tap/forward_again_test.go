package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/frame"
)

// C50: a peer that acknowledges nothing any more is a silent one, however often the
// other side sends the same again, bytes or its last.
func TestForwardSentAgainIsNoByte(t *testing.T) {
	for _, flags := range []uint8{frame.ACK, frame.FIN | frame.ACK} {
		r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}, Idle: 10 * time.Second, HalfClose: 10 * time.Second})
		a, b := r.client(1), r.client(2)
		a.establish()
		sb := b.establish()
		r.pass(4 * time.Second)
		a.send(flags, "request")
		sb.send(flags, "response")
		for range 3 {
			r.pass(3 * time.Second)
			a.send(flags, "request")
			sb.send(flags, "response")
		}
		r.drainServer()
		r.pass(3 * time.Second)
		reset := map[uint16]bool{}
		for range 4 { // two are reset, and asked whether they have heard
			if p, _ := r.nextServer(); p.Has(frame.RST) {
				reset[p.SrcPort] = true
			}
		}
		if len(reset) != 2 {
			t.Errorf("the connections of %v were reset, want both", reset)
		}
		r.told = nil
	}
}
