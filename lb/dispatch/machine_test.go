package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTwin drives the dispatcher and its twin with the same random events and
// compares every decision, outcome and figure after each. A failure prints its
// events, shrunk, and the seed.
func TestTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		t.Repeat(rapid.StateMachineActions(m))
		m.empty(t)
	})
}

// machine is a front end with random clients. Its loops take turns; after
// each event they collect what there is.
type machine struct {
	real    *Dispatcher
	twin    *twin
	clients map[int]*twinClient
	lastID  int
	tickets []Tick // by loop: last one given out
}

type twinClient struct {
	id      int
	loop    int
	a       Attempt
	waiter  Waiter
	path    *Path
	dialled bool
}

// limits that leave no shards, and some that do.
var someLimits = rapid.SampledFrom([]int64{0, 1, 1, 2, 2, 3, 5, 17, 40})

var someDepths = rapid.SampledFrom([]int64{-1, -1, -1, 0, 1, 3})

var someStates = rapid.SampledFrom([]State{Enabled, Enabled, Enabled, Disabled, Offline})

var someTimes = rapid.SampledFrom([]Tick{0, 0, 20e6, 100e6, 1e9})

func newMachine(t *rapid.T) *machine {
	c := Config{Loops: rapid.IntRange(1, 3).Draw(t, "loops")}
	for range rapid.IntRange(1, 2).Draw(t, "nodes") {
		c.Nodes = append(c.Nodes, NodeConfig{Limit: someLimits.Draw(t, "limit")})
	}
	for range rapid.IntRange(1, 2).Draw(t, "pools") {
		c.Pools = append(c.Pools, somePool(t))
	}
	pool := rapid.IntRange(0, len(c.Pools)-1)
	for range rapid.IntRange(1, 3).Draw(t, "virtuals") {
		c.Virtuals = append(c.Virtuals, VirtualConfig{Pool: PoolID(pool.Draw(t, "pool")), Limit: someLimits.Draw(t, "limit")})
	}
	for range rapid.IntRange(1, 5).Draw(t, "members") {
		c.Members = append(c.Members, MemberConfig{
			Pool: PoolID(pool.Draw(t, "pool")), Node: NodeID(rapid.IntRange(0, len(c.Nodes)-1).Draw(t, "node")),
			Limit: someLimits.Draw(t, "limit"), Depth: someDepths.Draw(t, "depth"), State: someStates.Draw(t, "state"),
		})
	}
	return &machine{
		real: New(c, func(int) {}), twin: newTwin(c),
		clients: map[int]*twinClient{}, tickets: make([]Tick, c.Loops),
	}
}

func somePool(t *rapid.T) PoolConfig {
	return PoolConfig{
		Limit: someLimits.Draw(t, "limit"),
		Queue: rapid.IntRange(0, 4).Draw(t, "queue") > 0, Depth: someDepths.Draw(t, "depth"),
		QueueTime:     someTimes.Draw(t, "queue time"),
		WhenDownQueue: rapid.Bool().Draw(t, "when down"), WhenDownTime: someTimes.Draw(t, "when down time"),
		Tries: uint8(rapid.IntRange(0, 3).Draw(t, "tries")),
	}
}

// Arrive lets some clients in, now or, as to their tickets, a little earlier.
func (m *machine) Arrive(t *rapid.T) {
	loop := m.loop(t)
	v := VirtualID(rapid.IntRange(0, len(m.twin.Virtuals)-1).Draw(t, "virtual"))
	s := m.persisted(t, v)
	late := Tick(rapid.SampledFrom([]int{0, 0, 0, 1, 30}).Draw(t, "late ms")) * 1e6
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 5, 20}).Draw(t, "clients") {
		m.arrive(t, loop, v, s, late)
	}
}

// persisted draws a member of the virtual server's pool, or none.
func (m *machine) persisted(t *rapid.T, v VirtualID) Sticky {
	of := []Sticky{0, 0, 0}
	for i, mc := range m.twin.Members {
		if mc.Pool == m.twin.poolOf(v) {
			of = append(of, Sticky(i)+1)
		}
	}
	return rapid.SampledFrom(of).Draw(t, "sticky")
}

