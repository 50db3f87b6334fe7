package dispatch

import (
	"cmp"
	"slices"
)

// How the twin's objects come, change and go. A free number is nil.

func put[T any](of *[]*T, o *T) int {
	if i := slices.Index(*of, nil); i >= 0 {
		(*of)[i] = o
		return i
	}
	*of = append(*of, o)
	return len(*of) - 1
}

func (t *twin) addNode(c NodeConfig) NodeID { return NodeID(put(&t.nodes, &twinNode{NodeConfig: c})) }

func (t *twin) addPool(c PoolConfig) PoolID { return PoolID(put(&t.pools, &twinPool{PoolConfig: c})) }

func (t *twin) addVirtual(c VirtualConfig) VirtualID {
	return VirtualID(put(&t.virtuals, &twinVirtual{VirtualConfig: c, records: map[Source]*twinMember{}, had: map[Source][]*twinMember{}}))
}

func (t *twin) addMember(c MemberConfig) (id MemberID) {
	t.change(func() {
		p := t.pools[c.Pool]
		id = MemberID(put(&t.members, &twinMember{MemberConfig: c, index: p.added}))
		p.added++
	}, func(m MemberID) bool { return m == id })
	return id
}

// change does something that may take a pool's last member, or give it one.
// Those of the members it concerns that come up ramp up.
func (t *twin) change(do func(), ramps func(MemberID) bool) {
	was := make([]bool, len(t.members)+1)
	for m := range t.members {
		was[m] = t.isUp(MemberID(m))
	}
	t.series(do)
	for i := range t.members {
		if m := MemberID(i); ramps(m) && !was[i] && t.isUp(m) {
			t.members[i].rampFrom = t.now
		}
	}
}

// series is several changes in one: only what has changed in the end counts for
// when a pool went down.
func (t *twin) series(do func()) {
	up, downAt := map[*twinPool]bool{}, map[*twinPool]Tick{}
	for i, p := range t.pools {
		if p != nil {
			up[p], downAt[p] = t.up(PoolID(i)) > 0, p.downAt
		}
	}
	do()
	for i, p := range t.pools {
		if p == nil {
			continue
		}
		if p.downAt = downAt[p]; up[p] && t.up(PoolID(i)) == 0 {
			p.downAt = t.now
		}
	}
}

func everybody(MemberID) bool { return true }

func (t *twin) setMemberUp(m MemberID, up bool) {
	t.change(func() {
		t.members[m].down = !up
		if up {
			t.dialled(m)
		}
	}, everybody)
}

func (t *twin) setVirtual(id VirtualID, c VirtualConfig) {
	v := t.virtuals[id]
	if v.Persist != c.Persist {
		v.records = map[Source]*twinMember{}
	}
	switched := v.Pool != c.Pool
	v.VirtualConfig = c
	for _, w := range t.waiters {
		if w.virtual != id {
			continue
		}
		if w.class = v.classFor(w.a.Source); switched {
			w.left = cmp.Or(w.left, w.sticky)
			w.sticky, w.in, w.tried, w.waived = 0, 0, 0, false
		}
	}
	t.sort()
}

func (t *twin) setPool(id PoolID, c PoolConfig) {
	t.pools[id].PoolConfig = c
	t.sort()
}

func (t *twin) sort() { slices.SortStableFunc(t.waiters, t.order) }

func (t *twin) removeMember(m MemberID) {
	t.change(func() { t.members[m].removed = true }, everybody)
}

// forgetMember frees its number, if nobody is there any more.
func (t *twin) forgetMember(id MemberID) bool {
	m := t.members[id]
	if !m.removed || m.use != 0 || t.waiting(m.Pool, Sticky(id)+1) != 0 {
		return false
	}
	// Nor while somebody is for it that another queue counts, or is to leave it when
	// the series ends.
	if slices.ContainsFunc(t.waiters, func(w *twinWaiter) bool { return w.sticky == Sticky(id)+1 || w.left == Sticky(id)+1 }) {
		return false
	}
	t.members[id] = nil
	return true
}

func (t *twin) forgetVirtual(id VirtualID) bool {
	v := t.virtuals[id]
	if !v.removed || v.use != 0 || t.waitingOf(id) != 0 {
		return false
	}
	t.virtuals[id] = nil
	return true
}

// forget drops the removed pools and nodes that nobody names, and where waiters
// were: the series ends.
func (t *twin) forget() {
	for _, w := range t.waiters {
		w.left = 0
	}
	for i, p := range t.pools {
		if p != nil && p.gone && !slices.ContainsFunc(t.virtuals, func(v *twinVirtual) bool { return v != nil && int(v.Pool) == i }) &&
			!slices.ContainsFunc(t.members, func(m *twinMember) bool { return m != nil && int(m.Pool) == i }) {
			t.pools[i] = nil
		}
	}
	for i, n := range t.nodes {
		if n != nil && n.gone && !slices.ContainsFunc(t.members, func(m *twinMember) bool { return m != nil && int(m.Node) == i }) {
			t.nodes[i] = nil
		}
	}
}

// flush takes those waiters of a pool away that drop wants.
func (t *twin) flush(p PoolID, drop func(*twinWaiter) bool) (ids []int) {
	t.waiters = slices.DeleteFunc(t.waiters, func(w *twinWaiter) bool {
		if t.virtuals[w.virtual].Pool != p || !drop(w) {
			return false
		}
		ids = append(ids, w.id)
		return true
	})
	t.pools[p].seen.flushed += uint64(len(ids))
	return ids
}
