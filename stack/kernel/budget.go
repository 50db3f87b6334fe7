package kernel

import "sync/atomic"

// Budget shares out the process's descriptors among connections, so that
// accept does not run into EMFILE and a granted waiter finds a descriptor to
// dial with.
type Budget struct {
	clients int64 // most clients at once; constant

	max    atomic.Int64
	used   atomic.Int64
	open   atomic.Int64 // clients
	paused atomic.Int32 // loops whose listeners pause
	resume func()       // wakes them
}

// Reserve is how many of a budget's descriptors are kept back from accept, so
// that granted waiters can be dialled for.
func Reserve(max int) int { return min(max/8+1, 1024) }

// NewBudget returns a budget of max descriptors, less the reserve for clients
// that are not dialled for, and of the given number of clients (0:
// as many as there are descriptors for). resume is called when something came
// free while a loop paused, on the thread that freed it.
func NewBudget(max, clients int, resume func()) *Budget {
	b := &Budget{clients: int64(clients), resume: resume}
	b.max.Store(int64(max))
	if clients == 0 {
		b.clients = int64(max)
	}
	return b
}

// Clients returns how many clients are connected, parked ones included.
func (b *Budget) Clients() int { return int(b.open.Load()) }

// Used returns how many descriptors connections hold now.
func (b *Budget) Used() int { return int(b.used.Load()) }

// Max returns the budget's size.
func (b *Budget) Max() int { return int(b.max.Load()) }

// LeastRoom is the smallest budget: a few pairs.
const LeastRoom = 8

// Withdraw takes descriptors out of the budget, for listeners. False if it
// would be smaller than what is used already, or than LeastRoom.
func (b *Budget) Withdraw(n int) bool {
	for {
		m := b.max.Load()
		if left := m - int64(n); left < LeastRoom || left < b.used.Load() {
			return false
		}
		if b.max.CompareAndSwap(m, m-int64(n)) {
			return true
		}
	}
}

// Deposit puts them back.
func (b *Budget) Deposit(n int) {
	b.max.Add(int64(n))
	b.freed()
}

// toAccept is how many may be used when a client is accepted.
func (b *Budget) toAccept() int64 {
	m := b.max.Load()
	return m - int64(Reserve(int(m)))
}

// accept takes a place and a descriptor for a client that is about to be
// accepted.
func (b *Budget) accept() bool {
	if !take(&b.open, b.clients) {
		return false
	}
	if take(&b.used, b.toAccept()) {
		return true
	}
	b.left()
	return false
}

// unaccept gives both back, for there was nobody.
func (b *Budget) unaccept() {
	b.open.Add(-1)
	b.give()
}

// left gives a client's place back; its descriptor goes by itself.
func (b *Budget) left() {
	b.open.Add(-1)
	b.freed()
}

// dial takes a descriptor for a connection to a server.
func (b *Budget) dial() bool { return take(&b.used, b.max.Load()) }

// take adds one unless there are as many as allowed. It never shows more than
// there are: who looks for room meanwhile is not misled.
func take(count *atomic.Int64, most int64) bool {
	for {
		n := count.Load()
		if n >= most {
			return false
		}
		if count.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// give gives a descriptor back.
func (b *Budget) give() {
	b.used.Add(-1)
	b.freed()
}

func (b *Budget) freed() {
	if b.paused.Load() > 0 && b.room() {
		b.resume()
	}
}

// room says whether accept would succeed.
func (b *Budget) room() bool {
	return b.used.Load() < b.toAccept() && b.open.Load() < b.clients
}
