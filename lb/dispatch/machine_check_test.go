package dispatch

import (
	"fmt"

	"pgregory.net/rapid"
)

// Check collects the outcomes of the last event, has the twin follow them in
// the order that the rules demand, and compares all figures.
func (m *machine) Check(t *rapid.T) {
	m.follow(t)
	m.runDue(t)
	m.follow(t)
	m.twin.endRamps()
	m.compare(t)
}

func (m *machine) follow(t *rapid.T) {
	got := m.collect()
	m.twin.moveLate() // who is refused may be so because of that
	for id, o := range got {
		if o.Reason != NotRefused {
			m.refused(t, id, o.Reason)
			delete(got, id)
		}
	}
	m.twin.moveStranded()
	for w, s := m.twin.next(got); w != nil; w, s = m.twin.next(got) {
		o, ok := got[w.id]
		if !ok {
			t.Fatalf("client %s waits while a path is free for it; others: %v", w, got)
		}
		delete(got, w.id)
		m.twin.unpark(w.id)
		m.twin.poolOf(w.virtual).seen.serviced++
		m.connect(t, m.clients[w.id], o.Path, s, w.tried, w.waived || m.twin.waitedLong(w) && s == 0)
	}
	if len(got) > 0 {
		t.Fatalf("granted, but not their turn, or nothing is free: %v", got)
	}
	m.followMoves(t)
}

// followMoves lets those who have a record by now, and are said to wait for the
// member it names, do so in the twin.
func (m *machine) followMoves(t *rapid.T) {
	for _, w := range m.twin.waiters {
		e, in := m.entry(w)
		if e == nil || e.Sticky == uint16(w.sticky) {
			continue
		}
		s := Sticky(e.Sticky)
		if s == 0 || w.sticky != 0 || w.waived || !m.twin.said(w.virtual, w.a.Source, s) {
			t.Fatalf("client %s waits for %d in the queue of %d", w, s, in)
		}
		w.sticky, w.in = s, in
	}
	for _, v := range m.twin.virtuals {
		if v != nil {
			clear(v.had)
		}
	}
}

// collect takes all outcomes but of those whom the twin does not know to wait
// yet: they stay for the next time.
func (m *machine) collect() map[int]Outcome {
	got := m.early
	for _, l := range m.real.loops {
		for o, ok := l.Next(); ok; o, ok = l.Next() {
			got[int(o.Conn)] = o
		}
	}
	m.early = map[int]Outcome{}
	for id, o := range got {
		if m.twin.waiter(id) < 0 {
			m.early[id] = o
			delete(got, id)
		}
	}
	return got
}

func (m *machine) refused(t *rapid.T, id int, why Reason) {
	w := m.twin.unpark(id)
	at, want := m.twin.deadline(w)
	if !m.twin.overdue(w) || why != want {
		t.Fatalf("client %s refused (%s) at %d, want %s at %d", w, reasonNames[why], m.twin.now, reasonNames[want], at)
	}
	if seen := &m.twin.poolOf(w.virtual).seen; why == Expired {
		seen.expired++
	} else {
		seen.noMember++
	}
	delete(m.clients, id)
}

// compare checks what people are shown against the twin, and that nobody
// waits who must not.
func (m *machine) compare(t *rapid.T) {
	w := m.twin
	if len(m.early) > 0 {
		t.Fatalf("outcomes of clients that don't wait: %v", m.early)
	}
	for _, p := range w.waiters {
		if w.overdue(p) {
			at, why := w.deadline(p)
			t.Fatalf("client %s should have been refused (%s) at %d; it is %d", p, reasonNames[why], at, w.now)
		}
	}
	for i, v := range w.virtuals {
		if v != nil {
			same(t, "virtual", i, plain(t, m.real.Virtual(VirtualID(i))), loadAs(v.Limit, v.use, w.waitingOf(VirtualID(i))))
		}
	}
	for i, n := range w.nodes {
		if n != nil {
			same(t, "node", i, plain(t, m.real.Node(NodeID(i))), loadAs(n.Limit, n.use, 0))
		}
	}
	for i, p := range w.pools {
		if p == nil {
			continue
		}
		id := PoolID(i)
		same(t, "pool", i, plain(t, m.real.Pool(id)), loadAs(p.Limit, p.use, w.waiting(id, 0)))
		same(t, "stats of pool", i, statsOf(m.real.PoolQueueAll(id)), p.seen)
		same(t, "pause of pool", i, m.real.Paused(id), p.paused)
	}
	for i, mc := range w.members {
		if mc == nil {
			continue
		}
		got := m.real.Member(MemberID(i))
		got.Load = plain(t, got.Load)
		same(t, "member", i, got, w.view(MemberID(i)))
	}
}

// plain is a load without the most there has been, which must not be less than
// there is.
func plain(t *rapid.T, l Load) Load {
	if l.Most < l.InUse {
		t.Fatalf("%+v", l)
	}
	l.Most = 0
	return l
}

func loadAs(limit, use, waiting int64) Load { return Load{Limit: limit, InUse: use, Waiting: waiting} }

func same[T comparable](t *rapid.T, kind string, i int, got, want T) {
	if got != want {
		t.Fatalf("%s %d: %+v, want %+v", kind, i, got, want)
	}
}

func statsOf(s *QueueStats) twinStats {
	return twinStats{
		s.Serviced.Load(), s.Expired.Load(), s.Overflowed.Load(), s.Abandoned.Load(),
		s.Requeued.Load(), s.Moved.Load(), s.RefusedNoMember.Load(), s.Flushed.Load(),
	}
}

func (t *twin) view(id MemberID) MemberView {
	m := t.members[id]
	v := MemberView{
		Load:  loadAs(m.Limit, m.use, t.waiting(m.Pool, Sticky(id)+1)),
		State: max(m.State, t.nodes[m.Node].State), Down: m.down, Removed: m.removed,
		Probing: m.ill && m.probing, DialFailures: m.failures,
	}
	if m.rampFrom != 0 && !m.removed {
		v.Ramp = t.limit(id)
	}
	if m.ill && !m.probing {
		v.BackOffUntil = m.pauseEnds
	}
	return v
}

func (w *twinWaiter) String() string {
	return fmt.Sprintf("%d (loop %d, virtual %d, sticky %d, in %d, %+v)", w.id, w.loop, w.virtual, w.sticky, w.in, w.a)
}
