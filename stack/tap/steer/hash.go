package steer

import (
	"encoding/binary"
	"fmt"

	"penstock/stack/tap/frame"
)

// Rule is which end of a connection a device chooses the queue by.
type Rule uint8

const (
	Source      Rule = iota // who sent the frame
	Destination             // whom it is for
	Both                    // the two together, in either order
)

// Hash says which queue a frame comes to. It is constant after New, so any
// goroutine may use it.
//
// An endpoint's value is a sum of its 32-bit words, each times a secret 64-bit
// number, of which the upper half counts: a strongly universal family
// (Dietzfelbinger's multiply-shift), so that who does not know the numbers can
// do no better than chance. One more multiplication breaks up the steps of
// consecutive ports, which a few of these numbers would keep together.
type Hash struct {
	queues uint32
	salt   uint64
	word   [4]uint64 // for each word of an address
	port   uint64
	last   uint64
}

// New makes a hash over queues, 1 to 65536. Hashes with the same seed agree;
// clients must not know it.
func New(seed uint64, queues int) *Hash {
	if queues < 1 || queues > 1<<16 {
		panic(fmt.Sprintf("steer: %d queues", queues))
	}
	h := &Hash{queues: uint32(queues)}
	for _, k := range []*uint64{&h.salt, &h.word[0], &h.word[1], &h.word[2], &h.word[3], &h.port, &h.last} {
		seed += 0x9e3779b97f4a7c15
		*k = mix(seed) | 1
	}
	return h
}

// mix is SplitMix64's.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Queues returns how many queues there are.
func (h *Hash) Queues() int { return int(h.queues) }

// Endpoint returns the value of an address and port, for Queue.
func (h *Hash) Endpoint(a *frame.Addr, port uint16) uint32 {
	s := h.salt + uint64(port)*h.port
	for i := range h.word {
		s += uint64(word(a, i)) * h.word[i]
	}
	return h.end(s)
}

// word returns 32 bits of an address in the machine's order, as a program of
// the kernel's loads them.
func word(a *frame.Addr, i int) uint32 { return binary.NativeEndian.Uint32(a[i*4:]) }

func (h *Hash) end(s uint64) uint32 {
	s ^= s >> 32
	return uint32(s * h.last >> 32)
}

// Queue returns the queue of a frame between two endpoints. Of rule Both it is
// the same for the frames of both directions.
func (h *Hash) Queue(rule Rule, src, dst uint32) int {
	switch rule {
	case Destination:
		src = dst
	case Both:
		src += dst
	}
	return int(uint64(src) * uint64(h.queues) >> 32)
}
