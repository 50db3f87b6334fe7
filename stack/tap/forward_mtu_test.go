package tap

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"penstock/stack/tap/device"
	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// Where the servers' link takes less than the clients', both sides are told in their
// SYNs, and who sends too much all the same is told by ICMP, for a frame that is still
// to be cut as well.
func TestForwardNarrowLink(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	r.fwd.link.mtu = 1400
	c := r.client(1)
	c.syn()
	s, o := r.serverSyn()
	s.answer()
	if a := c.synAck(); o.MSS != 1360 || a.MSS != 1360 {
		t.Errorf("an MSS of %d and %d", o.MSS, a.MSS)
	}
	c.send(frame.ACK, "")
	s.want(frame.ACK, "")
	for size, fits := range map[uint16]bool{1348: true, 1349: false} {
		b := c.segment(frame.ACK, string(make([]byte, 3000)))
		var p frame.Packet
		p.Parse(b, ether.Own)
		binary.BigEndian.PutUint16(b[p.L4+16:], frame.Pseudo(&c.f.Src, &c.f.Dst, p.End-p.L4))
		before := r.totals().TooBig
		r.dev.SendMarked(b, device.VNet{
			Flags: device.NeedsCsum, GSO: device.GSOTCP4, HdrLen: uint16(p.Data), GSOSize: size, CsumStart: uint16(p.L4), CsumOffset: 16,
		})
		r.turn()
		if told := r.totals().TooBig != before; told == fits {
			t.Errorf("pieces of %d: complained about: %v", size, told)
		}
	}
	r.Change(web, Virtual{SNAT: []netip.Addr{snat4}, Proof: ProofAlways, Forward: true})
	c = r.client(2)
	c.syn()
	_, b := c.next()
	var p frame.Packet
	p.Parse(b, frame.MAC(b[:6]))
	if n := p.Options(b).MSS; n != 1360 {
		t.Errorf("a cookie with an MSS of %d", n)
	}
	r.told = nil
}
