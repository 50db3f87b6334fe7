package rewrite

import (
	"bytes"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"

	"penstock/stack/tap/frame"
)

// said is an ICMP message that a test writes: from whom to whom, and the first
// eight bytes of it without the checksum.
type said struct {
	srcMAC, dstMAC frame.MAC
	src, dst       frame.Addr
	kind, code     byte
	rest           uint32
}

// message writes it as gVisor's package does.
func (s *said) message(body []byte) []byte {
	n, six := icmpSize+len(body), !frame.Is4(&s.src)
	eth := header.EthernetFields{SrcAddr: tcpip.LinkAddress(s.srcMAC[:]), DstAddr: tcpip.LinkAddress(s.dstMAC[:])}
	b := make([]byte, etherSize+ip4Size+n)
	eth.Type = header.IPv4ProtocolNumber
	if six {
		b = make([]byte, etherSize+ip6Size+n)
		eth.Type = header.IPv6ProtocolNumber
		header.IPv6(b[etherSize:]).Encode(&header.IPv6Fields{PayloadLength: uint16(n), TransportProtocol: header.ICMPv6ProtocolNumber,
			HopLimit: 60, SrcAddr: netstack(s.src), DstAddr: netstack(s.dst)})
	} else {
		header.IPv4(b[etherSize:]).Encode(&header.IPv4Fields{TotalLength: uint16(ip4Size + n), ID: 77, TTL: 60,
			Protocol: uint8(header.ICMPv4ProtocolNumber), SrcAddr: netstack(s.src), DstAddr: netstack(s.dst)})
	}
	header.Ethernet(b).Encode(&eth)
	m := b[len(b)-n:]
	m[0], m[1] = s.kind, s.code
	be.PutUint32(m[4:], s.rest)
	copy(m[icmpSize:], body)
	resumICMP(b)
	return b
}

// resumICMP computes the checksums of an ICMP frame anew, by gVisor.
func resumICMP(b []byte) {
	if header.Ethernet(b).Type() == header.IPv4ProtocolNumber {
		ip := header.IPv4(b[etherSize:])
		ip.SetChecksum(0)
		ip.SetChecksum(^ip.CalculateChecksum())
		m := header.ICMPv4(ip.Payload())
		m.SetChecksum(0)
		m.SetChecksum(header.ICMPv4Checksum(m, 0))
		return
	}
	ip := header.IPv6(b[etherSize:])
	m := header.ICMPv6(ip.Payload())
	m.SetChecksum(0)
	m.SetChecksum(header.ICMPv6Checksum(header.ICMPv6ChecksumParams{
		Header: m, Src: ip.SourceAddress(), Dst: ip.DestinationAddress()}))
}

// icmpOK lets gVisor verify an ICMP frame.
func icmpOK(b []byte) bool {
	c := bytes.Clone(b)
	resumICMP(c)
	if header.Ethernet(b).Type() == header.IPv4ProtocolNumber {
		ip := header.IPv4(b[etherSize:])
		return ip.IsValid(len(ip)) && ip.IsChecksumValid() && checksum.Checksum(ip.Payload(), 0) == 0xffff
	}
	ip := header.IPv6(b[etherSize:])
	return ip.IsValid(len(ip)) && bytes.Equal(b, c)
}

// unreachable is a server's answer to the segment that begins with this quote:
// nobody listens there.
func (w *path) unreachable() *said {
	s := &said{srcMAC: w.out.DstMAC, dstMAC: own, src: w.out.Dst, dst: w.out.Src, kind: unreachable4, code: 3}
	if !frame.Is4(&s.src) {
		s.kind, s.code = unreachable6, 4
	}
	return s
}

// quote is the datagram of a frame, cut off behind so many bytes of TCP.
func quote(b []byte, n int) []byte { return b[etherSize : parse(b).L4+n] }

// segment is a segment of a flow with some number.
func segment(f frame.Flow, seq uint32) []byte {
	return frame.AppendTCP(nil, &f, &frame.Header{Seq: seq, Ack: 5, Flags: frame.ACK, Window: 9}, []byte("payload"))
}
