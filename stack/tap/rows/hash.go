package rows

import (
	"encoding/binary"
)

// Seeds make a hash of addresses that who doesn't know them can't foresee, and
// so can't choose addresses that meet in one chain.
type Seeds [3]uint64

// NewSeeds draws seeds out of one number, which should be random.
func NewSeeds(seed uint64) (s Seeds) {
	for i := range s {
		seed += 0x9e3779b97f4a7c15
		s[i] = Mix(seed)
	}
	return s
}

// Hash mixes an address, IPv4 in the mapped form (::ffff:a.b.c.d), with 32 bits
// that belong to it. Those and an IPv4 address are 64 bits, which are mixed in
// one go: different ones get different numbers, of which the lower half counts.
func (s *Seeds) Hash(a *[16]byte, rest uint32) uint32 {
	hi, lo := binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(a[8:])
	if hi == 0 && lo>>32 == 0xffff {
		return s.Hash4(uint32(lo), rest)
	}
	return uint32(Mix(Mix(Mix(hi^s[1])^lo^s[2]) ^ uint64(rest)))
}

// Hash4 is Hash for an IPv4 address as a number.
func (s *Seeds) Hash4(ip, rest uint32) uint32 {
	return uint32(Mix((uint64(ip)<<32 | uint64(rest)) ^ s[0]))
}

// Mix is the finalizer of SplitMix64 (variant 13 of D. Stafford, "Better Bit
// Mixing", 2011): a bijection in which each bit depends on all.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
