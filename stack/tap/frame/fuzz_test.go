package frame

import (
	"bytes"
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"
)

func addSeeds(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b)
	}
}

// FuzzParse: whatever the bytes, offsets lie in order inside the frame, gVisor's
// parser agrees on what is sound, and all that takes a parsed frame takes it.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)[:len(b):len(b)] // reading behind it is a panic
		var p, head Packet
		k := p.Parse(b, own)
		if head.ParseHead(b[:min(len(b), Head)], len(b), own); head != p {
			t.Fatalf("%+v, and by its head %+v", p, head)
		}
		judge(t, b, k, &p)
		switch k {
		case TCP:
			judgeSegment(t, b, &p)
		case Other, Neighbor:
			if p.L4 < etherSize+ip4Size || p.L4 > p.End || p.End > len(b) {
				t.Fatalf("offsets: %+v in %d bytes", p, len(b))
			}
		}
		ParseARP(b)
		ParseNeighbor(b)
	})
}

// judge asks gVisor whether the IP header is sound, and compares.
func judge(t *testing.T, b []byte, k Kind, p *Packet) {
	if len(b) < etherSize || k == Foreign || MAC(b[6:12]).Group() || MAC(b[6:12]) == (MAC{}) {
		return
	}
	ip := b[etherSize:]
	var sound, plain, strange bool
	switch be.Uint16(b[12:]) {
	case typeIP4:
		h := header.IPv4(ip)
		sound = h.IsValid(len(ip)) && h.IsChecksumValid()
		if sound {
			src, dst := h.SourceAddress(), h.DestinationAddress()
			strange = header.IsV4MulticastAddress(src) || src == header.IPv4Broadcast ||
				header.IsV4LoopbackAddress(src) || header.IsV4LoopbackAddress(dst)
			plain = h.HeaderLength() == ip4Size && !h.More() && h.FragmentOffset() == 0 && h.Protocol() == protoTCP
			strange = strange || plain && src.As4()[0] == 0
		}
	case typeIP6:
		h := header.IPv6(ip)
		sound = h.IsValid(len(ip))
		if sound {
			src, dst := h.SourceAddress(), h.DestinationAddress()
			for _, a := range []tcpip.Address{src, dst} {
				strange = strange || header.IsV4MappedAddress(a) || header.IsV6LoopbackAddress(a)
			}
			plain = h.NextHeader() == protoTCP
			strange = strange || header.IsV6MulticastAddress(src) || plain && src == header.IPv6Any
		}
	default:
		return
	}
	switch {
	case k == Bad && sound && !strange && !plain && !(p.V6 && b[etherSize+6] == protoICMPv6):
		t.Fatalf("bad, and gVisor finds nothing wrong: %x", b)
	case k != Bad && (!sound || strange):
		t.Fatalf("%v, and gVisor finds it wrong: %x", k, b)
	case k == TCP != plain && k != Bad:
		t.Fatalf("%v, but plain is %v: %x", k, plain, b)
	}
}

// judgeSegment compares with what gVisor reads of a TCP segment.
func judgeSegment(t *testing.T, b []byte, p *Packet) {
	if p.Data < p.L4+tcpSize || p.Data > p.End || p.End > len(b) || Is4(&p.Src) == p.V6 || Is4(&p.Dst) == p.V6 {
		t.Fatalf("offsets: %+v in %d bytes", p, len(b))
	}
	seg := header.TCP(b[p.L4:p.End])
	rest := seg.Payload()
	ok := seg.IsChecksumValid(netstack(p.Src), netstack(p.Dst), checksum.Checksum(rest, 0), uint16(len(rest)))
	if ok != p.ChecksumOK(b) || ok != p.ChecksumSplit(b[:p.Data], b[p.Data:]) {
		t.Fatalf("gVisor says the checksum is %v: %x", ok, b)
	}
	if p.Seq != seg.SequenceNumber() || p.Ack != seg.AckNumber() || p.Flags != uint8(seg.Flags()) || p.Window != seg.WindowSize() ||
		p.SrcPort != seg.SourcePort() || p.DstPort != seg.DestinationPort() || p.Data-p.L4 != int(seg.DataOffset()) {
		t.Fatalf("gVisor reads otherwise: %+v", p)
	}
	compareOptions(t, p.Options(b), seg.Options(), p.Flags)
	if r := AppendReset(nil, p, own); p.Flags&RST == 0 {
		var q Packet
		if q.Parse(r, p.From) != TCP || !q.ChecksumOK(r) {
			t.Fatalf("the reset is not sound: %x", r)
		}
	}
}

