package route

import (
	"hash/maphash"
	"sync/atomic"

	"penstock/stack/tap/frame"
)

// index finds a hop by its address. It is a table with open addressing, at most
// half full, so that a search ends soon. Readers need no lock; whoever puts in
// holds the Table's. Nothing is taken out: that makes a new index.
type index struct {
	seed  maphash.Seed
	slots []atomic.Pointer[hop] // 2^n
}

func newIndex(hops []*hop, room int) *index {
	size := 16
	for size < 2*room {
		size *= 2
	}
	x := &index{maphash.MakeSeed(), make([]atomic.Pointer[hop], size)}
	for _, h := range hops {
		if h != nil {
			x.put(h)
		}
	}
	return x
}

// full says that the next hop needs a larger index.
func (x *index) full(hops int) bool { return 2*hops >= len(x.slots) }

func (x *index) find(a *frame.Addr) *hop {
	mask := uint64(len(x.slots) - 1)
	for i := maphash.Bytes(x.seed, a[:]); ; i++ {
		h := x.slots[i&mask].Load()
		if h == nil || h.addr == *a {
			return h
		}
	}
}

func (x *index) put(h *hop) {
	mask := uint64(len(x.slots) - 1)
	i := maphash.Bytes(x.seed, h.addr[:])
	for x.slots[i&mask].Load() != nil {
		i++
	}
	x.slots[i&mask].Store(h)
}
