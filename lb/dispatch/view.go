package dispatch

import "penstock/lb/limit"

// Load is how full something is, for people. Each figure is exact at rest and
// may be off by those that are on their way at the moment.
type Load struct {
	Limit   int64 // 0: none
	InUse   int64
	Waiting int64
}

func loadOf(c *limit.Counter, waiting int64) Load {
	l := Load{Limit: c.Limit(), InUse: c.InUse(), Waiting: waiting}
	if l.Limit == limit.None {
		l.Limit = 0
	}
	return l
}

// Virtual returns the load of a virtual server.
func (d *Dispatcher) Virtual(v VirtualID) Load { return loadOf(d.virtuals[v].slots, 0) }

// Pool returns the load of a pool; Waiting counts its own queue only.
func (d *Dispatcher) Pool(p PoolID) Load {
	pl := d.pools[p]
	return loadOf(pl.slots, pl.depth.Load())
}

// PoolStats returns what the pool's queue has seen.
func (d *Dispatcher) PoolStats(p PoolID) *PoolStats { return &d.pools[p].stats }

// Node returns the load of a node.
func (d *Dispatcher) Node(n NodeID) Load { return loadOf(d.nodes[n].slots, 0) }

// MemberView is a member as people see it.
type MemberView struct {
	Load
	State        State // the operator's word, the node's included
	BackOffUntil Tick  // 0: well; in the past: waits for a probe
	Probing      bool
	DialFailures uint64
}

// Member returns how a member is.
func (d *Dispatcher) Member(id MemberID) MemberView {
	m := d.members[id]
	v := MemberView{
		Load:  loadOf(m.slots, m.depth.Load()),
		State: m.operator(), DialFailures: m.refused.Load(),
	}
	if h := m.health.Load(); h == probing {
		v.Probing = true
	} else {
		v.BackOffUntil = Tick(h)
	}
	return v
}
