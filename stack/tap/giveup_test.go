package tap

import (
	"testing"
	"time"

	"penstock/stack/tap/frame"
)

// Who got the answer is connected, as far as it knows: if what it said to that was
// lost it is to hear that nothing comes of it, and may have nothing to say itself. A
// reset that it believes has the number behind the answer's.
func TestGiveUpAnswered(t *testing.T) {
	for _, six := range []bool{false, true} {
		r := newRig(t)
		c := r.client(1)
		if six {
			r.listen(web6, Virtual{Listen: at6})
			c = r.client6(1)
		}
		session := r.released(c)
		c.synAck() // and the acknowledgement is lost
		r.pass(time.Second)
		for r.take(c) != nil {
		}
		r.giveUp(session, r.now)
		if p, _ := c.next(); !p.Has(frame.RST|frame.ACK) || p.Seq != c.ack || p.Ack != c.seq {
			t.Errorf("%+v is no reset for who waits for %d, and has acknowledged %d", p, c.ack, c.seq)
		}
		c.none("given up")
	}
}
