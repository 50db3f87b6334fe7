package persist

import (
	"math/bits"
	"sync/atomic"
)

const (
	segmentLen = 1024 // slots of one allocation: 16 KiB, a size class of its own

	// A generation is full with 7 of 8 slots in use: a record that is there is
	// then found after 4.5 slots on average, one that isn't after 33 (Knuth,
	// The Art of Computer Programming, volume 3, 6.4), and slots are read in
	// the order of memory.
	fullOf, fullIn = 7, 8
)

// slot is one record. Its key is set once, from 0, and stays. Its word is 0
// until the first decision about the key in this generation, and never again.
type slot struct {
	key  atomic.Uint64 // hash of the source; 0: empty
	word atomic.Uint64 // a word
}

type segment [segmentLen]slot

// generation is a hash table with linear probing. Nothing is deleted in it,
// so the first empty slot met on the way ends a search, and all who put the
// same key in at once meet in the same slot: those before it hold other keys,
// for ever.
//
// Segments are allocated when the first key goes there, so that making a large
// generation stalls nobody.
type generation struct {
	// Constant after creation.
	segments []atomic.Pointer[segment]
	slots    uint64 // a multiple of segmentLen
	full     int64  // keys that are enough
	born     uint32 // stamp

	_ [64]byte // what follows is written, by all

	keys  atomic.Int64
	held  atomic.Int64  // segments allocated
	drawn atomic.Uint64 // slots handed out to those who drain it
	dry   atomic.Uint64 // slots drained
}

// newGeneration has room for n keys.
func newGeneration(n int64, born uint32) *generation {
	segments := (n*fullIn/fullOf + segmentLen) / segmentLen
	slots := segments * segmentLen
	return &generation{
		segments: make([]atomic.Pointer[segment], segments),
		slots:    uint64(slots),
		full:     slots * fullOf / fullIn,
		born:     born,
	}
}

// home is where the search for a key begins. It grows with the hash, so keys
// in the order of one generation's slots are in that of another's, too, which
// makes draining one into another quick.
func (g *generation) home(h uint64) uint64 {
	at, _ := bits.Mul64(h, g.slots)
	return at
}

func (g *generation) after(at uint64) uint64 {
	if at++; at < g.slots {
		return at
	}
	return 0
}

// find returns the key's slot and its word; nil and 0 if it is not here.
func (g *generation) find(h uint64) (*slot, word) {
	at := g.home(h)
	for range g.slots {
		seg := g.segments[at/segmentLen].Load()
		if seg == nil {
			return nil, 0
		}
		s := &seg[at%segmentLen]
		switch s.key.Load() {
		case h:
			return s, word(s.word.Load())
		case 0:
			return nil, 0
		}
		at = g.after(at)
	}
	return nil, 0
}

// place returns the key's slot, a new one if it has none yet; nil if it would
// need one and the generation is full. Of those who come at once a few may get
// in beyond that.
func (g *generation) place(h uint64) *slot {
	at := g.home(h)
	for range g.slots {
		s := g.at(at)
		k := s.key.Load()
		if k == 0 {
			if g.keys.Load() >= g.full {
				return nil
			}
			if s.key.CompareAndSwap(0, h) {
				g.keys.Add(1)
				return s
			}
			k = s.key.Load()
		}
		if k == h {
			return s
		}
		at = g.after(at)
	}
	return nil
}

// at returns a slot, with its segment made if need be.
func (g *generation) at(at uint64) *slot {
	p := &g.segments[at/segmentLen]
	seg := p.Load()
	if seg == nil {
		seg = new(segment)
		if p.CompareAndSwap(nil, seg) {
			g.held.Add(1)
		} else {
			seg = p.Load()
		}
	}
	return &seg[at%segmentLen]
}
