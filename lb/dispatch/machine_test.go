package dispatch

import (
	"net/netip"
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
	early   map[int]Outcome
}

type twinClient struct {
	id      int
	loop    int
	virtual VirtualID
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

var someSources = rapid.SampledFrom([]string{"", "10.0.0.1", "10.0.0.2", "10.0.1.1", "192.0.2.1", "2001:db8::1"})

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
		c.Virtuals = append(c.Virtuals, someVirtual(t, PoolID(pool.Draw(t, "pool"))))
	}
	for range rapid.IntRange(1, 5).Draw(t, "members") {
		node := rapid.IntRange(0, len(c.Nodes)-1).Draw(t, "node")
		c.Members = append(c.Members, someMember(t, PoolID(pool.Draw(t, "pool")), NodeID(node)))
	}
	return &machine{
		real: New(c, func(int) {}), twin: newTwin(c),
		clients: map[int]*twinClient{}, tickets: make([]Tick, c.Loops),
		early: map[int]Outcome{},
	}
}

// someVirtual always has a class for some, so that addresses are noted.
func someVirtual(t *rapid.T, pool PoolID) VirtualConfig {
	c := VirtualConfig{
		Pool: pool, Limit: someLimits.Draw(t, "limit"), Timeout: 1e18,
		Classes: []ClassRule{{netip.MustParsePrefix("192.0.2.0/24"), uint8(rapid.IntRange(0, 7).Draw(t, "class of some"))}},
	}
	if rapid.Bool().Draw(t, "persist") {
		c.Persist = Prefix{24, 64}
		c.Override = rapid.IntRange(0, 3).Draw(t, "override") == 0
	}
	return c
}

func someMember(t *rapid.T, pool PoolID, node NodeID) MemberConfig {
	return MemberConfig{
		Pool: pool, Node: node, Key: uint64(rapid.IntRange(1, 1<<20).Draw(t, "key")),
		Limit: someLimits.Draw(t, "limit"), Depth: someDepths.Draw(t, "depth"), State: someStates.Draw(t, "state"),
		Ratio: uint32(rapid.IntRange(0, 3).Draw(t, "ratio")), Priority: uint16(rapid.IntRange(0, 2).Draw(t, "priority")),
	}
}

func somePool(t *rapid.T) PoolConfig {
	return PoolConfig{
		Limit: someLimits.Draw(t, "limit"),
		Queue: rapid.IntRange(0, 4).Draw(t, "queue") > 0, Depth: someDepths.Draw(t, "depth"),
		QueueTime:     someTimes.Draw(t, "queue time"),
		WhenDownQueue: rapid.Bool().Draw(t, "when down"), WhenDownTime: someTimes.Draw(t, "when down time"),
		Tries:       uint8(rapid.IntRange(0, 3).Draw(t, "tries")),
		Mode:        Mode(rapid.SampledFrom([]Mode{InTurn, InTurn, ByRatio, LeastConnections, BySource}).Draw(t, "mode")),
		MinActive:   rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "min active"),
		SlowRamp:    someTimes.Draw(t, "slow ramp"),
		PersistWait: someTimes.Draw(t, "persist wait"),
		ClassAge:    someTimes.Draw(t, "class age"),
	}
}

// Arrive lets some clients in, now or, as to their tickets, a little earlier.
func (m *machine) Arrive(t *rapid.T) {
	loop := m.loop(t)
	v := m.aVirtual(t)
	if m.twin.virtuals[v].removed {
		t.Skip("not listened for")
	}
	from := sourceNamed(someSources.Draw(t, "from"))
	late := Tick(rapid.SampledFrom([]int{0, 0, 0, 1, 30}).Draw(t, "late ms")) * 1e6
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 5, 20}).Draw(t, "clients") {
		m.arrive(t, loop, v, from, late)
	}
}

// Come is Arrive once more: it is drawn as often as two others.
func (m *machine) Come(t *rapid.T) { m.Arrive(t) }

func sourceNamed(addr string) Source {
	if addr == "" {
		return unknown
	}
	return SourceOf(netip.MustParseAddr(addr))
}

func (m *machine) arrive(t *rapid.T, loop int, v VirtualID, from Source, late Tick) {
	m.lastID++
	c := &twinClient{id: m.lastID, loop: loop, virtual: v, a: Attempt{Since: m.ticket(loop, late), Source: from}}
	s := m.twin.memberFor(v, from)
	kind, reason := m.twin.arrival(v, s, 0, from)
	got := m.real.Loop(loop).Arrive(m.twin.now, v, uint32(c.id), c.a)
	m.clients[c.id] = c
	m.expect(t, c, got, kind, reason)
	m.took(t, c, got, s, false)
	m.Check(t)
}