// compareOptions: gVisor stops at an option of a wrong length where we go on,
// and so does not see more than we do.
func compareOptions(t *testing.T, o Options, list []byte, flags uint8) {
	g := header.ParseSynOptions(list, true)
	if g.TS && !o.TS || o.WS < -1 || o.WS > mostWS {
		t.Fatalf("%+v, gVisor %+v: % x", o, g, list)
	}
	if flags&SYN == 0 {
		if o.MSS != 0 || o.WS != -1 || o.SACK {
			t.Fatalf("without SYN %+v: % x", o, list)
		}
		return
	}
	if g.SACKPermitted && !o.SACK || g.WS >= 0 && o.WS < 0 {
		t.Fatalf("%+v, gVisor %+v: % x", o, g, list)
	}
}

// FuzzOptions: any list in a header is read without harm, and what was read and
// is written again is read as the same.
func FuzzOptions(f *testing.F) {
	for _, l := range lists {
		f.Add(l, true)
		f.Add(l, false)
	}
	f.Fuzz(func(t *testing.T, list []byte, isSyn bool) {
		list = list[:min(len(list), 40)&^3]
		flags := uint8(ACK)
		if isSyn {
			flags = SYN
		}
		b := raw(flow4, flags, list)
		b = b[:len(b):len(b)]
		o := options(b)
		compareOptions(t, o, list, flags)
		again := AppendTCP(nil, &flow6, &Header{Flags: flags, Options: &o}, nil)
		if got := options(again); got != o {
			t.Fatalf("%+v was written and read as %+v", o, got)
		}
	})
}

// FuzzARP: what is taken is what gVisor takes, and the answer is sound.
func FuzzARP(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := ParseARP(b)
		if !ok {
			return
		}
		m := header.ARP(b[etherSize:])
		if !m.IsValid() || uint16(m.Op()) != a.Op || MAC(m.HardwareAddressSender()) != a.Sender ||
			!bytes.Equal(m.ProtocolAddressTarget(), a.TargetIP[12:]) || !Is4(&a.SenderIP) || !Is4(&a.TargetIP) {
			t.Fatalf("gVisor reads %x otherwise than %+v", b, a)
		}
		r, ok := ParseARP(AppendARPReply(nil, &a, own))
		if a.TargetIP[12] < 224 && a.TargetIP[12] != 127 &&
			(!ok || r != (ARPMessage{ARPReply, own, a.Sender, a.TargetIP, a.SenderIP})) {
			t.Fatalf("%+v is answered by %+v", a, r)
		}
	})
}

// FuzzNeighbor: what is taken has a checksum and options that gVisor takes too,
// and is a Neighbor for Parse; the answer is sound.
func FuzzNeighbor(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)[:len(b):len(b)]
		if len(b) >= etherSize+ip6Size+neighborSize {
			ip := header.IPv6(b[etherSize:])
			if ip.IsValid(len(ip)) && ip.PayloadLength() >= neighborSize {
				resum6(b) // or the fuzzer would never get behind it
			}
		}
		n, ok := ParseNeighbor(b)
		if !ok {
			return
		}
		ip := header.IPv6(b[etherSize:])
		icmp := header.ICMPv6(ip.Payload())
		list := header.NDPNeighborSolicit(icmp.MessageBody()).Options()
		it, err := list.Iter(false)
		if err != nil || icmp.Checksum() != header.ICMPv6Checksum(header.ICMPv6ChecksumParams{
			Header: icmp, Src: ip.SourceAddress(), Dst: ip.DestinationAddress()}) {
			t.Fatalf("gVisor does not take %x: %v", b, err)
		}
		for {
			_, done, err := it.Next()
			if done || err != nil {
				break
			}
		}
		var p Packet
		if k := p.Parse(b, MAC(b[:6])); k != Neighbor && k != Bad {
			t.Fatalf("%v: %x", k, b)
		}
		r, ok := ParseNeighbor(AppendAdvert(nil, &n, own))
		if !ok || !r.Advert || r.Target != n.Target || !r.HasLink || r.Link != own {
			t.Fatalf("%+v is answered by %+v", n, r)
		}
	})
}
