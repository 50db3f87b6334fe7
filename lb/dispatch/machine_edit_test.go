package dispatch

import (
	"slices"

	"penstock/lb/queue"
	"pgregory.net/rapid"
)

// What operators, monitors and changes of the configuration do.

// numbers are those that are in use.
func numbers[T any](of []*T) (n []int) {
	for i, o := range of {
		if o != nil {
			n = append(n, i)
		}
	}
	return n
}

func aNumber[T any](t *rapid.T, what string, of []*T) int {
	return rapid.SampledFrom(numbers(of)).Draw(t, what)
}

func (m *machine) aVirtual(t *rapid.T) VirtualID {
	return VirtualID(aNumber(t, "virtual", m.twin.virtuals))
}
func (m *machine) aPool(t *rapid.T) PoolID { return PoolID(aNumber(t, "pool", m.twin.pools)) }
func (m *machine) aMember(t *rapid.T) MemberID {
	return MemberID(aNumber(t, "member", m.twin.members))
}
func (m *machine) aNode(t *rapid.T) NodeID { return NodeID(aNumber(t, "node", m.twin.nodes)) }

// SetLimit, SetState and SetRules change things while the loops run.
func (m *machine) SetLimit(t *rapid.T) {
	l, n := m.real.Loop(m.loop(t)), someLimits.Draw(t, "limit")
	w := m.twin
	switch kind := rapid.IntRange(0, 3).Draw(t, "level"); kind {
	case 0:
		i := m.aVirtual(t)
		w.virtuals[i].Limit = n
		l.SetVirtualLimit(w.now, i, n)
	case 1:
		i := m.aPool(t)
		w.pools[i].Limit = n
		l.SetPoolLimit(w.now, i, n)
	case 2:
		i := m.aMember(t)
		if w.members[i].removed {
			t.Skip("removed")
		}
		w.members[i].Limit = n
		l.SetMemberLimit(w.now, i, n)
	case 3:
		i := m.aNode(t)
		w.nodes[i].Limit = n
		l.SetNodeLimit(w.now, i, n)
	}
}

func (m *machine) SetState(t *rapid.T) {
	l, to := m.real.Loop(m.loop(t)), someStates.Draw(t, "state")
	w := m.twin
	if rapid.IntRange(0, 3).Draw(t, "of a node") == 0 {
		i := m.aNode(t)
		w.change(func() { w.nodes[i].State = to }, everybody)
		l.SetNodeState(w.now, i, to)
		return
	}
	i := m.aMember(t)
	w.change(func() { w.members[i].State = to }, everybody)
	l.SetMemberState(w.now, i, to)
}

func (m *machine) SetRules(t *rapid.T) {
	i := m.aPool(t)
	pc, p := somePool(t), m.twin.pools[i]
	p.Queue, p.Depth, p.QueueTime = pc.Queue, pc.Depth, pc.QueueTime
	p.WhenDownQueue, p.WhenDownTime = pc.WhenDownQueue, pc.WhenDownTime
	m.real.Loop(m.loop(t)).SetPoolRules(m.twin.now, i, p.PoolConfig)
}

// Monitor says that a member is up, or down; the loops stand still, or don't.
func (m *machine) Monitor(t *rapid.T) {
	i, up := m.aMember(t), rapid.Bool().Draw(t, "up")
	m.twin.setMemberUp(i, up)
	if rapid.Bool().Draw(t, "running") {
		m.real.Loop(m.loop(t)).SetMemberUp(m.twin.now, i, up)
		return
	}
	m.real.SetMemberUp(m.twin.now, i, up)
	m.real.Changed(m.twin.now)
}

// Pause holds a pool's queue, or lets it go on.
func (m *machine) Pause(t *rapid.T) {
	i := m.aPool(t)
	m.pause(i, !m.twin.pools[i].paused && rapid.Bool().Draw(t, "pause"))
}

func (m *machine) pause(i PoolID, on bool) {
	m.twin.pools[i].paused = on
	m.real.Pause(m.twin.now, i, on)
	m.real.Changed(m.twin.now)
}