func (m *machine) arrive(t *rapid.T, loop int, v VirtualID, s Sticky, late Tick) {
	m.lastID++
	c := &twinClient{id: m.lastID, loop: loop, a: Attempt{Since: m.ticket(loop, late)}}
	got := m.real.Loop(loop).arriveAs(m.twin.now, v, s, uint32(c.id), c.a)
	if s != 0 && m.twin.state(MemberID(s-1)) == Offline {
		s = 0
	}
	kind, reason := m.twin.arrival(v, s)
	// Free slots in other shards are found by the home: granted at once.
	if got.Kind != kind && !(got.Kind == Wait && kind == Proceed) || got.Reason != reason {
		t.Fatalf("client %d: %+v, want %d %s", c.id, got, kind, reasonNames[reason])
	}
	m.clients[c.id] = c
	m.took(t, c, got, s)
	m.Check(t)
}

// ticket is a moment that no other client of the loop has.
func (m *machine) ticket(loop int, late Tick) Tick {
	if late > 0 {
		m.lastID++
		return m.twin.now - late - Tick(m.lastID)*1000
	}
	m.tickets[loop] = max(m.tickets[loop]+1, m.twin.now)
	return m.tickets[loop]
}

// took notes a verdict in the twin.
func (m *machine) took(t *rapid.T, c *twinClient, v Verdict, s Sticky) {
	switch v.Kind {
	case Proceed:
		m.connect(t, c, v.Path, s)
	case Wait:
		c.waiter = v.Waiter
		m.twin.park(&twinWaiter{c.id, c.loop, m.virtualOf(v.Waiter, c.loop), s, c.a})
		if p := m.twin.poolOf(m.virtualOf(v.Waiter, c.loop)); v.Position != m.twin.waiting(p, s) {
			t.Fatalf("client %d: position %d, want %d", c.id, v.Position, m.twin.waiting(p, s))
		}
	case Refuse:
		delete(m.clients, c.id)
	}
}

func (m *machine) virtualOf(w Waiter, loop int) VirtualID {
	return m.real.Loop(loop).table.at(w.Slot).virtual
}

func (m *machine) connect(t *rapid.T, c *twinClient, path Path, s Sticky) {
	c.path, c.dialled = &path, false
	if !m.twin.take(path, s, c.a.Tried) {
		t.Fatalf("client %d must not get %+v", c.id, path)
	}
}

// Dial ends a dial, well or not.
func (m *machine) Dial(t *rapid.T) {
	c := m.pick(t, func(c *twinClient) bool { return c.path != nil && !c.dialled })
	if rapid.IntRange(0, 2).Draw(t, "fails") > 0 {
		m.real.Loop(c.loop).Dialled(m.twin.now, c.path)
		m.twin.dialled(c.path.Member)
		c.dialled = true
		return
	}
	path := *c.path
	c.path = nil
	want := c.a
	m.twin.failed(path, &want)
	got := m.real.Loop(c.loop).Failed(m.twin.now, path, uint32(c.id), &c.a)
	if c.a != want {
		t.Fatalf("client %d: %+v after a failed dial, want %+v", c.id, c.a, want)
	}
	if kind := m.afterFailure(t, path.Virtual, c.a); got.Kind != kind || kind == Refuse && got.Reason != DialFailed {
		t.Fatalf("client %d: %+v after a failed dial, want %d", c.id, got, kind)
	}
	m.took(t, c, got, 0)
}

// afterFailure is what must become of a client whose dial failed, and whose
// slot is free again.
func (m *machine) afterFailure(t *rapid.T, v VirtualID, a Attempt) Kind {
	p := m.twin.poolOf(v)
	switch {
	case a.Tries > m.twin.Pools[p].Tries:
		return Refuse
	case m.twin.Pools[p].Queue:
		m.twin.seen[p].requeued++
		return Wait
	}
	m.follow(t) // who waits since before the queue was switched off goes first
	if m.twin.any(v, 0, a.Tried) {
		return Proceed
	}
	return Refuse
}

// Release ends a connection, dialled or not.
func (m *machine) Release(t *rapid.T) {
	c := m.pick(t, func(c *twinClient) bool { return c.path != nil })
	m.twin.release(*c.path)
	m.real.Loop(c.loop).Release(m.twin.now, *c.path)
	delete(m.clients, c.id)
}

