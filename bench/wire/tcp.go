package wire

import (
	"encoding/binary"
	"net/netip"
)

// Flags of a TCP header.
const (
	FIN = 1 << iota
	SYN
	RST
	PSH
	ACK
)

// Flow is an end of a connection over IPv4.
type Flow struct {
	IP   uint32
	Port uint16
}

// FlowOf is of an IPv4 address.
func FlowOf(ap netip.AddrPort) Flow {
	a := ap.Addr().As4()
	return Flow{binary.BigEndian.Uint32(a[:]), ap.Port()}
}

// AddrPort is the other way round.
func (f Flow) AddrPort() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, f.IP))), f.Port)
}

const (
	ipSize   = 20
	tcpSize  = 20
	atIP     = HeaderSize
	atTCP    = atIP + ipSize
	tsSize   = 12 // the timestamp option, with what fills it up
	protocol = 6

	// SYNSize is that of the frame of a SYN, or of a SYN-ACK.
	SYNSize = atTCP + tcpSize + len(synOptions)
)

// synOptions are those of Linux, in its order: MSS 1460, SACK permitted,
// timestamp, nothing, window scale 7.
var synOptions = [20]byte{2, 4, 1460 >> 8, 1460 & 0xff, 4, 2, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 3, 7}

// Scribe writes frames from one Ethernet address to another.
type Scribe struct{ ethernet [HeaderSize]byte }

// NewScribe makes one.
func NewScribe(own, to MAC) *Scribe {
	s := new(Scribe)
	copy(s.ethernet[:], to[:])
	copy(s.ethernet[6:], own[:])
	binary.BigEndian.PutUint16(s.ethernet[12:], typeIPv4)
	return s
}

// Segment is what goes into a TCP segment.
type Segment struct {
	From, To Flow
	Seq, Ack uint32
	Flags    byte
	Window   uint16

	// Stamped is with a timestamp option. One with SYN has it always, among
	// others.
	Stamped     bool
	Stamp, Echo uint32
}

// Size is of the frame without payload.
func (g *Segment) Size() int {
	switch {
	case g.Flags&SYN != 0:
		return SYNSize
	case g.Stamped:
		return atTCP + tcpSize + tsSize
	}
	return atTCP + tcpSize
}

// Write fills b, which is of the segment's size and the payload's. The payload
// is there already.
func (s *Scribe) Write(b []byte, g *Segment) {
	copy(b, s.ethernet[:])
	order := binary.BigEndian
	ip, tcp := b[atIP:atTCP], b[atTCP:]
	order.PutUint64(ip, 0x4500<<48|uint64(len(b)-atIP)<<32|0x4000) // number 0, not to be fragmented
	order.PutUint32(ip[8:], 64<<24|protocol<<16)
	order.PutUint32(ip[12:], g.From.IP)
	order.PutUint32(ip[16:], g.To.IP)
	order.PutUint16(ip[10:], ^fold(sum(ip)))

	order.PutUint32(tcp, uint32(g.From.Port)<<16|uint32(g.To.Port))
	order.PutUint32(tcp[4:], g.Seq)
	order.PutUint32(tcp[8:], g.Ack)
	head := g.Size() - atTCP
	order.PutUint32(tcp[12:], uint32(head/4)<<28|uint32(g.Flags)<<16|uint32(g.Window))
	order.PutUint32(tcp[16:], 0)
	g.options(tcp[tcpSize:head])
	order.PutUint16(tcp[16:], ^fold(sum(tcp)+uint64(g.From.IP)+uint64(g.To.IP)+protocol+uint64(len(tcp))))
}

func (g *Segment) options(b []byte) {
	order := binary.BigEndian
	switch len(b) {
	case len(synOptions):
		copy(b, synOptions[:])
		order.PutUint32(b[8:], g.Stamp)
		order.PutUint32(b[12:], g.Echo)
	case tsSize:
		order.PutUint32(b, 1<<24|1<<16|8<<8|10)
		order.PutUint32(b[4:], g.Stamp)
		order.PutUint32(b[8:], g.Echo)
	}
}

// sum adds up 32-bit words, the last one filled up with zeros.
func sum(b []byte) (n uint64) {
	for ; len(b) >= 4; b = b[4:] {
		n += uint64(binary.BigEndian.Uint32(b))
	}
	var rest [4]byte
	copy(rest[:], b)
	return n + uint64(binary.BigEndian.Uint32(rest[:]))
}

// fold makes the Internet's 16-bit sum of it.
func fold(n uint64) uint16 {
	n = n>>32 + n&0xffffffff
	n = n>>32 + n&0xffffffff
	n = n>>16 + n&0xffff
	n = n>>16 + n&0xffff
	return uint16(n)
}

// Heard is a segment that came. Its checksums are not looked at: the kernel
// leaves them out on a local link.
type Heard struct {
	Sender   MAC
	From, To Flow
	Seq, Ack uint32
	Flags    byte
	Stamped  bool // has a timestamp
	Stamp    uint32
	Length   int    // of the payload
	Payload  []byte // as much of it as there is in the frame
}

// Read takes the frame of a segment over IPv4 without options apart.
func Read(b []byte) (h Heard, ok bool) {
	order := binary.BigEndian
	if len(b) < atTCP+tcpSize || order.Uint16(b[12:]) != typeIPv4 || b[atIP] != 0x45 || b[atIP+9] != protocol {
		return h, false
	}
	ip, tcp := b[atIP:], b[atTCP:]
	head := int(tcp[12]>>4) * 4
	h = Heard{
		Sender: MAC(b[6:]),
		From:   Flow{order.Uint32(ip[12:]), order.Uint16(tcp)},
		To:     Flow{order.Uint32(ip[16:]), order.Uint16(tcp[2:])},
		Seq:    order.Uint32(tcp[4:]), Ack: order.Uint32(tcp[8:]), Flags: tcp[13],
		Length: int(order.Uint16(ip[2:])) - ipSize - head,
	}
	if head < tcpSize || len(tcp) < head || h.Length < 0 {
		return h, false
	}
	h.Payload = tcp[head:min(len(tcp), head+h.Length)]
	h.Stamp, h.Stamped = timestamp(tcp[tcpSize:head])
	return h, true
}

// Sound says that the checksums of a whole frame that Read takes are right.
func Sound(b []byte) bool {
	ip, tcp := b[atIP:atTCP], b[atTCP:atIP+int(binary.BigEndian.Uint16(b[atIP+2:]))]
	return fold(sum(ip)) == 0xffff && fold(sum(tcp)+sum(ip[12:])+protocol+uint64(len(tcp))) == 0xffff
}

// timestamp finds that option.
func timestamp(options []byte) (value uint32, ok bool) {
	for len(options) > 0 {
		switch kind := options[0]; {
		case kind == 0:
			return 0, false
		case kind == 1:
			options = options[1:]
			continue
		case len(options) < 2 || options[1] < 2 || int(options[1]) > len(options):
			return 0, false
		case kind == 8 && options[1] == 10:
			return binary.BigEndian.Uint32(options[2:]), true
		}
		options = options[options[1]:]
	}
	return 0, false
}
