package tap

import (
	"testing"

	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// An error that may be about a connection of any loop goes round them all, and is looked
// at by each netstack if it is about what one may have.
func TestErrorsGoRound(t *testing.T) {
	r := bareRig(t, 2, behindTwo)
	r.listen(web, Virtual{Listen: at4, Forward: true})
	r.listen(web6, Virtual{Listen: other4})
	r.dev.Take()
	for _, x := range []struct {
		from place
		here bool
	}{{placeOf(at4), false}, {placeOf(other4), true}, {place{own4.Addr().As16(), 4000}, true}} {
		c := r.client(1)
		f := frame.Flow{SrcMAC: ether.Own, DstMAC: ether.Router, Src: x.from.addr, SrcPort: x.from.port, Dst: c.f.Src, DstPort: c.f.SrcPort}
		b := quoting(frame.AppendTCP(nil, &f, &frame.Header{Flags: frame.ACK}, nil))
		r.Port.pkt.ParseHead(b, len(b), ether.Own)
		before := r.totals().PassedOn
		r.fwd.from, r.fwd.left = fromClients, 1
		done := r.fwd.icmp(&segment{b: b, n: len(b), h: &plain}, r.now)
		if passed := r.totals().PassedOn != before; !passed || done == x.here {
			t.Errorf("about %v: passed on: %v, netstack gets it: %v, want %v", x.from, passed, !done, x.here)
		}
	}
}
