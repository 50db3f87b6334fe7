package rewrite

import "penstock/stack/tap/frame"

// Error is an ICMP error about a TCP segment, as it stands in a frame.
type Error struct {
	// Of the quoted segment. Anybody can send an error: what it says counts only
	// if there is such a flow and its sender has the number on its way (RFC 5927 4.1).
	Src, Dst         frame.Addr
	SrcPort, DstPort uint16
	Seq              uint32

	V6         bool
	Type, Code uint8  // as they stand there
	rest       uint32 // behind the checksum: an MTU, or a place, or nothing

	// Offsets into the frame: the quoted IP header, and the quoted TCP header, of
	// which there are at least eight bytes.
	ip, tcp int
}

// ParseError reads an ICMP error about a TCP segment: that something can't be
// reached, that a datagram is too big, has gone too far or is not understood. b is
// the whole frame and p what Parse said of it. It is ok if the message is whole
// with a right checksum, was sent to whom the quoted segment came from, and quotes
// a plain IP header and the first eight bytes of TCP, which is all that many do.
//
// The quoted checksums are not looked at: that of IP was left wrong by routers
// that had counted down the hops before, and TCP's is mostly of a segment that is
// cut off (RFC 5508 REQ-3c).
func ParseError(b []byte, p *frame.Packet) (e Error, ok bool) {
	if !message(b, p) {
		return e, false
	}
	m := b[p.L4:p.End]
	e.V6, e.Type, e.Code, e.rest = p.V6, m[0], m[1], be.Uint32(m[4:])
	if !e.known() || !e.quoted(b[:p.End], p.L4+icmpSize) || e.Src != p.Dst {
		return e, false
	}
	t := b[e.tcp:]
	e.SrcPort, e.DstPort, e.Seq = be.Uint16(t), be.Uint16(t[2:]), be.Uint32(t[4:])
	return e, sumOK(b, p)
}

// known tells errors that are passed on from queries, redirects and the rest.
func (e *Error) known() bool {
	if e.V6 {
		return e.Type >= unreachable6 && e.Type <= problem6
	}
	const mostCode = 15 // RFC 1812 5.2.7.1
	return e.Type == unreachable4 && e.Code <= mostCode || e.Type == exceeded4 || e.Type == problem4
}

// quoted finds the segment in the quote, which begins at an offset into the frame.
// We forward nothing with IPv4 options or extension headers, nor with addresses
// of one family in the form of the other, so that a quote of such is not ours. A
// piece of a segment is one if it is the first.
func (e *Error) quoted(b []byte, at int) bool {
	const ports, offset = 8, 0x1fff
	q := b[at:]
	if e.V6 {
		if len(q) < ip6Size+ports || q[0]>>4 != 6 || q[6] != protoTCP {
			return false
		}
		e.Src, e.Dst = frame.Addr(q[8:24]), frame.Addr(q[24:40])
		e.ip, e.tcp = at, at+ip6Size
		return !frame.Is4(&e.Src) && !frame.Is4(&e.Dst)
	}
	if len(q) < ip4Size+ports || q[0] != 4<<4|ip4Size/4 || q[9] != protoTCP || be.Uint16(q[6:])&offset != 0 {
		return false
	}
	e.Src, e.Dst = mapped(q[12:16]), mapped(q[16:20])
	e.ip, e.tcp = at, at+ip4Size
	return true
}

func mapped(b []byte) frame.Addr {
	return frame.Addr{10: 0xff, 11: 0xff, 12: b[0], 13: b[1], 14: b[2], 15: b[3]}
}

// Hard says that who the segment went to can't be reached now, so that a handshake
// may as well be tried with another one. Unlike RFC 1122 4.2.3.9, which is about
// connections, it counts a net or host that is unreachable (RFC 5461 4.1); for a
// connection that is established nothing of it need be the end. That a datagram
// was too big or took too long is no such thing.
func (e *Error) Hard() bool {
	if e.V6 {
		const nextHeader = 1 // nobody there knows TCP
		return e.Type == unreachable6 || e.Type == problem6 && e.Code == nextHeader
	}
	return e.Type == unreachable4 && e.Code != needFragment
}

// MTU is how long a datagram may be at most on the way that the quoted one took
// (RFC 1191, RFC 8201); ok if the error says that it was too big. Zero: it does
// not say how big it may be, as routers before RFC 1191 did not.
func (e *Error) MTU() (mtu int, ok bool) {
	if e.V6 {
		return int(e.rest), e.Type == tooBig6
	}
	return int(e.rest & 0xffff), e.Type == unreachable4 && e.Code == needFragment
}
