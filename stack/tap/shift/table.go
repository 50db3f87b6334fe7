package shift

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"penstock/stack/tap/frame"
)

// Flow names a connection.
type Flow struct {
	Client, Virtual         frame.Addr
	ClientPort, VirtualPort uint16
}

// FlowOf is the flow of a segment that came from a client.
func FlowOf(p *frame.Packet) Flow {
	return Flow{Client: p.Src, Virtual: p.Dst, ClientPort: p.SrcPort, VirtualPort: p.DstPort}
}

// Table has the flows of one queue.
//
// It is a hash of chains. The loop alone changes chains; the others only follow
// them, without a lock: an entry is complete before it is linked, and one that
// was taken out still points onwards, until nobody follows it and the collector
// takes it. A map with a lock was not chosen since each segment that leaves would
// take it, of translated connections or not.
type Table struct {
	// Constant after New.
	seed  maphash.Seed
	mask  uint64
	grace int64
	wake  func()

	// Changed by the loop, read by all.
	live   atomic.Int64                           // entries in chains; 0: nobody looks further
	chains atomic.Pointer[[]atomic.Pointer[flow]] // made by the first Pend

	// The loop's own.
	ended []ending // in the order in which they are due
	spare []Answer

	mu      sync.Mutex
	answers []Answer // guarded by mu: not yet taken by the loop
}

// flow is the entry of one connection.
//
//	pending --- Set ---> active
//	   |                    |
//	   `----- Remove -------+--> ended --- grace without a segment ---> gone
//	                               |
//	                               `-- a SYN-ACK that is not its own --> void
//
// All moves are the loop's, but for the last one, which any goroutine may make
// that calls Out: another connection of the same client port has begun, without a
// cookie, and this entry has no say in it. Pend replaces an entry in any state.
type flow struct {
	Flow // constant

	echoed bool // the loop's: the client echoed a timestamp of netstack's

	next    atomic.Pointer[flow]
	numbers atomic.Pointer[numbers] // nil while pending
	ended   atomic.Bool
	void    atomic.Bool
	used    atomic.Bool // since it ended or Expire last looked: netstack sent something
}

// numbers are what the two sides differ by. They never change; all of a segment
// is translated by the same ones.
type numbers struct {
	iss   uint32 // netstack's
	seq   uint32 // client's minus netstack's
	ts    uint32 // the same for timestamps
	first uint32 // netstack's first timestamp
	scale Scale
}

// ending is an entry that is to go.
type ending struct {
	f   *flow
	due int64
}

// New makes a table. most is how many connections there may be at once; more are
// taken, more slowly. grace is how long a removed flow is translated after
// netstack's last segment of it: longer than its TIME_WAIT. wake is called, by any
// goroutine, when there is something for Answers.
func New(most int, grace time.Duration, wake func()) *Table {
	return &Table{
		seed:  maphash.MakeSeed(),
		mask:  1<<bits.Len(uint(max(most, 64)-1)) - 1,
		grace: int64(grace),
		wake:  wake,
	}
}

// Len is how many flows there are, ended ones included.
func (t *Table) Len() int { return int(t.live.Load()) }

// chain is where a flow's entry is linked. The table must have chains.
func (t *Table) chain(f *Flow) *atomic.Pointer[flow] {
	return &(*t.chains.Load())[maphash.Comparable(t.seed, *f)&t.mask]
}

// find looks a flow up. Any goroutine.
func (t *Table) find(f *Flow) *flow {
	e := t.chain(f).Load()
	for e != nil && e.Flow != *f {
		e = e.next.Load()
	}
	return e
}

// Pend begins a flow: what netstack sends of it is caught, and what the client
// sends is withheld, until Set. To be called before the rebuilt SYN is injected.
func (t *Table) Pend(f Flow) {
	if t.chains.Load() == nil {
		chains := make([]atomic.Pointer[flow], t.mask+1)
		t.chains.Store(&chains)
	}
	e := &flow{Flow: f}
	t.unlink(t.find(&f))
	head := t.chain(&f)
	e.next.Store(head.Load())
	head.Store(e)
	t.live.Add(1)
}

// Set lets a pending flow pass, translated: for the client netstack's SYN-ACK had
// the sequence number iss, and what has netstack's timestamp of that moment has
// tsval. To be called before the ACK for netstack's SYN-ACK is injected. It is
// false if the flow is not pending any more.
//
// Windows are translated by a's Scale.
//
// tsval must not be before any that the client has seen, or the client takes what
// follows for old duplicates (PAWS): the cookie's, and the milliseconds since.
func (t *Table) Set(a *Answer, iss, tsval uint32) bool {
	if t.live.Load() == 0 {
		return false
	}
	e := t.find(&a.Flow)
	if e == nil || e.ended.Load() || e.numbers.Load() != nil {
		return false
	}
	e.numbers.Store(&numbers{iss: a.ISS, seq: iss - a.ISS, ts: tsval - a.Options.TSVal, first: a.Options.TSVal, scale: a.Scale})
	return true
}

// Remove ends a flow whose connection was closed. It is translated as long as
// netstack has something to say, since that may have data to send, and answers
// late segments for a while; then Expire takes it out. A flow that is not there,
// or has ended, is left alone.
func (t *Table) Remove(f Flow, now int64) {
	if t.live.Load() == 0 {
		return
	}
	if e := t.find(&f); e != nil && e.ended.CompareAndSwap(false, true) {
		t.ended = append(t.ended, ending{e, now + t.grace})
	}
}

// Expire takes out flows that have ended and were not used for the grace.
func (t *Table) Expire(now int64) {
	n := 0
	for ; n < len(t.ended) && t.ended[n].due <= now; n++ {
		e := t.ended[n].f
		if e.used.Swap(false) && !e.void.Load() && t.find(&e.Flow) == e {
			t.ended = append(t.ended, ending{e, now + t.grace})
		} else {
			t.unlink(e)
		}
	}
	clear(t.ended[:n]) // so that the collector may take them
	if t.ended = t.ended[n:]; len(t.ended) == 0 {
		t.ended = nil
	}
}

// unlink takes an entry out of its chain, if it is in it. Who follows the chain at
// the moment may still use it.
func (t *Table) unlink(e *flow) {
	if e == nil {
		return
	}
	at := t.chain(&e.Flow)
	for x := at.Load(); x != nil; x = at.Load() {
		if x == e {
			at.Store(e.next.Load())
			t.live.Add(-1)
			return
		}
		at = &x.next
	}
}