// expect checks a verdict. Free slots in other shards are found by the home:
// granted at once.
func (m *machine) expect(t *rapid.T, c *twinClient, got Verdict, kind Kind, reason Reason) {
	if got.Kind != kind && !(got.Kind == Wait && kind == Proceed) || got.Reason != reason {
		t.Fatalf("client %d: %+v, want %d %s", c.id, got, kind, reasonNames[reason])
	}
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

// took notes a verdict in the twin. Leaves says that the client does not stay
// with the member its record names.
func (m *machine) took(t *rapid.T, c *twinClient, v Verdict, s Sticky, leaves bool) {
	switch v.Kind {
	case Proceed:
		m.connect(t, c, v.Path, s, c.a.Tried, leaves)
	case Wait:
		c.waiter = v.Waiter
		w := &twinWaiter{
			id: c.id, loop: c.loop, virtual: c.virtual, sticky: s, in: m.twin.queueFor(c.virtual, s),
			waived: leaves, tried: c.a.Tried, a: c.a,
		}
		m.twin.park(w)
		if n := m.twin.waiting(m.twin.virtuals[c.virtual].Pool, w.in); v.Position != n {
			t.Fatalf("client %d: position %d, want %d", c.id, v.Position, n)
		}
	case Refuse:
		delete(m.clients, c.id)
	}
}

func (m *machine) connect(t *rapid.T, c *twinClient, path Path, s Sticky, tried uint64, leaves bool) {
	c.path, c.dialled = &path, false
	if !m.twin.take(path, s, tried, c.a.Source) {
		t.Fatalf("client %d (for %d, tried %b) must not get %+v", c.id, s, tried, path)
	}
	m.twin.remember(c.virtual, c.a.Source, path.Member, leaves)
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
	if kind := m.afterFailure(t, path, c.a); got.Kind != kind || kind == Refuse && got.Reason != DialFailed {
		t.Fatalf("client %d: %+v after a failed dial, want %d", c.id, got, kind)
	}
	m.took(t, c, got, 0, true)
}

// afterFailure is what must become of a client whose dial failed, and whose
// slot is free again.
func (m *machine) afterFailure(t *rapid.T, path Path, a Attempt) Kind {
	v := path.Virtual
	p := m.twin.poolOf(v)
	switch {
	case a.Tries > m.twin.pools[m.twin.members[path.Member].Pool].Tries:
		return Refuse
	case p.Queue:
		p.seen.requeued++
		return Wait
	}
	m.follow(t) // who waits since before the queue was switched off goes first
	if m.twin.anyFree(v, 0, a.Tried, a.Source) {
		return Proceed
	}
	return Refuse
}

// Withdraw gives a slot back that was not used.
func (m *machine) Withdraw(t *rapid.T) {
	c := m.pick(t, func(c *twinClient) bool { return c.path != nil && !c.dialled })
	path := *c.path
	c.path = nil
	m.twin.release(path)
	want := c.a
	if m.twin.members[path.Member].Pool != m.twin.virtuals[c.virtual].Pool {
		want.Tried = 0
	}
	got := m.real.Loop(c.loop).Withdraw(m.twin.now, path, uint32(c.id), &c.a)
	if c.a != want {
		t.Fatalf("client %d: %+v withdrawn, want %+v", c.id, c.a, want)
	}
	if p := m.twin.poolOf(c.virtual); p.Queue {
		p.seen.requeued++
		m.expect(t, c, got, Wait, NotRefused)
		m.took(t, c, got, 0, false)
		return
	}
	m.follow(t)
	s := m.twin.memberFor(c.virtual, c.a.Source)
	kind, reason := m.twin.arrival(c.virtual, s, c.a.Tried, c.a.Source)
	m.expect(t, c, got, kind, reason)
	m.took(t, c, got, s, false)
}

// Release ends a connection, dialled or not.
func (m *machine) Release(t *rapid.T) {
	c := m.pick(t, func(c *twinClient) bool { return c.path != nil })
	m.release(c)
}

func (m *machine) release(c *twinClient) {
	m.twin.release(*c.path)
	m.real.Loop(c.loop).Release(m.twin.now, *c.path)
	delete(m.clients, c.id)
}

// Leave takes a parked client away. Nothing is on its way to it: that was
// collected.
func (m *machine) Leave(t *rapid.T) {
	m.leave(t, m.pick(t, func(c *twinClient) bool { return c.path == nil }))
}

func (m *machine) leave(t *rapid.T, c *twinClient) {
	w := m.twin.unpark(c.id)
	m.twin.poolOf(w.virtual).seen.abandoned++
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
	for i, p := range m.twin.pools {
		if p != nil && p.paused {
			m.pause(PoolID(i), false)
			m.Check(t)
		}
	}
	for len(m.clients) > 0 {
		id := m.those(func(*twinClient) bool { return true })[0]
		if c := m.clients[id]; c.path == nil {
			m.leave(t, c)
		} else {
			m.release(c)
		}
		m.Check(t)
	}
	checkEmpty(t, m.real)
}
