package tap

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/header"

	"penstock/stack/tap/device"
	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

var asker = frame.MAC{2, 0, 0, 0, 0, 9}

// arpFor is a request for an address, by somebody else than the router.
func arpFor(a netip.Addr) []byte {
	from := netip.MustParseAddr("198.18.0.9").As16()
	b := frame.AppendARPReply(nil, &frame.ARPMessage{Sender: frame.MAC{}, SenderIP: a.As16(), TargetIP: from}, asker)
	copy(b, frame.Broadcast[:])
	b[21] = frame.ARPRequest
	return b
}

// solicit is a neighbour solicitation for an address.
func solicit(a netip.Addr) []byte {
	target := a.As16()
	b := frame.AppendAdvert(nil, &frame.NeighborMessage{Src: target, Target: netip.MustParseAddr("2001:db8::9").As16(), From: ether.Own}, asker)
	ip := header.IPv6(b[14:])
	icmp := header.ICMPv6(ip.Payload())
	icmp.SetType(header.ICMPv6NeighborSolicit)
	copy(icmp[4:], []byte{0, 0, 0, 0})
	copy(icmp[8:], target[:])
	icmp[24] = 1 // source link address
	icmp.SetChecksum(0)
	icmp.SetChecksum(header.ICMPv6Checksum(header.ICMPv6ChecksumParams{
		Header: icmp, Src: ip.SourceAddress(), Dst: ip.DestinationAddress(),
	}))
	return b
}

// sent returns the one frame that the port sent.
func (r *rig) sent() []byte {
	r.t.Helper()
	all := append(r.unread, r.dev.Take()...)
	r.unread = nil
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	r.t.Fatalf("%d frames were sent: %x", len(all), all)
	return nil
}

// ask asks for an address, and returns the answer: there should be one if it is ours.
func (r *rig) ask(addr string, question []byte, ours bool) (answer []byte) {
	r.t.Helper()
	r.dev.Send(question)
	r.turn()
	if answer = r.sent(); (answer != nil) != ours {
		r.t.Errorf("%s: answered with %x", addr, answer)
	}
	return answer
}

// Who asks for an address of ours is answered, and nobody else.
func TestARP(t *testing.T) {
	r := newRig(t)
	for a, ours := range map[string]bool{
		"198.18.0.100": true, "198.18.0.1": true, "198.18.0.101": false, "198.18.0.9": false,
	} {
		b := r.ask(a, arpFor(netip.MustParseAddr(a)), ours)
		if b == nil {
			continue
		}
		m, ok := frame.ParseARP(b)
		if !ok || m.Op != frame.ARPReply || m.Sender != ether.Own || netip.AddrFrom16(m.SenderIP).Unmap().String() != a || m.Target != asker {
			t.Errorf("%s: answered with %+v", a, m)
		}
	}
	r.Shut(web)
	r.dev.Send(arpFor(at4.Addr()))
	r.turn()
	if b := r.sent(); b != nil {
		t.Errorf("answered for an address that is not ours any more: %x", b)
	}
	r.dev.Send(arpFor(at4.Addr())[:41]) // cut off
	r.turn()
	if n := r.totals().BadFrames; n != 1 {
		t.Errorf("%d bad frames", n)
	}
}

func TestNeighbor(t *testing.T) {
	r := newRig(t)
	r.listen(web6, Virtual{Listen: at6})
	r.dev.Take()
	for a, ours := range map[string]bool{
		"2001:db8::100": true, "2001:db8::1": true, "2001:db8::101": false,
	} {
		b := r.ask(a, solicit(netip.MustParseAddr(a)), ours)
		if b == nil {
			continue
		}
		m, ok := frame.ParseNeighbor(b)
		if !ok || !m.Advert || m.Link != ether.Own || netip.AddrFrom16(m.Target).String() != a || frame.MAC(b[:6]) != asker {
			t.Errorf("%s: answered with %+v", a, m)
		}
	}
	b := solicit(at6.Addr())
	b[len(b)-1] ^= 1
	r.dev.Send(b)
	r.turn()
	if b := r.sent(); b != nil {
		t.Errorf("answered who asked with a wrong checksum: %x", b)
	}
}

// The link is told of all addresses at the start, of those that come, and again
// when the device is back.
func TestAnnounced(t *testing.T) {
	r := bareRig(t, 1)
	all := []netip.Addr{at4.Addr(), at6.Addr(), own4.Addr(), own6.Addr()}
	r.listen(web, Virtual{Listen: at4})
	r.listen(web6, Virtual{Listen: at6})
	r.pass(time.Second)
	for _, a := range all {
		if !announced(r, a) {
			t.Errorf("%v is not announced at the start", a)
		}
	}
	r.unread = nil
	r.pass(5 * time.Second)
	if b := r.dev.Take(); len(b) != 0 {
		t.Errorf("announced without need: %x", b)
	}
	for _, s := range []device.State{device.Down, device.Gone} {
		r.up(s)
		r.pass(2 * time.Second)
		if r.Gone() != (s == device.Gone) {
			t.Errorf("%v, and Gone says %v", s, r.Gone())
		}
		if r.totals().DeviceUp {
			t.Errorf("%v, and totals say it is up", s)
		}
		r.up(device.Up)
		r.pass(2 * time.Second)
		for _, a := range all {
			if !announced(r, a) {
				t.Errorf("%v is not announced after %v", a, s)
			}
		}
		r.unread = nil
	}
}

