package dispatch

import "penstock/lb/limit"

// wish is what a connection asks for.
type wish struct {
	member *member // the one it is persisted to; nil: any
	tried  uint64  // not these: they refused it
	source Source
	at     int // which of the pool's members it got; for chooser.took
}

// taking is one try to take a whole path, and what it left lying about on its
// way. A home takes from the words alone.
type taking struct {
	now     Tick
	loop    int
	words   bool
	lease   bool // may take more from a word than it needs
	left    bool // it did, and left the rest in a shard
	gave    bool // it gave a token back
	sharded bool // ... into a shard
	swept   bool // no free token lies out of its reach
	none    bool // it was no member that had a slot
}

// path takes the virtual server, the pool, and a member with its node: all, or
// nothing.
func (t *taking) path(v *virtual, w *wish, next *chooser) (Path, bool) {
	if !t.take(v.slots) {
		return Path{}, false
	}
	if t.take(v.pool.slots) {
		if m, probe := t.member(v.pool, w, next); m != nil {
			return Path{v.id, m.id, probe, w.member != nil}, true
		}
		t.none = true
		t.give(v.pool.slots)
	}
	t.give(v.slots)
	return Path{}, false
}

func (t *taking) member(pl *pool, w *wish, next *chooser) (*member, bool) {
	m := w.member
	if m == nil {
		return t.any(pl, w, next)
	}
	probe, ok := t.one(m, true)
	if !ok {
		return nil, false
	}
	return m, probe
}

// one takes a slot of the member and its node. Whether it may have one is
// asked now, not when the waiter was queued (invariant 6).
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
	if t.words {
		return c.TakeWord()
	}
	ok, left := c.Take(t.loop, t.lease)
	t.left = t.left || left
	return ok
}

func (t *taking) give(c *limit.Counter) {
	if t.words {
		c.GiveWord() // the holder of the baton goes on serving: no look at the flags
		return
	}
	t.gave = true
	t.sharded = c.Give(t.loop, !t.lease) || t.sharded
}

// force takes a path whose member, node and pool may be over their limits
// after it: of them only the virtual server's is hard for a client that may
// override. What is over is a debt, as after a limit was lowered. Only the
// home calls it.
func (t *taking) force(v *virtual, m *member, announce func()) (Path, bool) {
	if !m.eligible(t.now, true) || !v.slots.TakeWord() {
		return Path{}, false
	}
	probe, ok := m.claim(t.now)
	if !ok {
		v.slots.GiveWord()
		return Path{}, false
	}
	for _, c := range [...]*limit.Counter{v.pool.slots, m.slots, m.node.slots} {
		c.Force(announce)
	}
	return Path{v.id, m.id, probe, true}, true
}
