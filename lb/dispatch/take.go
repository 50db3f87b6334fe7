package dispatch

import "penstock/lb/limit"

// taking is one try of a loop to take a whole path, and what it left lying
// about on its way.
type taking struct {
	loop    *Loop
	now     Tick
	lease   bool // may take more from a word than it needs
	left    bool // it did, and left the rest in a shard
	gave    bool // it gave a token back
	sharded bool // ... into a shard
}

// path takes the virtual server, the pool, and a member with its node. A nil
// member means that nothing is held.
func (t *taking) path(v *virtual, s Sticky, tried uint64) (*member, bool) {
	if !t.take(v.slots) {
		return nil, false
	}
	if t.take(v.pool.slots) {
		if m, probe := t.member(v.pool, s, tried); m != nil {
			return m, probe
		}
		t.give(v.pool.slots)
	}
	t.give(v.slots)
	return nil, false
}

func (t *taking) member(pl *pool, s Sticky, tried uint64) (*member, bool) {
	if m := t.loop.d.persisted(s); m != nil {
		if probe, ok := t.one(m, true); ok {
			return m, probe
		}
		return nil, false
	}
	next := &t.loop.next[pl.id]
	n := len(pl.members)
	for i, k := next.First(max(n, 1)), 0; k < n; i, k = i+1, k+1 {
		if i == n {
			i = 0
		}
		m := pl.members[i]
		if tried&m.bit() != 0 {
			continue
		}
		if probe, ok := t.one(m, false); ok {
			next.Chose(i)
			return m, probe
		}
	}
	return nil, false
}

func (t *taking) one(m *member, sticky bool) (probe, ok bool) {
	if !m.eligible(t.now, sticky) || !t.take(m.slots) {
		return false, false
	}
	if t.take(m.node.slots) {
		if probe, ok = m.claim(t.now); ok {
			return probe, true
		}
		t.give(m.node.slots)
	}
	t.give(m.slots)
	return false, false
}

func (t *taking) take(c *limit.Counter) bool {
	ok, left := c.Take(t.loop.index, t.lease)
	t.left = t.left || left
	return ok
}

func (t *taking) give(c *limit.Counter) {
	t.gave = true
	t.sharded = c.Give(t.loop.index, !t.lease) || t.sharded
}