// Leave takes a parked client away. Nothing is on its way to it: that was
// collected.
func (m *machine) Leave(t *rapid.T) {
	c := m.pick(t, func(c *twinClient) bool { return c.path == nil })
	m.leave(t, c)
}

func (m *machine) leave(t *rapid.T, c *twinClient) {
	w := m.twin.unpark(c.id)
	m.twin.seen[m.twin.poolOf(w.virtual)].abandoned++
	if !m.real.Loop(c.loop).Leave(m.twin.now, c.waiter, c.a.Since) {
		t.Fatalf("client %d can't leave", c.id)
	}
	delete(m.clients, c.id)
}

// Time passes.
func (m *machine) Time(t *rapid.T) {
	m.twin.now += Tick(rapid.SampledFrom([]int{1, 10, 50, 100, 1000, 6000}).Draw(t, "ms")) * 1e6
	m.runDue(t)
}

// runDue runs every loop that is due, until none is.
func (m *machine) runDue(t *rapid.T) {
	for busy := 0; ; busy++ {
		if busy > 100 {
			t.Fatal("the loops are due for ever")
		}
		again := false
		for _, l := range m.real.loops {
			if due := l.Due(); due != 0 && due <= m.twin.now {
				l.Run(m.twin.now)
				again = true
			}
		}
		if !again {
			return
		}
	}
}

func (m *machine) SetLimit(t *rapid.T) {
	l, n := m.real.Loop(m.loop(t)), someLimits.Draw(t, "limit")
	w := m.twin
	switch kind := rapid.IntRange(0, 3).Draw(t, "level"); kind {
	case 0:
		i := rapid.IntRange(0, len(w.Virtuals)-1).Draw(t, "virtual")
		w.Virtuals[i].Limit = n
		l.SetVirtualLimit(w.now, VirtualID(i), n)
	case 1:
		i := rapid.IntRange(0, len(w.Pools)-1).Draw(t, "pool")
		w.Pools[i].Limit = n
		l.SetPoolLimit(w.now, PoolID(i), n)
	case 2:
		i := rapid.IntRange(0, len(w.Members)-1).Draw(t, "member")
		w.Members[i].Limit = n
		l.SetMemberLimit(w.now, MemberID(i), n)
	case 3:
		i := rapid.IntRange(0, len(w.Nodes)-1).Draw(t, "node")
		w.Nodes[i].Limit = n
		l.SetNodeLimit(w.now, NodeID(i), n)
	}
}

func (m *machine) SetState(t *rapid.T) {
	l, to := m.real.Loop(m.loop(t)), someStates.Draw(t, "state")
	w := m.twin
	if rapid.IntRange(0, 3).Draw(t, "of a node") == 0 {
		i := rapid.IntRange(0, len(w.Nodes)-1).Draw(t, "node")
		w.change(func() { w.Nodes[i].State = to })
		l.SetNodeState(w.now, NodeID(i), to)
		return
	}
	i := rapid.IntRange(0, len(w.Members)-1).Draw(t, "member")
	w.change(func() { w.Members[i].State = to })
	l.SetMemberState(w.now, MemberID(i), to)
}

func (m *machine) SetRules(t *rapid.T) {
	i := rapid.IntRange(0, len(m.twin.Pools)-1).Draw(t, "pool")
	pc := somePool(t)
	pc.Limit, pc.Tries = m.twin.Pools[i].Limit, m.twin.Pools[i].Tries
	m.twin.Pools[i] = pc
	m.real.Loop(m.loop(t)).SetPoolRules(m.twin.now, PoolID(i), pc)
}

// Check collects the outcomes of the last event, has the twin follow them in
// the order that the rules demand, and compares all figures.
func (m *machine) Check(t *rapid.T) {
	m.follow(t)
	m.runDue(t)
	m.follow(t)
	m.compare(t)
}

func (m *machine) follow(t *rapid.T) {
	got := m.collect()
	for id, o := range got {
		if o.Reason != NotRefused {
			m.refused(t, id, o.Reason)
			delete(got, id)
		}
	}
	m.twin.moveStranded()
	for w := m.twin.next(); w != nil; w = m.twin.next() {
		o, ok := got[w.id]
		if !ok {
			t.Fatalf("client %d waits while a path is free for it; others: %v", w.id, got)
		}
		delete(got, w.id)
		m.twin.unpark(w.id)
		m.twin.seen[m.twin.poolOf(w.virtual)].serviced++
		m.connect(t, m.clients[w.id], o.Path, w.sticky)
	}
	if len(got) > 0 {
		t.Fatalf("granted, but not their turn, or nothing is free: %v", got)
	}
}

