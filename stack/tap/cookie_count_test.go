package tap

import (
	"testing"

	"penstock/stack/tap/frame"
)

// Wrong echoes are counted, and what looks like one but is of a connection is not.
func TestCookiesBad(t *testing.T) {
	r := newRig(t)
	known := r.client(1)
	r.released(known)
	conn := known.connect()
	r.Change(web, Virtual{Proof: ProofAlways})
	c := r.client(2)
	c.cookie()
	for n := range uint64(3) {
		known.send(frame.ACK, "")
		known.send(frame.ACK|frame.PSH, "said")
		known.seq += 4
		c.sendAt(c.seq, c.ack+1, frame.ACK)
		c.sendAt(c.seq, c.ack+1, frame.FIN|frame.ACK)
		if got := r.totals(); got.CookiesBad != n+1 || got.CookiesProven != 0 {
			t.Errorf("%d are counted of %d, %d proven", got.CookiesBad, n+1, got.CookiesProven)
		}
	}
	c.send(frame.ACK, "")
	if got := r.totals(); got.CookiesBad != 3 || got.CookiesProven != 1 {
		t.Errorf("%d are counted of 3, %d proven", got.CookiesBad, got.CookiesProven)
	}
	r.hangup(conn, false, r.now)
}
