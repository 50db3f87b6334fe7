package rewrite

import (
	"bytes"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"pgregory.net/rapid"

	"penstock/stack/tap/frame"
)

// twin does what Segment should, slowly: gVisor writes the fields of a copy, and
// all checksums are computed anew.
func twin(b []byte, to *frame.Flow) []byte {
	b = bytes.Clone(b)
	eth := header.Ethernet(b)
	eth.Encode(&header.EthernetFields{SrcAddr: tcpip.LinkAddress(to.SrcMAC[:]), DstAddr: tcpip.LinkAddress(to.DstMAC[:]), Type: eth.Type()})
	if frame.Is4(&to.Src) {
		ip := header.IPv4(b[14:])
		ip.SetTTL(ip.TTL() - 1)
		ip.SetSourceAddress(netstack(to.Src))
		ip.SetDestinationAddress(netstack(to.Dst))
	} else {
		ip := header.IPv6(b[14:])
		ip.SetHopLimit(ip.HopLimit() - 1)
		ip.SetSourceAddress(netstack(to.Src))
		ip.SetDestinationAddress(netstack(to.Dst))
	}
	seg := tcp(b)
	seg.SetSourcePort(to.SrcPort)
	seg.SetDestinationPort(to.DstPort)
	resum(b)
	return b
}

// tcp is the TCP segment of a frame, without padding.
func tcp(b []byte) header.TCP {
	if header.Ethernet(b).Type() == header.IPv4ProtocolNumber {
		return header.TCP(header.IPv4(b[14:]).Payload())
	}
	return header.TCP(header.IPv6(b[14:]).Payload())
}

// resum computes the checksums of a TCP frame anew.
func resum(b []byte) {
	var n header.Network = header.IPv6(b[14:])
	if header.Ethernet(b).Type() == header.IPv4ProtocolNumber {
		ip := header.IPv4(b[14:])
		ip.SetChecksum(0)
		ip.SetChecksum(^ip.CalculateChecksum())
		n = ip
	}
	seg := header.TCP(n.Payload())
	seg.SetChecksum(0)
	seg.SetChecksum(^checksum.Checksum(seg, header.PseudoHeaderChecksum(
		header.TCPProtocolNumber, n.SourceAddress(), n.DestinationAddress(), uint16(len(seg)))))
}

// anyFlow draws where a segment comes from and goes to.
func anyFlow(t *rapid.T, six bool, name string) (f frame.Flow) {
	word := rapid.OneOf(rapid.SampledFrom([]uint16{0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff}), rapid.Uint16())
	copy(f.SrcMAC[:], rapid.SliceOfN(rapid.Byte(), 6, 6).Draw(t, name+" from"))
	copy(f.DstMAC[:], rapid.SliceOfN(rapid.Byte(), 6, 6).Draw(t, name+" to"))
	f.SrcMAC[0], f.DstMAC[0] = 2, 2
	f.SrcPort, f.DstPort = word.Draw(t, name+" from"), word.Draw(t, name+" to")
	f.Src, f.Dst = anyAddr(t, six, name+" src"), anyAddr(t, six, name+" dst")
	return f
}

// anyAddr draws an address that frame takes: its first byte says that it is one host's.
func anyAddr(t *rapid.T, six bool, name string) (a frame.Addr) {
	b := rapid.OneOf(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xfe, 0xff}), rapid.Byte())
	first, from := byte(10), 12
	a[10], a[11] = 0xff, 0xff
	if six {
		first, from = 0x20, 0
	}
	copy(a[from:], rapid.SliceOfN(b, 16-from, 16-from).Draw(t, name))
	a[from] = first
	return a
}

// anySegment draws a frame of a flow, its checksums right.
func anySegment(t *rapid.T, f *frame.Flow) []byte {
	o := frame.Options{MSS: rapid.Uint16().Draw(t, "mss"), WS: rapid.Int8Range(-1, 14).Draw(t, "ws"),
		SACK: rapid.Bool().Draw(t, "sack"), TS: rapid.Bool().Draw(t, "ts"), TSVal: rapid.Uint32().Draw(t, "tsval")}
	h := frame.Header{Seq: rapid.Uint32().Draw(t, "seq"), Ack: rapid.Uint32().Draw(t, "ack"),
		Flags: rapid.Byte().Draw(t, "flags"), Window: rapid.Uint16().Draw(t, "window"), Options: &o}
	b := frame.AppendTCP(nil, f, &h, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "payload"))
	ttl := rapid.ByteRange(2, 255).Draw(t, "ttl")
	if frame.Is4(&f.Src) {
		be.PutUint16(b[18:], rapid.Uint16().Draw(t, "id"))
		b[15], b[22] = rapid.Byte().Draw(t, "tos"), ttl
	} else {
		be.PutUint32(b[14:], 6<<28|rapid.Uint32Range(0, 1<<28-1).Draw(t, "class and label"))
		b[21] = ttl
	}
	be.PutUint16(b[parse(b).L4+18:], rapid.Uint16().Draw(t, "urgent"))
	resum(b)
	return append(b, rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "padding")...)
}
