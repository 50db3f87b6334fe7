package kernel

import "sync/atomic"

// Budget shares out the process's descriptors among connections, so that
// accept does not run into EMFILE and a granted waiter finds a descriptor to
// dial with.
type Budget struct {
	// Constant.
	max     int64
	reserve int64 // kept back from accept, for dials

	used   atomic.Int64
	paused atomic.Int32 // loops whose listeners pause
	resume func()       // wakes them
}

// NewBudget returns a budget of max descriptors, of which clients may be given
// seven eighths when nothing is dialled. resume is called when descriptors
// came free while a loop paused, on the thread that freed them.
func NewBudget(max int, resume func()) *Budget {
	m := int64(max)
	return &Budget{max: m, reserve: min(m/8+1, 1024), resume: resume}
}

// Used returns how many descriptors connections hold now.
func (b *Budget) Used() int { return int(b.used.Load()) }

// Max returns the budget's size.
func (b *Budget) Max() int { return int(b.max) }

// accept takes a descriptor for a client that is about to be accepted.
func (b *Budget) accept() bool { return b.take(b.max - b.reserve) }

// dial takes one for a connection to a server.
func (b *Budget) dial() bool { return b.take(b.max) }

func (b *Budget) take(most int64) bool {
	if b.used.Add(1) <= most {
		return true
	}
	b.used.Add(-1)
	return false
}

// give gives one back.
func (b *Budget) give() {
	b.used.Add(-1)
	if b.paused.Load() > 0 {
		b.resume()
	}
}

// room says whether accept would succeed.
func (b *Budget) room() bool { return b.used.Load() < b.max-b.reserve }