// What is parked outlives the device.
func TestDeviceAway(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	c.syn()
	r.up(device.Gone)
	r.pass(2 * time.Second)
	r.want("arrived")
	r.up(device.Up)
	c.after(time.Second).syn()
	r.want()
	r.release(r.only(), r.now)
	c.connect()
	r.want("connected")
}

// Frames that are not for us, that are broken, or that nobody knows, are
// counted, and that is all.
func TestFramesPassedOver(t *testing.T) {
	r := newRig(t)
	syn := r.client(1).segment(frame.SYN, "")
	change := func(at int, with ...byte) []byte {
		b := bytes.Clone(syn)
		copy(b[at:], with)
		return b
	}
	foreign := [][]byte{
		change(0, 2, 9, 9, 9, 9, 9), // another's
		change(0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		change(12, 0x81, 0x00), change(12, 0x88, 0xcc), // VLAN, LLDP
	}
	bad := [][]byte{syn[:13], syn[:33], syn[:53], change(14, 0x46), change(17, 0xff), change(24, 9), change(6, 1)}
	for _, list := range [][][]byte{foreign, bad} {
		for _, b := range list {
			r.dev.Send(b)
		}
	}
	r.turn()
	r.want()
	if got := r.totals(); got.Foreign != uint64(len(foreign)) || got.BadFrames != uint64(len(bad)) {
		t.Errorf("foreign %d of %d, bad %d of %d", got.Foreign, len(foreign), got.BadFrames, len(bad))
	}
	r.dev.Send(append(syn, make([]byte, 3000)...)) // a SYN that nobody would send
	r.turn()
	if n := r.Len(); n != 0 {
		t.Errorf("%d records of a SYN of 3000 bytes", n)
	}
}

// fragmented cuts a frame's datagram in two.
func fragmented(b []byte) (first, second []byte) {
	const ip, head, cut = 14, 20, 24
	first = bytes.Clone(b[:ip+head+cut])
	second = append(bytes.Clone(b[:ip+head]), b[ip+head+cut:]...)
	for i, f := range [][]byte{first, second} {
		h := header.IPv4(f[ip:])
		h.SetTotalLength(uint16(len(f) - ip))
		h.SetID(7)
		if i == 0 {
			h.SetFlagsFragmentOffset(header.IPv4FlagMoreFragments, 0)
		} else {
			h.SetFlagsFragmentOffset(0, cut)
		}
		h.SetChecksum(0)
		h.SetChecksum(^h.CalculateChecksum())
	}
	return first, second
}

// Fragments of a connection are put together by netstack. With several loops
// they come to any of them, and none takes them.
func TestFragments(t *testing.T) {
	r := newRig(t)
	r.decide = func(uint32) decision { return toRelease }
	c := r.client(1)
	c.syn()
	conn := c.connect()
	first, second := fragmented(c.segment(frame.ACK|frame.PSH, "in two pieces"))
	r.dev.Send(second)
	r.dev.Send(first)
	b := make([]byte, 99)
	r.until("data", func() bool {
		n, e := r.Conns().Recv(conn, b)
		return e == 0 && string(b[:n]) == "in two pieces"
	})

	many := bareRig(t, 2)
	many.listen(web, Virtual{Listen: at4})
	for _, b := range [][]byte{first, second} {
		many.dev.Send(b)
	}
	many.turn()
	if n := many.totals().Fragments; n != 2 {
		t.Errorf("%d fragments", n)
	}
}

// Pings to our addresses are answered.
func TestPing(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	for _, to := range []netip.Addr{at4.Addr(), own4.Addr()} {
		c.f.Dst = to.As16()
		b := c.segment(frame.SYN, "")[:14+20+8]
		icmp := header.ICMPv4(b[34:])
		clear(icmp)
		icmp.SetType(header.ICMPv4Echo)
		icmp.SetChecksum(header.ICMPv4Checksum(icmp, 0))
		ip := header.IPv4(b[14:])
		ip.SetTotalLength(28)
		b[23] = 1
		ip.SetChecksum(0)
		ip.SetChecksum(^ip.CalculateChecksum())
		r.dev.Send(b)
		var got []byte
		r.until("a pong", func() bool { got = r.sent(); return got != nil })
		if h := header.ICMPv4(got[34:]); h.Type() != header.ICMPv4EchoReply || frame.MAC(got[:6]) != ether.Router {
			t.Errorf("%v: %x", to, got)
		}
	}
}

// Answers go to where the client's frames came from, whatever router that was.
func TestLastHop(t *testing.T) {
	r := newRig(t)
	a, b := r.client(1), r.client(2)
	b.f.SrcMAC, b.f.Src = asker, netip.MustParseAddr("198.19.0.1").As16()
	for _, c := range []*client{a, b} {
		c.syn()
	}
	r.want("arrived", "arrived")
	for i := range r.records {
		r.release(i, r.now)
	}
	for _, c := range []*client{a, b} {
		if _, f := c.next(); frame.MAC(f[:6]) != c.f.SrcMAC {
			t.Errorf("answered to %v, came from %v", frame.MAC(f[:6]), c.f.SrcMAC)
		}
	}
	// It is another router by the time that its SYN comes again.
	c := r.client(3)
	c.syn()
	c.f.SrcMAC = asker
	c.after(time.Second).syn()
	r.want("arrived")
	for i, s := range r.records {
		if s == Parked {
			r.refuse(i)
		}
	}
	if _, f := c.next(); frame.MAC(f[:6]) != asker {
		t.Errorf("refused to %v", frame.MAC(f[:6]))
	}
}