func (m *machine) collect() map[int]Outcome {
	got := map[int]Outcome{}
	for _, l := range m.real.loops {
		for o, ok := l.Next(); ok; o, ok = l.Next() {
			got[int(o.Conn)] = o
		}
	}
	return got
}

func (m *machine) refused(t *rapid.T, id int, why Reason) {
	w := m.twin.unpark(id)
	if w == nil {
		t.Fatalf("client %d refused, but does not wait", id)
	}
	at, want := m.twin.deadline(w)
	if !m.twin.overdue(w) || why != want {
		t.Fatalf("client %d refused (%s) at %d, want %s at %d", id, reasonNames[why], m.twin.now, reasonNames[want], at)
	}
	if seen := &m.twin.seen[m.twin.poolOf(w.virtual)]; why == Expired {
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
	for _, p := range w.waiters {
		if w.overdue(p) {
			at, why := w.deadline(p)
			t.Fatalf("client %d should have been refused (%s) at %d; it is %d", p.id, reasonNames[why], at, w.now)
		}
	}
	for i := range w.Virtuals {
		same(t, "virtual", i, plain(t, m.real.Virtual(VirtualID(i))), loadAs(w.Virtuals[i].Limit, w.virtualUse[i], w.waitingOf(VirtualID(i))))
	}
	for i := range w.Nodes {
		same(t, "node", i, plain(t, m.real.Node(NodeID(i))), loadAs(w.Nodes[i].Limit, w.nodeUse[i], 0))
	}
	for i := range w.Pools {
		p := PoolID(i)
		same(t, "pool", i, plain(t, m.real.Pool(p)), loadAs(w.Pools[i].Limit, w.poolUse[i], w.waiting(p, 0)))
		same(t, "stats of pool", i, statsOf(m.real.PoolQueueAll(p)), w.seen[i])
	}
	for i, mc := range w.Members {
		got := m.real.Member(MemberID(i))
		got.Load = plain(t, got.Load)
		same(t, "member", i, got, w.view(MemberID(i), mc))
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
		s.Requeued.Load(), s.Moved.Load(), s.RefusedNoMember.Load(),
	}
}

func (t *twin) view(m MemberID, mc MemberConfig) MemberView {
	tm := t.members[m]
	v := MemberView{
		Load:  loadAs(mc.Limit, t.memberUse[m], t.waiting(mc.Pool, Sticky(m)+1)),
		State: t.state(m), Probing: tm.ill && tm.probing, DialFailures: tm.failures,
	}
	if tm.ill && !tm.probing {
		v.BackOffUntil = tm.pauseEnds
	}
	return v
}

func (m *machine) loop(t *rapid.T) int { return rapid.IntRange(0, len(m.real.loops)-1).Draw(t, "loop") }

// pick draws a client; the action is skipped if there is none.
func (m *machine) pick(t *rapid.T, is func(*twinClient) bool) *twinClient {
	of := m.those(is)
	if len(of) == 0 {
		t.Skip("nobody")
	}
	return m.clients[rapid.SampledFrom(of).Draw(t, "client")]
}

func (m *machine) those(is func(*twinClient) bool) (ids []int) {
	for id, c := range m.clients {
		if is(c) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// empty ends everybody and checks that nothing is left.
func (m *machine) empty(t *rapid.T) {
	for len(m.clients) > 0 {
		id := m.those(func(*twinClient) bool { return true })[0]
		if c := m.clients[id]; c.path == nil {
			m.leave(t, c)
		} else {
			m.twin.release(*c.path)
			m.real.Loop(c.loop).Release(m.twin.now, *c.path)
			delete(m.clients, id)
		}
		m.Check(t)
	}
	checkEmpty(t, m.real)
}

func (w *twinWaiter) String() string {
	return fmt.Sprintf("%d (loop %d, virtual %d, sticky %d, %+v)", w.id, w.loop, w.virtual, w.sticky, w.a)
}
