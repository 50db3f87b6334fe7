package dispatch

import (
	"sync/atomic"

	"penstock/lb/limit"
	"penstock/lb/queue"
	"penstock/lb/ring"
)

// Latch bits of a home: what has happened since the last pass.
const (
	arrived  uint32 = 1 << iota // a waiter came, came back or left
	capacity                    // something may be free that was not
	sweep                       // ... and it may lie in a shard
	held                        // somebody has the baton
)

const latches = arrived | capacity | sweep

// Flags of a home, for those who give tokens back.
const (
	flagWaiting uint32 = 1 << iota // somebody waits in one of its pools
	flagStrict                     // one of its counters has a debt
)

// passBudget bounds one pass (invariant 8): waiters taken over, and waiters
// served, expired or dropped.
const passBudget = 512

// home is where the waiters of a set of pools are served; see the package
// comment. Two pools have the same home if they share a counter.
type home struct {
	d     *Dispatcher
	index int

	_     [64]byte
	state atomic.Uint32 // latches and baton
	_     [60]byte
	flags atomic.Uint32 // waiting, strict
	_     [60]byte
	due   atomic.Int64 // when time alone changes something; 0 never
	_     [56]byte

	ramping  atomic.Bool   // one of its members ramps up slowly
	comeback atomic.Uint32 // how many have come back from a dial; counted before their slots are

	// Constant until the topology changes.
	pools    []*pool
	virtuals []*virtual
	counters []*limit.Counter
	counted  map[*limit.Counter]bool
	returned []ring.Ring[queue.Entry] // by loop: failed dials, with their old tickets

	// Owned by who has the baton.
	groups  map[groupKey]*group
	active  []*group // those with entries
	entries int      // in all groups, dead ones included
	flagged int      // pools whose waiting is set
	served  uint64   // waiters that got a slot
	ramps   Tick     // when the next member may have one more; 0 none
	latest  Tick     // of its passes: some loop's clock may be behind another's
	spare   []*group // without entries, to be used again
}

// group is a queue of waiters who want the same. See package queue.
type group struct {
	key     groupKey
	virtual *virtual
	member  *member // persisted to; nil: any
	queue   *queue.Queue
	later   Tick  // how much later its class counts as having come
	flow    *flow // its sender's, if the pool is fair
	listed  bool  // in home.active
	// blocked: its head got no path, and no capacity latch came since. The
	// flag was up and the shards swept, so capacity can't come without one.
	blocked bool
	again   uint64 // home.served, plus one, when overtakes unblocked it last
}

type groupKey struct {
	virtual *virtual // not numbers: these are used again
	member  *member
	tried   uint64
	class   uint8
	flow    uint16 // plus one
}

// kick tells the home that something happened. The caller runs the pass if
// the baton is free; otherwise its holder will see the latch.
func (h *home) kick(l *Loop, now Tick, bits uint32) {
	h.state.Or(bits)
	for round := 0; ; round++ {
		s := h.state.Load()
		if s&held != 0 || s&latches == 0 {
			return
		}
		if round == 4 { // others keep it busy: give this loop a rest
			l.runSoon(h)
			return
		}
		if !h.state.CompareAndSwap(s, held) {
			continue
		}
		if h.pass(l, now, s&latches) {
			h.state.Or(arrived) // who could not be served then is not asked again for that
			h.state.And(^held)
			l.runSoon(h)
			return
		}
		h.state.And(^held)
	}
}
