package park

import "math/bits"

// sip is SipHash-2-4 (Aumasson and Bernstein, 2012) of whole words: who doesn't
// know the key can neither find out nor make a value that he wasn't shown.
func sip(key *[2]uint64, words ...uint64) uint64 {
	s := sipState{
		key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
		key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573,
	}
	for _, w := range words {
		s.take(w)
	}
	s.take(uint64(len(words)) * 8 << 56)
	s[2] ^= 0xff
	for range 4 {
		s.round()
	}
	return s[0] ^ s[1] ^ s[2] ^ s[3]
}

type sipState [4]uint64

func (s *sipState) take(w uint64) {
	s[3] ^= w
	s.round()
	s.round()
	s[0] ^= w
}

func (s *sipState) round() {
	a, b, c, d := s[0], s[1], s[2], s[3]
	a, c = a+b, c+d
	b, d = bits.RotateLeft64(b, 13)^a, bits.RotateLeft64(d, 16)^c
	a = bits.RotateLeft64(a, 32)
	c, a = c+b, a+d
	b, d = bits.RotateLeft64(b, 17)^c, bits.RotateLeft64(d, 21)^a
	s[0], s[1], s[2], s[3] = a, b, bits.RotateLeft64(c, 32), d
}
