package rows

import (
	"math"
	"math/bits"
	"unsafe"
)

// Len is how many cells a row has. Of cells of 56 bytes they are 28 KiB, a size
// class of the allocator, and of 112 bytes seven of its pages: nothing is lost
// between them.
const Len = 512

// Never is when a cell is due that is not to be looked at.
const Never = int64(math.MaxInt64)

// Made is told of memory that was allocated: n bytes at an address. It may ask the
// kernel for large pages there, which make finding one record in a hundred
// megabytes cheaper. Nil: nobody wants to know.
type Made func(at, n uintptr)

func (f Made) of(p unsafe.Pointer, n uintptr) {
	if f != nil {
		f(uintptr(p), n)
	}
}

// Store keeps cells without pointers in rows that never move, and names them by
// numbers from 1. It is stack/slab with two differences: free cells are bits and
// not a list, so that the free ones with low numbers are used first and a walk
// skips them; and so rows get empty after a burst, and can be given back. The
// zero value is empty and ready.
type Store[T any] struct {
	// Made is called with the memory of each row that is made. Set before use.
	Made Made

	rows  []*[Len]T // nil: given back
	notes []*note   // of the same row
	room  []uint64  // a bit for each row that is there and has a free cell
	low   int       // there is none in the words of room before it

	used  int // cells
	empty int // rows that are there without a cell in use
	least int // the fewest of them since the last Trim
	bare  int // rows that were given back

	hand uint32 // the walk's: it has been at all cells up to this one
}

// note is what the store knows of a row.
type note struct {
	free [Len / 64]uint64
	used int
	due  int64 // no cell of the row is due before
}

// isFree says whether cell i, of this row, is not in use.
func (n *note) isFree(i uint32) bool {
	cell := (i - 1) % Len
	return n.free[cell/64]>>(cell%64)&1 != 0
}

// At returns cell i, which must be in use.
func (s *Store[T]) At(i uint32) *T {
	i--
	return &s.rows[i/Len][i%Len]
}

func (s *Store[T]) noteOf(i uint32) *note { return s.notes[(i-1)/Len] }

// Used returns how many cells are in use.
func (s *Store[T]) Used() int { return s.used }

// Alloc returns a zeroed cell of the lowest row that has one.
func (s *Store[T]) Alloc() uint32 {
	row := s.roomy()
	n := s.notes[row]
	word := 0
	for n.free[word] == 0 {
		word++
	}
	bit := bits.TrailingZeros64(n.free[word])
	n.free[word] &^= 1 << bit
	if n.used++; n.used == 1 {
		s.empty--
		s.least = min(s.least, s.empty)
	}
	if n.used == Len {
		s.room[row/64] &^= 1 << (row % 64)
	}
	s.used++
	return uint32(row*Len+word*64+bit) + 1
}

// Free zeroes cell i; its number may be given out again.
func (s *Store[T]) Free(i uint32) {
	var zero T
	*s.At(i) = zero
	row, cell := int(i-1)/Len, (i-1)%Len
	n := s.notes[row]
	n.free[cell/64] |= 1 << (cell % 64)
	if n.used--; n.used == 0 {
		s.empty++
	}
	s.setRoom(row)
	s.used--
}

func (s *Store[T]) setRoom(row int) {
	s.room[row/64] |= 1 << (row % 64)
	s.low = min(s.low, row/64)
}

// roomy returns the lowest row with a free cell.
func (s *Store[T]) roomy() int {
	for ; s.low < len(s.room); s.low++ {
		if b := s.room[s.low]; b != 0 {
			return s.low*64 + bits.TrailingZeros64(b)
		}
	}
	row := s.blank()
	s.rows[row] = new([Len]T)
	s.Made.of(unsafe.Pointer(s.rows[row]), unsafe.Sizeof(*s.rows[row]))
	s.empty++
	s.setRoom(row)
	return row
}

// blank returns a row that has no memory yet, or no more.
func (s *Store[T]) blank() int {
	if s.bare > 0 {
		for row, r := range s.rows {
			if r == nil {
				s.bare--
				return row
			}
		}
	}
	row := len(s.rows)
	n := &note{due: Never}
	for i := range n.free {
		n.free[i] = ^uint64(0)
	}
	s.rows, s.notes = append(s.rows, nil), append(s.notes, n)
	if row%64 == 0 {
		s.room = append(s.room, 0)
	}
	return row
}

// Trim gives back as many rows as were empty all the time since the last Trim,
// those with the highest numbers. One stays.
func (s *Store[T]) Trim() {
	for row := len(s.rows) - 1; row >= 0 && s.least > 1; row-- {
		if s.rows[row] != nil && s.notes[row].used == 0 {
			s.rows[row] = nil
			s.room[row/64] &^= 1 << (row % 64)
			s.empty, s.bare, s.least = s.empty-1, s.bare+1, s.least-1
		}
	}
	s.least = s.empty
}

// Next returns the first cell in use behind cell i; 0 if there is none.
func (s *Store[T]) Next(i uint32) uint32 {
	for row := int(i) / Len; row < len(s.rows); row++ {
		n := s.notes[row]
		for word := int(i) % Len / 64; n.used > 0 && word < len(n.free); word++ {
			if b := ^n.free[word] >> (i % 64); b != 0 {
				return uint32(row*Len+word*64) + i%64 + uint32(bits.TrailingZeros64(b)) + 1
			}
			i = 0
		}
		i = 0
	}
	return 0
}

// Bytes is the memory the store holds.
func (s *Store[T]) Bytes() int {
	const perRow = int(unsafe.Sizeof(note{})) + 2*8
	return (len(s.rows)-s.bare)*int(unsafe.Sizeof([Len]T{})) + len(s.rows)*perRow
}
