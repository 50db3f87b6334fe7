package dispatch

import (
	"sync/atomic"

	"penstock/lb/queue"
	"penstock/lb/ring"
)

// Dispatcher holds the topology, its limits and its queues.
type Dispatcher struct {
	// Constant after New.
	wake  func(loop int)
	loops []*Loop

	// Written only while the loops stand still; see edit.go. A nil object is a
	// number that is free.
	objects
	homes []*home
	free  firstFree
	gen   uint16 // of the member added last
	salt  uint64
	seeds uint64 // given out

	seen atomic.Pointer[objects] // what readers look at; see view.go
}

// objects is the topology by number.
type objects struct {
	virtuals []*virtual
	pools    []*pool
	members  []*member
	nodes    []*node

	past []*QueueStats // by pool: of members that were removed. For readers
}

// New builds a dispatcher. wake is called, on any loop's thread, to have Next
// and Run called soon on another loop; it must not block. Numbers are the
// indices of c's slices.
func New(c Config, wake func(loop int)) *Dispatcher {
	d := &Dispatcher{wake: wake, salt: c.Seed}
	for i := range c.Loops {
		d.loops = append(d.loops, &Loop{d: d, index: i})
	}
	for _, n := range c.Nodes {
		d.AddNode(n)
	}
	for _, p := range c.Pools {
		d.AddPool(p)
	}
	for _, m := range c.Members {
		d.addMember(m)
	}
	for _, v := range c.Virtuals {
		d.AddVirtual(v)
	}
	d.Changed(1)
	return d
}

// Loop returns the view of loop i.
func (d *Dispatcher) Loop(i int) *Loop { return d.loops[i] }

func newRings(loops int) []ring.Ring[queue.Entry] { return make([]ring.Ring[queue.Entry], loops) }

// persisted returns the member that s names, or nil.
func (d *Dispatcher) persisted(s Sticky) *member {
	if s == 0 {
		return nil
	}
	return d.members[s-1]
}

// alive says whether who an entry is of still waits.
func (d *Dispatcher) alive(e *queue.Entry) bool {
	return d.loops[e.Loop].table.alive(e.Slot, e.Gen)
}

// sourceOf returns the address of a waiter, if its virtual server asks for it.
func (d *Dispatcher) sourceOf(v *virtual, e *queue.Entry) Source {
	if !v.usesAddr {
		return Source{}
	}
	return d.loops[e.Loop].table.source(e.Slot)
}

// depthOf returns what counts the waiters of a queue, and how many it may
// hold: the pool's queue, or that of the member a waiter is persisted to.
func (pl *pool) depthOf(d *Dispatcher, s Sticky) (depth, most *atomic.Int64) {
	if m := d.persisted(s); m != nil {
		return &m.depth, &m.depthCap
	}
	return &pl.depth, &pl.depthCap
}

// countedBy returns the member in whose queue a waiter is counted; nil: the
// pool's, or it has just left.
func (d *Dispatcher) countedBy(e *queue.Entry) *member {
	s := state(d.loops[e.Loop].table.at(e.Slot).state.Load())
	if s.gen() != e.Gen || s.phase() != waiting { // its slot may be anybody's
		return nil
	}
	return d.persisted(Sticky(s.member()))
}

// queueOf returns the numbers of that queue.
func (pl *pool) queueOf(d *Dispatcher, s Sticky) *QueueStats {
	if m := d.persisted(s); m != nil {
		return &m.stats
	}
	return &pl.own
}

// join counts one more waiter unless there are as many as allowed.
func join(depth *atomic.Int64, most int64) (n int64, ok bool) {
	for {
		n = depth.Load()
		if most >= 0 && n >= most {
			return n, false
		}
		if depth.CompareAndSwap(n, n+1) {
			return n + 1, true
		}
	}
}

// uncount takes a waiter that is not waiting any more off the count of its
// queue, which its last state word names, and returns the numbers of that.
func (d *Dispatcher) uncount(v *virtual, was state) *QueueStats {
	s := Sticky(was.member())
	depth, _ := v.pool.depthOf(d, s)
	depth.Add(-1)
	v.waits.Add(-1)
	return v.pool.queueOf(d, s)
}

// recount moves a waiter from one queue of its pool to another.
func (d *Dispatcher) recount(pl *pool, was state, to Sticky) {
	from, _ := pl.depthOf(d, Sticky(was.member()))
	from.Add(-1)
	into, _ := pl.depthOf(d, to)
	into.Add(1)
}
