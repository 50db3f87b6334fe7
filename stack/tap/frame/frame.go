package frame

import (
	"encoding/binary"
	"net"
)

// Addr is an IP address, IPv4 in the mapped form (::ffff:a.b.c.d).
type Addr = [16]byte

// Is4 says whether a is an IPv4 address.
func Is4(a *Addr) bool {
	return binary.BigEndian.Uint64(a[:8]) == 0 && binary.BigEndian.Uint32(a[8:]) == 0xffff
}

// MAC is an Ethernet address.
type MAC [6]byte

// Group says whether m is a broadcast or multicast address.
func (m MAC) Group() bool { return m[0]&1 != 0 }

// Word is m as the lower 48 bits of a word, of which the others are free.
func (m MAC) Word() uint64 {
	return uint64(binary.LittleEndian.Uint32(m[:4])) | uint64(binary.LittleEndian.Uint16(m[4:]))<<32
}

// MACOf is the way back, whatever the others are.
func MACOf(word uint64) (m MAC) {
	binary.LittleEndian.PutUint32(m[:4], uint32(word))
	binary.LittleEndian.PutUint16(m[4:], uint16(word>>32))
	return m
}

// String is for people: 02:00:5e:10:00:01.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// Broadcast is everybody on the link.
var Broadcast = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// Kind is what Parse found a frame to be.
type Kind uint8

const (
	// Foreign is not for us: sent to another unicast address, as a bridge does
	// that does not know better, or TCP sent to a group, on the link or by IP. Skip it.
	Foreign Kind = iota
	// Bad is truncated, has lengths that contradict each other, a wrong IPv4
	// header checksum or addresses that nobody can have. Skip it, count it.
	Bad
	// Other is sound IP but not plain TCP: fragments, IPv4 options, IPv6
	// extension headers, ICMP, UDP. It is for netstack.
	Other
	// TCP is a whole TCP header right behind a plain IPv4 or IPv6 header.
	TCP
	// ARP is for ParseARP.
	ARP
	// Neighbor is a neighbour solicitation or advertisement, for ParseNeighbor.
	Neighbor
	// Unknown is another EtherType: VLAN, LLDP and the like. Skip it.
	Unknown
)

var kinds = [...]string{"foreign", "bad", "other", "tcp", "arp", "neighbor", "unknown"}

func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return "kind?"
}

// Flags of a TCP header.
const (
	FIN = 1 << iota
	SYN
	RST
	PSH
	ACK
	URG
	ECE
	CWR
)

// Packet is what a frame says, and where it says it. It has no pointers and does
// not refer to the frame; methods that need the frame take it again.
type Packet struct {
	Kind Kind
	V6   bool
	From MAC // Ethernet source; set unless the frame is Foreign or too short for it

	// Offsets into the frame: the header behind the IP header, the payload of
	// TCP (otherwise the same as L4), and the end of the IP datagram, behind
	// which there may be padding. Set for TCP, Other and Neighbor.
	L4, Data, End int
	Src, Dst      Addr // set for TCP, Other and Neighbor

	// Set for TCP only.
	SrcPort, DstPort uint16
	Seq, Ack         uint32
	Flags            uint8
	Window           uint16 // as in the header, not scaled
}

// Has says whether all of the given flags are set.
func (p *Packet) Has(flags uint8) bool { return p.Flags&flags == flags }

// Len is the segment's length in sequence numbers: SYN and FIN count as one each.
func (p *Packet) Len() uint32 {
	return uint32(p.End-p.Data) + uint32(p.Flags>>1&1) + uint32(p.Flags&1)
}

// Flow says where a segment goes: from and to which addresses. The family is
// Src's.
type Flow struct {
	SrcMAC, DstMAC   MAC
	Src, Dst         Addr
	SrcPort, DstPort uint16
}

// Reply is the flow back to where p came from; own is our address on the link.
func (p *Packet) Reply(own MAC) Flow {
	return Flow{
		SrcMAC: own, DstMAC: p.From,
		Src: p.Dst, Dst: p.Src,
		SrcPort: p.DstPort, DstPort: p.SrcPort,
	}
}

// Sizes of headers, and where the layers begin.
const (
	etherSize = 14
	ip4Size   = 20
	ip6Size   = 40
	tcpSize   = 20

	// Head is as many bytes of a frame as ParseHead ever needs to see, unless
	// the frame is shorter: Ethernet, IPv6, and TCP with all the options it may have.
	Head = etherSize + ip6Size + 60
)

// EtherTypes.
const (
	typeIP4 = 0x0800
	typeARP = 0x0806
	typeIP6 = 0x86dd
)

// Protocols of IP.
const (
	protoTCP    = 6
	protoICMPv6 = 58
)

var be = binary.BigEndian

func put4(a *Addr, b []byte) {
	be.PutUint64(a[8:], 0xffff<<32|uint64(be.Uint32(b)))
}
