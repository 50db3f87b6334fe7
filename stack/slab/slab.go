// Package slab keeps records of one kind in few large allocations and names
// them by small integers.
//
// A record has no pointers, so the garbage collector does not look into the
// chunks, however many records there are. Chunks never move: a *T from At is
// good until its record is freed. Memory follows the most records that were
// in use at once. Not safe for concurrent use: a slab belongs to one loop.
package slab

const chunkLen = 512

// Slab holds records of type T. The zero value is empty and ready.
type Slab[T any] struct {
	chunks []*[chunkLen]T
	used   uint32
	idle   []uint32
}

// Alloc returns the index of a zeroed record. Indices start at 1, so that 0
// can mean none.
func (s *Slab[T]) Alloc() uint32 {
	if n := len(s.idle); n > 0 {
		i := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return i
	}
	if s.used%chunkLen == 0 {
		s.chunks = append(s.chunks, new([chunkLen]T))
	}
	s.used++
	return s.used
}

// At returns record i, which must be in use.
func (s *Slab[T]) At(i uint32) *T {
	i--
	return &s.chunks[i/chunkLen][i%chunkLen]
}

// Free zeroes record i; its index may be given out again.
func (s *Slab[T]) Free(i uint32) {
	var zero T
	*s.At(i) = zero
	s.idle = append(s.idle, i)
}

// Cap returns one more than the highest index that was ever in use.
func (s *Slab[T]) Cap() uint32 { return s.used + 1 }

// Len returns how many records are in use.
func (s *Slab[T]) Len() int { return int(s.used) - len(s.idle) }
