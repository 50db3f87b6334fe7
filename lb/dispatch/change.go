package dispatch

import "penstock/lb/limit"

// Changes while traffic goes on. They are made on a loop's thread, whose Loop
// they are given, one at a time in the whole process. Their effect is at once,
// or, if another loop has the baton, as soon as that one sees the latch.

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
	l.setLimit(now, mb.pool.home, mb.slots, n)
}

// SetNodeLimit sets a node's connection limit; 0 lifts it.
func (l *Loop) SetNodeLimit(now Tick, id NodeID, n int64) {
	nd := l.d.nodes[id]
	for _, m := range l.d.members {
		if m.node == nd {
			l.setLimit(now, m.pool.home, nd.slots, n)
			return
		}
	}
	nd.slots.Set(n)
	nd.slots.Apply(func() {}) // nobody uses it
}

// setLimit changes a counter. The holder of the baton puts it into force, so
// that strictness has one writer. Nothing in use is closed; a raised limit
// serves waiters at once.
func (l *Loop) setLimit(now Tick, h *home, c *limit.Counter, n int64) {
	c.Set(n)
	h.kick(l, now, capacity|sweep)
}

// SetMemberState enables, disables or takes a member offline.
func (l *Loop) SetMemberState(now Tick, m MemberID, s State) {
	mb := l.d.members[m]
	mb.state.Store(uint32(s))
	mb.pool.recountUp(now)
	mb.pool.home.kick(l, now, arrived|capacity)
}

// SetNodeState does the same for all members of a node.
func (l *Loop) SetNodeState(now Tick, id NodeID, s State) {
	nd := l.d.nodes[id]
	nd.state.Store(uint32(s))
	var h *home // of all its members
	for _, m := range l.d.members {
		if m.node == nd {
			m.pool.recountUp(now)
			h = m.pool.home
		}
	}
	if h != nil {
		h.kick(l, now, arrived|capacity)
	}
}

// SetPoolRules changes how a pool queues. Limit and Tries are not looked at.
func (l *Loop) SetPoolRules(now Tick, p PoolID, c PoolConfig) {
	pl := l.d.pools[p]
	pl.setRules(c)
	pl.home.kick(l, now, arrived|capacity)
}

// recountUp counts the members that take new clients, and notes when the last
// one stopped.
func (pl *pool) recountUp(now Tick) {
	up := int32(0)
	for _, m := range pl.members {
		if m.up() {
			up++
		}
	}
	if up == 0 && pl.up.Load() > 0 {
		pl.downAt.Store(int64(now))
	}
	pl.up.Store(up)
}
