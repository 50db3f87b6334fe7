package dispatch

import (
	"slices"

	"penstock/lb/limit"
)

// Reading, by any goroutine at any time. Numbers of objects that are not, or
// not any more, give zeros.

// Publish shows the topology to readers. Changed does it, too.
func (d *Dispatcher) Publish() {
	seen := &objects{
		virtuals: slices.Clone(d.virtuals), pools: slices.Clone(d.pools),
		members: slices.Clone(d.members), nodes: slices.Clone(d.nodes),
	}
	for _, pl := range d.pools {
		var past *QueueStats
		if pl != nil {
			past = pl.past
		}
		seen.past = append(seen.past, past)
	}
	d.seen.Store(seen)
}

// at returns s[i], or nil.
func at[T any, I ~uint16](s []*T, i I) *T {
	if int(i) >= len(s) {
		return nil
	}
	return s[i]
}

// Load is how full something is, for people. Each figure is exact at rest and
// may be off by those that are on their way at the moment.
type Load struct {
	Limit   int64 // 0: none
	InUse   int64
	Most    int64 // the most in use so far, at a resolution of a millisecond
	Waiting int64
}

func loadOf(c *limit.Counter, waiting int64) Load {
	l := Load{Limit: c.Limit(), InUse: c.InUse(), Most: c.Most(), Waiting: waiting}
	if l.Limit == limit.None {
		l.Limit = 0
	}
	return l
}

// Virtual returns the load of a virtual server; Waiting counts its clients in
// all queues.
func (d *Dispatcher) Virtual(id VirtualID) (l Load) {
	if v := at(d.seen.Load().virtuals, id); v != nil {
		l = loadOf(v.slots, v.waits.Load())
	}
	return l
}

// Pool returns the load of a pool; Waiting counts its own queue only.
func (d *Dispatcher) Pool(id PoolID) (l Load) {
	if pl := at(d.seen.Load().pools, id); pl != nil {
		l = loadOf(pl.slots, pl.depth.Load())
	}
	return l
}

// Node returns the load of a node.
func (d *Dispatcher) Node(id NodeID) (l Load) {
	if n := at(d.seen.Load().nodes, id); n != nil {
		l = loadOf(n.slots, 0)
	}
	return l
}

// Paused says whether an operator holds the pool's queue.
func (d *Dispatcher) Paused(id PoolID) bool {
	pl := at(d.seen.Load().pools, id)
	return pl != nil && pl.paused.Load()
}

// PoolRate returns how many waiters a second are served, 0 if that is not
// known: nobody has waited long enough.
func (d *Dispatcher) PoolRate(now Tick, id PoolID) float64 {
	pl := at(d.seen.Load().pools, id)
	if pl == nil {
		return 0
	}
	return pl.meter.Rate(int64(now))
}

// VirtualQueue returns what the clients of a virtual server saw in queues.
func (d *Dispatcher) VirtualQueue(id VirtualID) *QueueStats {
	if v := at(d.seen.Load().virtuals, id); v != nil {
		return &v.stats
	}
	return new(QueueStats)
}

// PoolQueue returns what the pool's own queue has seen.
func (d *Dispatcher) PoolQueue(id PoolID) *QueueStats {
	if pl := at(d.seen.Load().pools, id); pl != nil {
		return &pl.own
	}
	return new(QueueStats)
}

// MemberQueue returns what the queue of those persisted to the member has seen.
func (d *Dispatcher) MemberQueue(id MemberID) *QueueStats {
	if m := at(d.seen.Load().members, id); m != nil {
		return &m.stats
	}
	return new(QueueStats)
}

// PoolQueueAll returns the sum of a pool's queue and its members', those of
// removed members included, as it is now.
func (d *Dispatcher) PoolQueueAll(id PoolID) *QueueStats {
	sum := new(QueueStats)
	seen := d.seen.Load()
	pl := at(seen.pools, id)
	if pl == nil {
		return sum
	}
	sum.add(&pl.own)
	sum.add(seen.past[id])
	head := pl.own.Head.Load()
	for _, m := range seen.members {
		if m != nil && m.pool == pl {
			sum.add(&m.stats)
			head = int64(sooner(Tick(head), Tick(m.stats.Head.Load())))
		}
	}
	sum.Head.Store(head)
	sum.AgeMax.Store(pl.all.AgeMax.Load())
	sum.AgeEma.Store(pl.all.AgeEma.Load())
	sum.AgeEdm.Store(pl.all.AgeEdm.Load())
	return sum
}

// Records returns how many persistence records a virtual server has, about,
// and what they take of memory.
func (d *Dispatcher) Records(now Tick, id VirtualID) (n int, bytes int64) {
	v := at(d.seen.Load().virtuals, id)
	if v == nil {
		return 0, 0
	}
	t := v.records.Load()
	if t == nil {
		return 0, 0
	}
	return t.Len(int64(now)), int64(t.Bytes())
}

// MemberView is a member as people see it.
type MemberView struct {
	Load
	State        State // the operator's word, the node's included
	Down         bool  // the monitor's word
	Removed      bool  // there until its last connection ends
	Ramp         int64 // the limit in force while it ramps up slowly, else 0
	BackOffUntil Tick  // 0: well; in the past: waits for a probe
	Probing      bool
	DialFailures uint64
}

// Member returns how a member is.
func (d *Dispatcher) Member(id MemberID) (v MemberView) {
	m := at(d.seen.Load().members, id)
	if m == nil {
		return v
	}
	v = MemberView{
		Load: loadOf(m.slots, m.depth.Load()), State: m.word(), Down: m.down.Load(),
		Removed: m.removed.Load(), DialFailures: m.refused.Load(),
	}
	v.Limit = m.limit.Load()
	if m.rampFrom.Load() != 0 && !v.Removed {
		v.Ramp = m.slots.InForce()
	}
	if h := m.health.Load(); h == probing {
		v.Probing = true
	} else {
		v.BackOffUntil = Tick(h)
	}
	return v
}