// Flush refuses those of a virtual server, a class, or all.
func (m *machine) Flush(t *rapid.T) {
	i, v, class := m.aPool(t), m.aVirtual(t), uint8(rapid.IntRange(0, 7).Draw(t, "class"))
	by := rapid.IntRange(0, 2).Draw(t, "by")
	drop := func(of VirtualID, c uint8) bool { return by == 0 || by == 1 && of == v || by == 2 && c == class }
	n := m.real.Flush(m.twin.now, i, func(w *WaiterView) bool { return drop(w.Virtual, w.Class) })
	m.real.Changed(m.twin.now)
	got := m.collectOnly(func(o Outcome) bool { return o.Reason == Flushed })
	ids := m.twin.flush(i, func(w *twinWaiter) bool { return drop(w.virtual, w.class) })
	if n != len(ids) {
		t.Fatalf("%d flushed, want %v", n, ids)
	}
	for _, id := range ids {
		if !slices.Contains(got, id) {
			t.Fatalf("client %d was not told that it was flushed", id)
		}
		delete(m.clients, id)
	}
	if len(got) != n {
		t.Fatalf("flushed %v, want %v", got, ids)
	}
}

// collectOnly takes the outcomes that is wants; there must be no others, since
// a flush serves nobody.
func (m *machine) collectOnly(is func(Outcome) bool) (ids []int) {
	for id, o := range m.collect() {
		if is(o) {
			ids = append(ids, id)
		}
	}
	return ids
}

// List compares the list of a pool's waiters.
func (m *machine) List(t *rapid.T) {
	i := m.aPool(t)
	page, total := m.real.Waiters(i, 0, 1000, func(*WaiterView) bool { return true })
	n := 0
	for _, w := range m.twin.waiters {
		if m.twin.virtuals[w.virtual].Pool != i {
			continue
		}
		want := WaiterView{
			Loop: w.loop, Conn: uint32(w.id), Virtual: w.virtual, Pool: i, Member: int(w.in) - 1,
			Since: w.a.Since, Class: w.class, Tries: w.a.Tries, Position: int64(n + 1),
		}
		if n >= len(page) || page[n] != want {
			t.Fatalf("waiters of pool %d: %+v, want %+v at %d", i, page, want, n)
		}
		n++
	}
	if n != total || n != len(page) {
		t.Fatalf("%d waiters in the list of %d, want %d", len(page), total, n)
	}
}

// entry is what the home knows of a waiter; nil if it has not got there yet.
func (m *machine) entry(w *twinWaiter) (found *queue.Entry, in Sticky) {
	for _, g := range m.twin.home(m.real, w).active {
		c := g.queue.Cursor()
		for e := c.Next(); e != nil; e = c.Next() {
			r := m.real.loops[e.Loop].table.at(e.Slot)
			if int(e.Loop) == w.loop && int(r.conn) == w.id && m.real.loops[e.Loop].table.alive(e.Slot, e.Gen) {
				return e, Sticky(state(r.state.Load()).member())
			}
		}
	}
	return nil, 0
}

func (t *twin) home(d *Dispatcher, w *twinWaiter) *home { return d.virtuals[w.virtual].pool.home }

// Edit changes the topology, several things at once.
func (m *machine) Edit(t *rapid.T) {
	edits := []func(*rapid.T) bool{
		m.addMember, m.removeMember, m.forgetMember, m.setMember, m.addVirtual, m.setVirtual, m.removeVirtual,
		m.addPool, m.setPool, m.removePool, m.addNode, m.setNode, m.removeNode,
	}
	m.twin.series(func() {
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			edits[rapid.IntRange(0, len(edits)-1).Draw(t, "edit")](t)
		}
	})
	m.twin.forget()
	m.real.Changed(m.twin.now)
}

func sameNumber[I ~uint16](t *rapid.T, what string, got, want I) bool {
	if got != want {
		t.Fatalf("%s has got number %d, want %d", what, got, want)
	}
	return true
}

// hasFew keeps the topology small; at least one of each stays.
func hasFew[T any](of []*T, most int) bool { return len(numbers(of)) < most }

func (m *machine) addNode(t *rapid.T) bool {
	c := NodeConfig{Limit: someLimits.Draw(t, "limit"), State: someStates.Draw(t, "state")}
	return hasFew(m.twin.nodes, 3) && sameNumber(t, "node", m.real.AddNode(c), m.twin.addNode(c))
}

func (m *machine) addPool(t *rapid.T) bool {
	c := somePool(t)
	return hasFew(m.twin.pools, 3) && sameNumber(t, "pool", m.real.AddPool(c), m.twin.addPool(c))
}

