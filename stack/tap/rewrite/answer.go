package rewrite

import (
	"gvisor.dev/gvisor/pkg/tcpip/checksum"

	"penstock/stack/tap/frame"
)

// AppendEcho appends the answer to a ping, from the address that was pinged; own
// is our Ethernet address. If b is none that may be answered dst comes back as it
// was: it has a wrong checksum, came to a group or from nobody, or is a fragment.
// Whether the address is ours is for the caller to know.
func AppendEcho(dst, b []byte, p *frame.Packet, own frame.MAC) ([]byte, bool) {
	ask, answer, proto := byte(echo4), byte(reply4), uint8(protoICMP)
	if p.V6 {
		ask, answer, proto = echo6, reply6, protoICMP6
	}
	if !message(b, p) || b[p.L4] != ask || b[p.L4+1] != 0 || !host(&p.Src) || !host(&p.Dst) || !sumOK(b, p) {
		return dst, false
	}
	f := p.Reply(own)
	dst, m := frame.AppendDatagram(dst, &f, p.End-p.L4, proto)
	copy(m, b[p.L4:p.End])
	m[0] = answer
	// The sum has both addresses in it, or none: it is the type alone that changes.
	var d frame.Delta
	d.Swap16(uint16(ask)<<8, uint16(answer)<<8)
	correct(m[2:], d)
	return dst, true
}

// host says that an address may be one host's: neither a group's nor nobody's.
func host(a *frame.Addr) bool {
	if frame.Is4(a) {
		return a[12] != 0 && a[12] < 224
	}
	return a[0] != 0xff && *a != frame.Addr{}
}

// Most of a datagram that an error quotes: so much that the error has at most 576
// bytes (RFC 1812 4.3.2.3), or 1280 (RFC 4443 2.4c), and passes everywhere.
const (
	mostQuote4 = 576 - ip4Size - icmpSize
	mostQuote6 = 1280 - ip6Size - icmpSize
)

// AppendTooBig appends the error that tells the sender of b that its datagram is
// longer than mtu, the MTU of the way it would have to take. It comes from an
// address of ours of the same family, and quotes as much of b as is fit, which may
// be no more than the headers. b is a segment as it came, before Segment; about
// anything else nothing is said, and dst comes back as it was. The caller bounds
// how many there are in a second.
//
// A sender that does not forbid fragments is told so too: we cut nothing.
func AppendTooBig(dst, b []byte, p *frame.Packet, own frame.MAC, from frame.Addr, mtu int) []byte {
	if p.V6 {
		return appendError(dst, b, p, own, &from, tooBig6<<8, uint32(mtu))
	}
	return appendError(dst, b, p, own, &from, unreachable4<<8|needFragment, uint32(min(mtu, 0xffff)))
}

// AppendTimeExceeded appends the error that tells the sender of b that it came to
// no end within the hops it may take; see Expired. The rest is as for AppendTooBig.
func AppendTimeExceeded(dst, b []byte, p *frame.Packet, own frame.MAC, from frame.Addr) []byte {
	if p.V6 {
		return appendError(dst, b, p, own, &from, exceeded6<<8, 0)
	}
	return appendError(dst, b, p, own, &from, exceeded4<<8, 0)
}

// appendError appends an error of a type and code to the sender of a segment.
func appendError(dst, b []byte, p *frame.Packet, own frame.MAC, from *frame.Addr, what uint16, rest uint32) []byte {
	if p.Kind != frame.TCP {
		return dst
	}
	proto, most := uint8(protoICMP), mostQuote4
	if p.V6 {
		proto, most = protoICMP6, mostQuote6
	}
	quote := b[etherSize:min(len(b), p.End)]
	quote = quote[:min(len(quote), most)]
	f := frame.Flow{SrcMAC: own, DstMAC: p.From, Src: *from, Dst: p.Src}
	dst, m := frame.AppendDatagram(dst, &f, icmpSize+len(quote), proto)
	be.PutUint16(m, what)
	be.PutUint32(m[4:], rest)
	copy(m[icmpSize:], quote)
	be.PutUint16(m[2:], ^checksum.Checksum(m, icmpPseudo(from, &p.Src, len(m))))
	return dst
}
