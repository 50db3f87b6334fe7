package tap

import (
	"testing"

	"penstock/stack/tap/frame"
)

// A proven client that closes its side leaves once, however often it says so before
// its outcome has come; it is told each time.
func TestProvenLeavesOnce(t *testing.T) {
	r := prover(t)
	r.departs = true
	c := r.client(1)
	c.cookie()
	c.send(frame.ACK, "")
	r.want("arrived")
	for _, words := range [][]string{{"left"}, nil, nil} {
		c.send(frame.FIN|frame.ACK, "")
		if p, _ := c.next(); !p.Has(frame.RST) || p.Seq != c.ack {
			t.Errorf("%+v is no reset", p)
		}
		r.want(words...)
	}
}
