package frame

import (
	"math/bits"

	"gvisor.dev/gvisor/pkg/tcpip/checksum"
)

// ChecksumOK verifies the checksum of a TCP segment, payload included. b is the
// whole frame. It has no meaning for a frame whose checksum was left to the
// device (NEEDS_CSUM): that one has only the pseudo header's sum in it.
func (p *Packet) ChecksumOK(b []byte) bool {
	return checksum.Checksum(b[p.L4:p.End], p.pseudo()) == 0xffff
}

// ChecksumSplit does the same for a frame that lies in two pieces, the first of
// which has all of the TCP header.
func (p *Packet) ChecksumSplit(a, b []byte) bool {
	if len(a) >= p.End {
		return p.ChecksumOK(a)
	}
	sum := checksum.Checksum(b[:p.End-len(a)], 0)
	if (len(a)-p.L4)&1 != 0 {
		sum = bits.ReverseBytes16(sum) // the second piece begins in the middle of a word
	}
	return checksum.Combine(checksum.Checksum(a[p.L4:], p.pseudo()), sum) == 0xffff
}

func (p *Packet) pseudo() uint16 { return Pseudo(&p.Src, &p.Dst, p.End-p.L4) }

// Pseudo is the sum of TCP's pseudo header for a segment of n bytes, header and
// payload. That is what stands in the checksum field of a segment whose checksum
// is left to the device.
func Pseudo(src, dst *Addr, n int) uint16 { return pseudo(src, dst, n, protoTCP) }

// pseudo relies on that ffff of a mapped address adds nothing: it is a zero of
// one's complement, and there are other bits in the sum, so that it never shows.
func pseudo(src, dst *Addr, n int, proto uint8) uint16 {
	return fold(half(src) + half(dst) + uint64(n) + uint64(proto))
}

// half adds up the words of an address without carry being lost.
func half(a *Addr) uint64 {
	x, y := be.Uint64(a[:8]), be.Uint64(a[8:])
	return x>>32 + x&0xffffffff + y>>32 + y&0xffffffff
}

// fold brings a sum of words down to 16 bits. It is zero only if sum is.
func fold(sum uint64) uint16 {
	sum = sum>>32 + sum&0xffffffff
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	return uint16(sum>>16 + sum)
}

// Delta is what changes of fields add to an Internet checksum (RFC 1624,
// equation 3). Collect the changes of a segment, then apply them at once:
//
//	var d frame.Delta
//	d.Swap32(oldSeq, newSeq)
//	put(d.Apply(get()))
//
// The result is bit for bit what computing it anew would give, as long as the
// checksum was computed and not made up; a wrong one stays wrong. In particular
// 0xffff never comes out: the sum of a real segment is never zero, since the
// pseudo header isn't. Zero means no change. One Delta takes billions of changes.
type Delta uint64

// Swap16 notes that a word at an even offset became another.
func (d *Delta) Swap16(old, new uint16) { *d += Delta(^old) + Delta(new) }

// Swap32 notes that four bytes at an even offset became others.
func (d *Delta) Swap32(old, new uint32) {
	*d += Delta(^old>>16) + Delta(^old&0xffff) + Delta(new>>16) + Delta(new&0xffff)
}

// SwapOdd32 is Swap32 for an odd offset, where TCP options may lie.
func (d *Delta) SwapOdd32(old, new uint32) {
	d.Swap32(bits.ReverseBytes32(old), bits.ReverseBytes32(new))
}

// SwapAddr notes that an address became another of the same family.
func (d *Delta) SwapAddr(old, new *Addr) {
	for i := 0; i < len(old); i += 4 {
		d.Swap32(be.Uint32(old[i:]), be.Uint32(new[i:]))
	}
}

// Apply is the checksum that takes the place of sum.
func (d Delta) Apply(sum uint16) uint16 { return ^fold(uint64(^sum) + uint64(d)) }

// ApplyPartial is the same for a field that has only the pseudo header's sum,
// which is not complemented; d has changes of the pseudo header only.
func (d Delta) ApplyPartial(sum uint16) uint16 { return fold(uint64(sum) + uint64(d)) }
