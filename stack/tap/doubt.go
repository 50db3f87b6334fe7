package tap

import (
	"encoding/binary"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/rewrite"
	"penstock/stack/tap/shift"
)

// Netstack believes each ICMP error that names a connection, or a handshake, which it
// gives up then. It is shown those only by which segments get shorter.

// doubtful says whether the datagram at hand, which is no plain TCP, is an ICMP error
// that netstack is not to see: all but one that says that a segment was too big which
// is on its way (RFC 5927), and not less than what IP asks of all links. Nothing else
// would change what becomes of a connection (RFC 1122 4.2.3.9), but for the worse.
func (p *Port) doubtful(s *segment) bool {
	b, pkt := p.fwd.joined(s), &p.pkt
	if !complains(b[:min(len(b), pkt.End)], pkt) {
		return false
	}
	e, ok := rewrite.ParseError(b, pkt)
	mtu, big := e.MTU()
	if !ok || !big || mtu < leastMTU4 || pkt.V6 && mtu < leastMTU6 {
		return true
	}
	f := shift.Flow{Client: e.Dst, ClientPort: e.DstPort, Virtual: e.Src, VirtualPort: e.SrcPort}
	seq := e.Seq
	if before, ok := p.shift.Before(f, seq); ok {
		seq = before
	}
	return !p.net.InFlight(sys.Peer{Addr: e.Dst, Port: e.DstPort}, sys.Peer{Addr: e.Src, Port: e.SrcPort}, seq)
}

const (
	leastMTU4 = 68   // RFC 791
	leastMTU6 = 1280 // RFC 8200
)

// complains says whether a datagram is an ICMP error, wherever in it that begins. Of
// pieces it is the first one that is. What can't be told is taken for one.
func complains(b []byte, pkt *frame.Packet) bool {
	const (
		icmp4, unreachable4        = 1, 3
		icmp6, unreachable6, big6  = 58, 1, 2
		hops, routing, piece, dest = 0, 43, 44, 60
		ip6, size                  = 54, 8 // of an extension header, at least
	)
	if !pkt.V6 {
		first := binary.BigEndian.Uint16(b[20:])&0x1fff == 0
		return b[23] == icmp4 && first && (len(b) <= pkt.L4 || b[pkt.L4] == unreachable4)
	}
	for next, at := b[20], ip6; ; {
		if next != icmp6 && next != hops && next != routing && next != piece && next != dest {
			return false
		}
		if len(b) < at+size {
			return true
		}
		switch next {
		case icmp6:
			return b[at] == unreachable6 || b[at] == big6
		case piece:
			if binary.BigEndian.Uint16(b[at+2:])&^7 != 0 {
				return false
			}
			next, at = b[at], at+size
		default:
			next, at = b[at], at+size*(int(b[at+1])+1)
		}
	}
}
