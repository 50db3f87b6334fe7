package rewrite

import (
	"encoding/binary"
	"math/bits"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// Where the fields of a plain TCP segment lie in its frame. Addresses and ports
// follow each other: source, destination, source port, destination port.
const (
	offTTL4   = 22
	offSum4   = 24
	offAddrs4 = 26
	offPorts4 = 34
	offTCP4   = 50 // checksum
	size4     = 54 // all headers, without options

	offHops6  = 21
	offAddrs6 = 22
	offPorts6 = 54
	offTCP6   = 70
	size6     = 74

	tcpSum = 16 // checksum, from the TCP header on
)

// The Internet checksum does not mind in which order the bytes of a word are, as
// long as it is the same for all of them (RFC 1071 2.B). So the hot path reads and
// writes words as the machine has them.
var le = binary.LittleEndian

// hop is the change of a word of which one byte, the first, was lowered by one: it
// is the same for all values but zero.
const hop = frame.Delta(0xffff - 1)

// Segment sends a plain TCP segment on its way: to's Ethernet addresses, addresses
// and ports take the place of its own, it has one hop less, and its checksums are
// corrected. b is the frame, or at least all of its headers; p is what Parse said
// of it, and says afterwards what the frame was: only its offsets still hold. p
// and to are of one family, and the segment is not Expired.
//
// h is what stands before the frame. If it leaves the checksum to the device it is
// made to name the place of TCP's: a guest on our bridge can write anything there,
// and with it over the addresses behind our back.
func Segment(b []byte, p *frame.Packet, h *device.VNet, to *frame.Flow) {
	if p.V6 {
		segment6((*[size6]byte)(b), h, to)
	} else {
		segment4((*[size4]byte)(b), h, to)
	}
}

func segment4(f *[size4]byte, h *device.VNet, to *frame.Flow) {
	*(*frame.MAC)(f[0:6]) = to.DstMAC
	*(*frame.MAC)(f[6:12]) = to.SrcMAC
	f[offTTL4]--

	was := le.Uint64(f[offAddrs4:])
	src, dst := le.Uint32(to.Src[12:]), le.Uint32(to.Dst[12:])
	le.PutUint64(f[offAddrs4:], uint64(dst)<<32|uint64(src))
	d := halves(^was) + frame.Delta(src) + frame.Delta(dst)
	le.PutUint16(f[offSum4:], (d + hop).Apply(le.Uint16(f[offSum4:])))

	d2 := swapPorts((*[4]byte)(f[offPorts4:]), to)
	if h.Flags&device.NeedsCsum != 0 {
		le.PutUint16(f[offTCP4:], d.ApplyPartial(le.Uint16(f[offTCP4:])))
		h.CsumStart, h.CsumOffset = offPorts4, tcpSum
		return
	}
	le.PutUint16(f[offTCP4:], (d + d2).Apply(le.Uint16(f[offTCP4:])))
}

func segment6(f *[size6]byte, h *device.VNet, to *frame.Flow) {
	*(*frame.MAC)(f[0:6]) = to.DstMAC
	*(*frame.MAC)(f[6:12]) = to.SrcMAC
	f[offHops6]--

	src, dst := (*frame.Addr)(f[offAddrs6:]), (*frame.Addr)(f[offAddrs6+16:])
	d := become(src, &to.Src) + become(dst, &to.Dst)
	*src, *dst = to.Src, to.Dst

	d2 := swapPorts((*[4]byte)(f[offPorts6:]), to)
	if h.Flags&device.NeedsCsum != 0 {
		le.PutUint16(f[offTCP6:], d.ApplyPartial(le.Uint16(f[offTCP6:])))
		h.CsumStart, h.CsumOffset = offPorts6, tcpSum
		return
	}
	le.PutUint16(f[offTCP6:], (d + d2).Apply(le.Uint16(f[offTCP6:])))
}

// halves is the sum of the two halves of x, which are words of the checksum as
// they are: 1<<16 is one, to it.
func halves(x uint64) frame.Delta { return frame.Delta(x>>32 + x&0xffffffff) }

// become is the change of an address that becomes another.
func become(old, new *frame.Addr) frame.Delta {
	return halves(^le.Uint64(old[:8])) + halves(^le.Uint64(old[8:])) +
		halves(le.Uint64(new[:8])) + halves(le.Uint64(new[8:]))
}

// swapPorts writes to's ports and returns what they change.
func swapPorts(f *[4]byte, to *frame.Flow) frame.Delta {
	was := le.Uint32(f[:])
	ports := bits.ReverseBytes32(uint32(to.SrcPort)<<16 | uint32(to.DstPort))
	le.PutUint32(f[:], ports)
	return frame.Delta(^was) + frame.Delta(ports)
}

// Expired says that a datagram may go no further: it would have no hop left. b is
// the frame, of kind TCP or Other.
func Expired(b []byte, p *frame.Packet) bool {
	if p.V6 {
		return b[offHops6] <= 1
	}
	return b[offTTL4] <= 1
}
