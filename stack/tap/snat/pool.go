package snat

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
)

// Ports of a pool: all but those below 1024, which servers may trust.
const (
	First = 1024
	Last  = 65535
	Ports = Last - First + 1
)

// blockLen ports have a common count, so that a search passes by those that are
// all lent: a thousand looks at most for the whole pool.
const blockLen = 64

// Pool is the ports of one address towards one server.
//
// A port's cell is free (0), lent (to a loop), or resting (until some time). Only
// Take makes it lent, from anything else and by compare-and-swap; only its owner
// ends that.
type Pool struct {
	lanes []lane // one a loop

	lent  [Ports / blockLen]atomic.Int32 // how many of a block are, or less for a moment
	cells [Ports]atomic.Uint32
}

// lane is what a loop has for itself.
type lane struct {
	next  int // cell to begin the search with
	inUse atomic.Int32
	_     [48]byte
}

// Cells that are not free.
const (
	isLent = 1 << 31 // the rest is the loop
	// Otherwise it is resting: 31 bits of time in units of 2^unit ns, 67 ms.
	// They go round in 4.5 years.
	unit     = 26
	timeBits = 1<<31 - 1
)

// New makes a pool for loops, numbered from 0. All ports are free.
func New(loops int) *Pool {
	p := &Pool{lanes: make([]lane, loops)}
	for i := range p.lanes {
		// Not to begin where the last run of the program did.
		p.lanes[i].next = rand.IntN(Ports)
	}
	return p
}

// Owner returns the loop that a port is lent to. Any goroutine.
func (p *Pool) Owner(port uint16) (loop int, ok bool) {
	if port < First {
		return 0, false
	}
	v := p.cells[port-First].Load()
	return int(v &^ isLent), v&isLent != 0
}

// InUse returns how many ports are lent; of changes at this moment some may be
// missing. Any goroutine.
func (p *Pool) InUse() (n int) {
	for i := range p.lanes {
		n += int(p.lanes[i].inUse.Load())
	}
	return n
}

// Give takes a port back, which rests until then, unless that is past. Only the
// loop that took it.
func (p *Pool) Give(port uint16, restUntil int64) {
	i := int(port) - First
	v := uint32(0)
	if i >= 0 {
		v = p.cells[i].Load()
	}
	if v&isLent == 0 {
		panic(fmt.Sprintf("snat: port %d is given back and was not lent", port))
	}
	p.lanes[v&^isLent].inUse.Add(-1)
	p.lent[i/blockLen].Add(-1) // first: a block must not look all lent when it is not
	p.cells[i].Store(resting(restUntil))
}

// resting is the cell of a port that rests until t, or a moment longer.
func resting(t int64) uint32 {
	if t <= 0 {
		return 0
	}
	return max(uint32((t+1<<unit-1)>>unit)&timeBits, 1)
}

// left says how long a cell that is not lent is to rest from now, in units; 0
// if it may be taken.
func left(cell uint32, now int64) uint32 {
	if cell == 0 {
		return 0
	}
	n := (cell - uint32(now>>unit)) & timeBits
	if n > timeBits/2 {
		return 0 // it is past
	}
	return n
}
