package frame

import (
	"fmt"
	"slices"

	"gvisor.dev/gvisor/pkg/tcpip/checksum"
)

// Header is what a TCP segment says that is not in its Flow.
type Header struct {
	Seq, Ack uint32
	Flags    uint8
	Window   uint16 // as it stands in the header: scaled down already

	// Options are written all with SYN, those that are set; without SYN only
	// the timestamps. Nil: none. Mind WS: -1 is none, 0 is a shift of zero.
	Options *Options
}

// hopLimit is what Linux and netstack send with.
const hopLimit = 64

// AppendTCP appends a whole frame. It panics if the payload does not fit into a
// datagram, which is the caller's mistake.
func AppendTCP(dst []byte, f *Flow, h *Header, payload []byte) []byte {
	var space [mostOptions]byte
	opts := space[:0]
	if h.Options != nil {
		opts = appendOptions(opts, h.Options, h.Flags&SYN != 0)
	}
	size := tcpSize + len(opts)
	dst, seg := appendIP(dst, f, size+len(payload), protoTCP, hopLimit)
	be.PutUint16(seg, f.SrcPort)
	be.PutUint16(seg[2:], f.DstPort)
	be.PutUint32(seg[4:], h.Seq)
	be.PutUint32(seg[8:], h.Ack)
	seg[12], seg[13] = byte(size/4)<<4, h.Flags
	be.PutUint16(seg[14:], h.Window)
	copy(seg[tcpSize:], opts)
	copy(seg[size:], payload)
	be.PutUint16(seg[16:], ^checksum.Checksum(seg, Pseudo(&f.Src, &f.Dst, len(seg))))
	return dst
}

// appendIP appends an Ethernet and an IP header and room for n bytes, zeroed,
// which it returns to be filled in.
func appendIP(dst []byte, f *Flow, n int, proto, hops uint8) (all, room []byte) {
	v4, head := Is4(&f.Src), ip6Size
	if v4 {
		head = ip4Size
	}
	if most := 0xffff; v4 && head+n > most || n > most {
		panic(fmt.Sprintf("frame: %d bytes do not fit into a datagram", n))
	}
	start := len(dst)
	size := etherSize + head + n
	all = slices.Grow(dst, size)[:start+size]
	b := all[start:]
	clear(b)
	putEther(b, f.SrcMAC, f.DstMAC, typeIP6)
	if v4 {
		be.PutUint16(b[12:], typeIP4)
		putIP4(b[etherSize:], f, ip4Size+n, proto, hops)
	} else {
		putIP6(b[etherSize:], f, n, proto, hops)
	}
	return all, b[etherSize+head:]
}

func putEther(b []byte, src, dst MAC, kind uint16) {
	copy(b, dst[:])
	copy(b[6:], src[:])
	be.PutUint16(b[12:], kind)
}

// putIP4 writes no identification: with "don't fragment" it has no meaning (RFC 6864).
func putIP4(h []byte, f *Flow, total int, proto, hops uint8) {
	const dontFragment = 0x4000
	h[0] = 4<<4 | ip4Size/4
	be.PutUint16(h[2:], uint16(total))
	be.PutUint16(h[6:], dontFragment)
	h[8], h[9] = hops, proto
	copy(h[12:], f.Src[12:])
	copy(h[16:], f.Dst[12:])
	be.PutUint16(h[10:], ^checksum.Checksum(h[:ip4Size], 0))
}

func putIP6(h []byte, f *Flow, n int, proto, hops uint8) {
	h[0] = 6 << 4
	be.PutUint16(h[4:], uint16(n))
	h[6], h[7] = proto, hops
	copy(h[8:], f.Src[:])
	copy(h[24:], f.Dst[:])
}

// AppendReset appends the reset with which a closed port answers a segment (RFC
// 9293 3.10.7.1): its number is what the sender expects next, or, if it
// acknowledged nothing, it acknowledges all of the segment. A reset is never
// answered: then dst comes back as it was.
func AppendReset(dst []byte, p *Packet, own MAC) []byte {
	if p.Flags&RST != 0 {
		return dst
	}
	h := Header{Ack: p.Seq + p.Len(), Flags: RST | ACK}
	if p.Flags&ACK != 0 {
		h = Header{Seq: p.Ack, Flags: RST}
	}
	f := p.Reply(own)
	return AppendTCP(dst, &f, &h, nil)
}