func (m *machine) addVirtual(t *rapid.T) bool {
	c := someVirtual(t, m.aPool(t))
	return hasFew(m.twin.virtuals, 4) && !m.twin.pools[c.Pool].gone &&
		sameNumber(t, "virtual", m.real.AddVirtual(c), m.twin.addVirtual(c))
}

func (m *machine) addMember(t *rapid.T) bool {
	c := someMember(t, m.aPool(t), m.aNode(t))
	return hasFew(m.twin.members, 6) && !m.twin.pools[c.Pool].gone && !m.twin.nodes[c.Node].gone &&
		sameNumber(t, "member", m.real.AddMember(m.twin.now, c), m.twin.addMember(c))
}

func (m *machine) setMember(t *rapid.T) bool {
	i := m.aMember(t)
	old := m.twin.members[i]
	c := someMember(t, old.Pool, old.Node)
	if old.removed {
		return false
	}
	c.Key = old.Key
	m.twin.change(func() { old.MemberConfig = c }, everybody)
	m.real.SetMember(m.twin.now, i, c)
	return true
}

func (m *machine) setVirtual(t *rapid.T) bool {
	i, c := m.aVirtual(t), someVirtual(t, m.aPool(t))
	if m.twin.pools[c.Pool].gone {
		return false
	}
	m.twin.setVirtual(i, c)
	m.real.SetVirtual(m.twin.now, i, c)
	return true
}

func (m *machine) setPool(t *rapid.T) bool {
	i, c := m.aPool(t), somePool(t)
	m.twin.setPool(i, c)
	m.real.SetPool(m.twin.now, i, c)
	return true
}

func (m *machine) setNode(t *rapid.T) bool {
	i, c := m.aNode(t), NodeConfig{Limit: someLimits.Draw(t, "limit"), State: someStates.Draw(t, "state")}
	m.twin.change(func() { m.twin.nodes[i].NodeConfig = c }, everybody)
	m.real.SetNode(m.twin.now, i, c)
	return true
}

func (m *machine) removeMember(t *rapid.T) bool {
	i := m.aMember(t)
	m.twin.removeMember(i)
	m.real.RemoveMember(m.twin.now, i)
	return true
}

// forgetMember frees the number of a removed member, as soon as that may be.
func (m *machine) forgetMember(t *rapid.T) bool {
	i := m.aMember(t)
	if hasFew(m.twin.members, 2) {
		return false
	}
	got := m.real.ForgetMember(i)
	if want := m.twin.forgetMember(i); got != want {
		t.Fatalf("member %d forgotten: %v, want %v", i, got, want)
	}
	return got
}

// removeVirtual removes one, or forgets one that was removed.
func (m *machine) removeVirtual(t *rapid.T) bool {
	i := m.aVirtual(t)
	if !m.twin.virtuals[i].removed {
		m.twin.virtuals[i].removed = true
		m.real.RemoveVirtual(m.twin.now, i)
		return true
	}
	if hasFew(m.twin.virtuals, 2) {
		return false
	}
	got := m.real.ForgetVirtual(i)
	if want := m.twin.forgetVirtual(i); got != want {
		t.Fatalf("virtual server %d forgotten: %v, want %v", i, got, want)
	}
	return got
}

// removePool removes one that no virtual server has.
func (m *machine) removePool(t *rapid.T) bool {
	i := m.aPool(t)
	if hasFew(m.twin.pools, 2) || m.twin.pools[i].gone || slices.ContainsFunc(m.twin.virtuals, func(v *twinVirtual) bool { return v != nil && v.Pool == i }) {
		return false
	}
	m.twin.pools[i].gone = true
	for _, id := range m.twin.membersOf(i) {
		m.twin.removeMember(id)
	}
	m.real.RemovePool(m.twin.now, i)
	return true
}

// removeNode removes one whose members are removed.
func (m *machine) removeNode(t *rapid.T) bool {
	i := m.aNode(t)
	if hasFew(m.twin.nodes, 2) || slices.ContainsFunc(m.twin.members, func(tm *twinMember) bool { return tm != nil && tm.Node == i && !tm.removed }) {
		return false
	}
	m.twin.nodes[i].gone = true
	m.real.RemoveNode(m.twin.now, i)
	return true
}
