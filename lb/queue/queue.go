package queue

import "penstock/lb/ring"

// Entry is one waiter's place. 32 bytes, without pointers.
type Entry struct {
	Since   int64  // ticket: arrival in monotonic nanoseconds; decides the order
	Slot    uint32 // its place in the waiter table of its loop
	Gen     uint32 // tells this waiter from an earlier one in the same slot
	Tried   uint64 // members that refused it, a bit each (index in the pool modulo 64)
	Virtual uint16
	Sticky  uint16 // member it is persisted to, plus one; 0: none
	Loop    uint16 // owner
	Tries   uint8  // dials that failed
	Mark    uint8  // for whoever owns the queue
}

// Before says whether e is served before o: by ticket, then by loop. Of one loop
// and ticket, who came first goes first; a Queue sees to that.
func (e *Entry) Before(o *Entry) bool {
	if e.Since != o.Since {
		return e.Since < o.Since
	}
	return e.Loop < o.Loop
}

// Queue is a set of waiters in ticket order.
type Queue struct {
	lanes []ring.Ring[Entry] // arrivals in order, one lane for each loop
	last  []int64            // by lane: its youngest ticket
	back  heap               // those who come with an old ticket
	n     int

	// headLane caches where the head is: a lane, backLane or noLane.
	headLane int
}

const (
	noLane   = -1 // not known
	backLane = -2
)

// New returns an empty queue for the given number of loops.
func New(loops int) *Queue {
	return &Queue{lanes: make([]ring.Ring[Entry], loops), last: make([]int64, loops), headLane: noLane}
}

// Len counts the entries, those of waiters who left included.
func (q *Queue) Len() int { return q.n }

// Push inserts a waiter, at best at the end of its loop's lane. Who comes late
// with an old ticket (its loop had to read a header first) goes to its place.
func (q *Queue) Push(e Entry) {
	if e.Since < q.last[e.Loop] && q.lanes[e.Loop].Peek() != nil {
		q.PushBack(e)
		return
	}
	q.last[e.Loop] = e.Since
	q.lanes[e.Loop].Push(e)
	q.n++
	q.headLane = noLane
}

// PushBack inserts a waiter at its ticket's place: it comes back from a failed
// dial, or moves here from another queue.
func (q *Queue) PushBack(e Entry) {
	q.back.push(e)
	q.n++
	q.headLane = noLane
}

// Head returns the oldest entry, or nil. It stays valid until the next call
// of another method.
func (q *Queue) Head() *Entry {
	if q.n == 0 {
		return nil
	}
	switch q.headLane {
	case noLane:
		return q.findHead()
	case backLane:
		return &q.back.items[0].Entry
	default:
		return q.lanes[q.headLane].Peek()
	}
}

func (q *Queue) findHead() *Entry {
	var best *Entry
	if len(q.back.items) > 0 {
		best, q.headLane = &q.back.items[0].Entry, backLane
	}
	for i := range q.lanes {
		if e := q.lanes[i].Peek(); e != nil && (best == nil || e.Before(best)) {
			best, q.headLane = e, i
		}
	}
	return best
}

// Pop removes the head.
func (q *Queue) Pop() {
	if q.Head() == nil {
		return
	}
	if q.headLane == backLane {
		q.back.pop()
	} else {
		q.lanes[q.headLane].Drop()
	}
	q.n--
	q.headLane = noLane
}

// Compact drops every entry that keep refuses, and returns how many went.
func (q *Queue) Compact(keep func(*Entry) bool) int {
	before := q.n
	for i := range q.lanes {
		q.compactLane(i, keep)
	}
	q.n -= q.back.filter(keep)
	q.headLane = noLane
	return before - q.n
}

// compactLane moves what stays into a new ring, so that the memory of what
// went is given up.
func (q *Queue) compactLane(i int, keep func(*Entry) bool) {
	var kept ring.Ring[Entry]
	for e := q.lanes[i].Peek(); e != nil; e = q.lanes[i].Peek() {
		if keep(e) {
			kept.Push(*e)
		} else {
			q.n--
		}
		q.lanes[i].Drop()
	}
	q.lanes[i].Replace(&kept)
}
