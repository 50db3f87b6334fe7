package dispatch

import "penstock/lb/limit"

// Changes of limits and states while others decide: on a loop's thread, one at a
// time in the whole process. Their effect is at once or, if another loop has the
// baton, as soon as that one sees the latch. The program changes things only while
// the loops stand still (edit.go); the protocol allows more, and is tested with it.

// SetVirtualLimit sets a virtual server's connection limit; 0 lifts it.
func (l *Loop) SetVirtualLimit(now Tick, v VirtualID, n int64) {
	vs := l.d.virtuals[v]
	l.setLimit(now, vs.pool.home, vs.slots, n)
}

// SetPoolLimit sets a pool's connection limit; 0 lifts it.
func (l *Loop) SetPoolLimit(now Tick, p PoolID, n int64) {
	pl := l.d.pools[p]
	l.setLimit(now, pl.home, pl.slots, n)
}

// SetMemberLimit sets a member's connection limit; 0 lifts it.
func (l *Loop) SetMemberLimit(now Tick, m MemberID, n int64) {
	mb := l.d.members[m]
	mb.limit.Store(n)
	if mb.rampFrom.Load() != 0 {
		mb.pool.home.kick(l, now, capacity|sweep) // which ramps
		return
	}
	l.setLimit(now, mb.pool.home, mb.slots, n)
}

// SetNodeLimit sets a node's connection limit; 0 lifts it.
func (l *Loop) SetNodeLimit(now Tick, id NodeID, n int64) {
	nd := l.d.nodes[id]
	if h := l.d.homeOf(nd); h != nil {
		l.setLimit(now, h, nd.slots, n)
		return
	}
	nd.slots.Set(n)
	nd.slots.Apply(func() {}) // nobody uses it
}

// homeOf returns the home of all members of a node; nil if it has none.
func (d *Dispatcher) homeOf(n *node) (h *home) {
	d.eachOf(n, func(m *member) { h = m.pool.home })
	return h
}

// setLimit changes a counter. The holder of the baton puts it into force, so
// that strictness has one writer. Nothing in use is closed; a raised limit
// serves waiters at once.
func (l *Loop) setLimit(now Tick, h *home, c *limit.Counter, n int64) {
	c.Set(n)
	h.kick(l, now, capacity|sweep)
}

// SetMemberState enables, disables or takes a member offline.
func (l *Loop) SetMemberState(now Tick, id MemberID, s State) {
	m := l.d.members[id]
	m.note(now, func() { m.state.Store(uint32(s)) })
	l.stateChanged(now, m.pool)
}

// SetMemberUp is the monitor's word; see Dispatcher.SetMemberUp.
func (l *Loop) SetMemberUp(now Tick, id MemberID, up bool) {
	l.d.SetMemberUp(now, id, up)
	l.stateChanged(now, l.d.members[id].pool)
}

// SetNodeState does the same for all members of a node.
func (l *Loop) SetNodeState(now Tick, id NodeID, s State) {
	n := l.d.nodes[id]
	l.d.setNodeState(now, n, s)
	l.d.eachOf(n, func(m *member) { m.pool.recountUp(now) }) // all, before the first pass
	if h := l.d.homeOf(n); h != nil {
		h.kick(l, now, arrived|capacity|sweep)
	}
}

func (l *Loop) stateChanged(now Tick, pl *pool) {
	pl.recountUp(now)
	pl.home.kick(l, now, arrived|capacity|sweep)
}

// SetPoolRules changes how a pool queues: those of its rules that setQueueRules
// knows.
func (l *Loop) SetPoolRules(now Tick, p PoolID, c PoolConfig) {
	pl := l.d.pools[p]
	pl.setQueueRules(c)
	pl.home.kick(l, now, arrived|capacity)
}
