package accesslog

import (
	"sync/atomic"

	"penstock/lb/ring"
)

// lane is the way from one loop to the writer.
type lane struct {
	ring ring.Ring[record]

	// Owned by the loop.
	pushed uint64

	_ [64]byte

	lost   atomic.Uint64 // by the loop: records that found the lane full
	popped atomic.Uint64 // by the writer

	_ [48]byte
}

// push is called by the loop. It says false, and counts, if the lane is full.
func (n *lane) push(r record, most uint64) bool {
	// popped may be behind, never ahead: the lane is never fuller than this.
	if n.pushed-n.popped.Load() >= most {
		n.lost.Add(1)
		return false
	}
	n.ring.Push(r)
	n.pushed++
	return true
}

// drain is called by the writer. It hands over up to most records, oldest
// first, and returns how many.
func (n *lane) drain(most int, write func(*record)) int {
	for i := range most {
		r := n.ring.Peek()
		if r == nil {
			n.popped.Add(uint64(i))
			return i
		}
		write(r)
		n.ring.Drop()
	}
	n.popped.Add(uint64(most))
	return most
}

// empty is called by the writer.
func (n *lane) empty() bool { return n.ring.Peek() == nil }
