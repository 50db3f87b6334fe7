// Package rate measures how fast a queue moves: grants a second while somebody
// waits. From that follow how long a newcomer will wait, whether to refuse it
// at once, and what delay is normal (lb/codel).
//
// Only the time in which somebody waits counts. How many are let in while
// nobody waits says how many come, not how many could be served.
package rate

import (
	"math"
	"sync/atomic"
)

// Tick is a moment in monotonic nanoseconds, from 0.
type Tick = int64

const second Tick = 1e9

// A window is closed by a grant when it is long enough for the number in it: a
// fast queue is measured each second, a slow one as soon as there is something
// to say.
const (
	shortWindow, manyGrants = 1 * second, 8
	longWindow              = 8 * second

	// A running window speaks from here on, if it says less than the last ones:
	// a queue that came to a stop has no grant that would close it.
	staleWindow = 2 * second
)

// Meter measures one queue. Add and Idle are called by one at a time (who has
// the home's baton), Rate by anyone. The zero value is ready.
//
// A busy period, from the first grant on to the moment the queue is empty, adds
// its time and the grants after its first to the running window. (The first
// one ends a wait that began at a time unknown to us.) Rate is the average of
// the closed windows, the last one counting half, the one before a quarter.
type Meter struct {
	busy   bool
	passed Tick // while not busy: what the window has of earlier busy periods

	// Written by the same one, read by anyone. Who reads takes grants before
	// from: then it may see the new window's from with the old one's grants, and
	// take it for short, but not a long window with no grants.
	grants atomic.Int64
	from   atomic.Int64  // now minus the window's age, while busy
	ages   atomic.Bool   // from means something: busy
	rate   atomic.Uint64 // a float64; 0: no window was closed yet
}

// Add tells of a grant to somebody who waited.
func (m *Meter) Add(now Tick) {
	if !m.busy {
		m.busy = true
		m.from.Store(now - m.passed)
		m.ages.Store(true)
		return
	}
	n := m.grants.Add(1)
	age := now - m.from.Load()
	if age >= shortWindow && n >= manyGrants || age >= longWindow {
		m.close(now, float64(n)*float64(second)/float64(age))
	}
}

func (m *Meter) close(now Tick, sample float64) {
	if old := math.Float64frombits(m.rate.Load()); old != 0 {
		sample = (old + sample) / 2
	}
	m.rate.Store(math.Float64bits(sample))
	m.from.Store(now)
	m.grants.Store(0)
}

// Idle tells that nobody waits any more.
func (m *Meter) Idle(now Tick) {
	if m.busy {
		m.busy = false
		m.ages.Store(false)
		m.passed = now - m.from.Load()
	}
}

// Rate returns grants a second, and 0 while it is not known.
func (m *Meter) Rate(now Tick) float64 {
	rate, n := math.Float64frombits(m.rate.Load()), m.grants.Load()
	if rate == 0 || !m.ages.Load() {
		return rate
	}
	age := now - m.from.Load()
	if age <= staleWindow {
		return rate
	}
	return min(rate, float64(n+1)*float64(second)/float64(age))
}
