package dispatch

import (
	"cmp"
	"slices"
)

// twin is the dispatcher as somebody would write it who has one thread and
// all the time of the world: one slice of waiters, one integer for each
// counter, one map of records. Where the real one is free, which is the choice
// among members with a slot by turn or by ratio, it decides nothing; it says
// what may be, and what must be.
type twin struct {
	now Tick

	// By number; see twin_edit_test.go for how they come and go.
	virtuals []*twinVirtual
	pools    []*twinPool
	members  []*twinMember
	nodes    []*twinNode

	waiters []*twinWaiter // in the order in which they are served if all can be
}

type twinVirtual struct {
	VirtualConfig
	use     int64
	records map[Source]*twinMember
	had     map[Source][]*twinMember // what they said since the last look
	removed bool
}

type twinPool struct {
	PoolConfig
	use    int64
	downAt Tick
	paused bool
	seen   twinStats
	added  int // members, ever
	gone   bool
}

type twinMember struct {
	MemberConfig
	index     int // in the pool, in the order in which they were added
	use       int64
	down      bool // the monitor's word
	removed   bool
	rampFrom  Tick
	given     Tick
	pauseEnds Tick
	ill       bool
	probing   bool
	fails     int
	failures  uint64
}

type twinNode struct {
	NodeConfig
	use  int64
	gone bool
}

type twinWaiter struct {
	id      int
	loop    int
	virtual VirtualID
	sticky  Sticky // whom it waits for; 0: any
	in      Sticky // whose queue counts it
	left    Sticky // whom it waited for before this series took it to another pool
	waived  bool   // it has waited long enough for its member
	class   uint8
	tried   uint64
	a       Attempt
}

type twinStats struct {
	serviced, expired, overflowed, abandoned, requeued, moved, noMember, flushed uint64
}

func newTwin(c Config) *twin {
	t := &twin{now: start}
	for _, n := range c.Nodes {
		t.addNode(n)
	}
	for _, p := range c.Pools {
		t.addPool(p)
	}
	for _, m := range c.Members {
		t.addMember(m)
	}
	for _, v := range c.Virtuals {
		t.addVirtual(v)
	}
	for i := range t.members {
		t.members[i].rampFrom = 0 // the program's start is no recovery
	}
	return t
}

func (t *twin) poolOf(v VirtualID) *twinPool { return t.pools[t.virtuals[v].Pool] }

// membersOf are the members of a pool that are not removed.
func (t *twin) membersOf(p PoolID) (of []MemberID) {
	for i, m := range t.members {
		if m != nil && !m.removed && m.Pool == p {
			of = append(of, MemberID(i))
		}
	}
	slices.SortStableFunc(of, func(a, b MemberID) int { return t.members[a].index - t.members[b].index })
	return of
}

func (t *twin) state(m MemberID) State {
	tm := t.members[m]
	if tm == nil || tm.down || tm.removed {
		return Offline
	}
	return max(tm.State, t.nodes[tm.Node].State)
}

func (t *twin) isUp(m MemberID) bool { return t.state(m) == Enabled }

// up counts the members of the pool that take new clients.
func (t *twin) up(p PoolID) (n int) {
	for _, m := range t.membersOf(p) {
		if t.isUp(m) {
			n++
		}
	}
	return n
}

// served says whether there is anybody to wait for.
func (t *twin) served(v VirtualID, s Sticky) bool {
	return t.up(t.virtuals[v].Pool) > 0 || s != 0 && t.state(MemberID(s-1)) != Offline
}

func bitOf(index int) uint64 { return 1 << (index % 64) }

// avoided says whether a waiter is not to go to m, since it refused it and
// there is another one that is up and did not.
func (t *twin) avoided(m MemberID, tried uint64) bool {
	if tried&bitOf(t.members[m].index) == 0 {
		return false
	}
	for _, o := range t.membersOf(t.members[m].Pool) {
		if t.isUp(o) && tried&bitOf(t.members[o].index) == 0 {
			return true
		}
	}
	return false
}

func below(use, limit int64) bool { return limit == 0 || use < limit }

// may says whether a connection may go to m now: all that the rules ask.
func (t *twin) may(v VirtualID, s Sticky, tried uint64, from Source, m MemberID) bool {
	tv, p := t.virtuals[v], t.poolOf(v)
	if p.paused || !below(tv.use, tv.Limit) || t.members[m].Pool != tv.Pool || t.members[m].removed {
		return false
	}
	if s != 0 {
		return s == Sticky(m)+1 && t.eligible(m, true) && (tv.Override || below(p.use, p.Limit) && t.roomAt(m))
	}
	return below(p.use, p.Limit) && slices.Contains(t.choice(tv.Pool, tried, from), m)
}

// eligible says whether m takes a client at all: one persisted to it, or not.
func (t *twin) eligible(m MemberID, sticky bool) bool {
	st, tm := t.state(m), t.members[m]
	return (st == Enabled || st == Disabled && sticky) && (!tm.ill || !tm.probing && tm.pauseEnds <= t.now)
}

// roomAt says whether the member and its node are below their limits.
func (t *twin) roomAt(m MemberID) bool {
	tm := t.members[m]
	n := t.nodes[tm.Node]
	return below(tm.use, t.limit(m)) && below(n.use, n.Limit)
}

// anyFree says whether there is a whole path.
func (t *twin) anyFree(v VirtualID, s Sticky, tried uint64, from Source) bool {
	for m := range t.members {
		if t.members[m] != nil && t.may(v, s, tried, from, MemberID(m)) {
			return true
		}
	}
	return false
}

// take takes the path, and says whether it was legal to.
func (t *twin) take(path Path, s Sticky, tried uint64, from Source) bool {
	m := t.members[path.Member]
	ok := t.may(path.Virtual, s, tried, from, path.Member) && path.Probe == m.ill && path.Persisted == (s != 0)
	if path.Probe {
		m.probing = true
	}
	if s == 0 && t.pools[m.Pool].Mode != InTurn {
		m.given = t.now
	}
	t.count(path, 1)
	return ok
}

func (t *twin) count(path Path, n int64) {
	m := t.members[path.Member]
	t.virtuals[path.Virtual].use += n
	t.pools[m.Pool].use += n
	m.use += n
	t.nodes[m.Node].use += n
}

func (t *twin) release(path Path) {
	if m := t.members[path.Member]; path.Probe && m.ill && m.probing {
		m.probing, m.pauseEnds = false, t.now
	}
	t.count(path, -1)
}

func (t *twin) dialled(m MemberID) {
	t.members[m].ill, t.members[m].probing, t.members[m].fails = false, false, 0
}

// failed notes a failed dial and begins a pause, unless there is one already.
func (t *twin) failed(path Path, a *Attempt) {
	m := t.members[path.Member]
	a.Tries++
	a.Tried |= bitOf(m.index)
	if m.Pool != t.virtuals[path.Virtual].Pool && a.Tries <= t.pools[m.Pool].Tries {
		a.Tried = 0
	}
	m.failures++
	if path.Probe || !m.ill {
		pause := 50e6 * Tick(1<<min(m.fails, 7))
		m.ill, m.probing, m.pauseEnds = true, false, t.now+min(pause, 5e9)
		m.fails++
	}
	t.count(path, -1)
}

// waiting counts those in the pool's queue, or in that of one member.
func (t *twin) waiting(p PoolID, in Sticky) (n int64) {
	for _, w := range t.waiters {
		if t.virtuals[w.virtual].Pool == p && w.in == in {
			n++
		}
	}
	return n
}

// waitingOf counts the waiters of a virtual server.
func (t *twin) waitingOf(v VirtualID) (n int64) {
	for _, w := range t.waiters {
		if w.virtual == v {
			n++
		}
	}
	return n
}

func (t *twin) anyWaits(p PoolID) bool {
	return t.pools[p].paused ||
		slices.ContainsFunc(t.waiters, func(w *twinWaiter) bool { return t.virtuals[w.virtual].Pool == p })
}

// queueFor is whose queue a client persisted to a member is counted in: the
// pool's if that or the virtual server is full and the member isn't.
func (t *twin) queueFor(v VirtualID, s Sticky) Sticky {
	if s == 0 {
		return 0
	}
	tv, p := t.virtuals[v], t.poolOf(v)
	full := !below(tv.use, tv.Limit) || !below(p.use, p.Limit)
	if m := MemberID(s - 1); full && t.eligible(m, true) && t.roomAt(m) {
		return 0
	}
	return s
}

func (t *twin) overrides(v VirtualID, s Sticky) bool {
	tv := t.virtuals[v]
	return s != 0 && tv.Override && t.eligible(MemberID(s-1), true) && below(tv.use, tv.Limit) && !t.poolOf(v).paused
}

// arrival is what must become of a newcomer. A Wait may be granted at once.
func (t *twin) arrival(v VirtualID, s Sticky, tried uint64, from Source) (Kind, Reason) {
	id := t.virtuals[v].Pool
	p, in := t.pools[id], t.queueFor(v, s)
	free := t.anyFree(v, s, tried, from)
	depth := p.Depth
	if in != 0 {
		depth = t.members[in-1].Depth
	}
	switch {
	case free && !t.anyWaits(id):
		return Proceed, NotRefused
	case !t.served(v, s) && !p.WhenDownQueue:
		p.seen.noMember++
		return Refuse, NoMember
	case t.overrides(v, s):
		return Wait, NotRefused
	case !p.Queue || depth == 0:
		if free {
			return Proceed, NotRefused
		}
		p.seen.overflowed++
		return Refuse, QueueOff
	case depth > 0 && t.waiting(id, in) >= depth:
		p.seen.overflowed++
		return Refuse, Overflow
	}
	return Wait, NotRefused
}

// park puts a waiter in its place.
func (t *twin) park(w *twinWaiter) {
	w.class = t.virtuals[w.virtual].classFor(w.a.Source)
	i, _ := slices.BinarySearchFunc(t.waiters, w, t.order)
	t.waiters = slices.Insert(t.waiters, i, w)
}

// order is who goes first: each class lower counts as having come later.
func (t *twin) order(a, b *twinWaiter) int {
	return cmp.Or(
		cmp.Compare(t.turnOf(a), t.turnOf(b)), cmp.Compare(a.a.Since, b.a.Since), cmp.Compare(a.loop, b.loop))
}

func (t *twin) turnOf(w *twinWaiter) Tick {
	return w.a.Since + Tick(7-w.class)*t.poolOf(w.virtual).ClassAge
}

func (v *twinVirtual) classFor(from Source) uint8 {
	best, bits := v.Class, -1
	for _, r := range v.Classes {
		n := newClass(r)
		if n.bits > bits && from.masked(n.bits) == n.net {
			best, bits = r.Class, n.bits
		}
	}
	return best
}

func (t *twin) waiter(id int) int {
	return slices.IndexFunc(t.waiters, func(w *twinWaiter) bool { return w.id == id })
}

func (t *twin) unpark(id int) *twinWaiter {
	i := t.waiter(id)
	if i < 0 {
		return nil
	}
	w := t.waiters[i]
	t.waiters = slices.Delete(t.waiters, i, i+1)
	return w
}

// deadline is when the waiter must be refused, and why; 0 is never.
func (t *twin) deadline(w *twinWaiter) (at Tick, why Reason) {
	p := t.poolOf(w.virtual)
	if p.QueueTime > 0 {
		at, why = w.a.Since+p.QueueTime, Expired
	}
	if t.served(w.virtual, w.sticky) {
		return at, why
	}
	if !p.WhenDownQueue {
		return w.a.Since, NoMember
	}
	if p.WhenDownTime > 0 {
		if down := max(w.a.Since, p.downAt) + p.WhenDownTime; at == 0 || down < at {
			return down, NoMember
		}
	}
	return at, why
}

func (t *twin) overdue(w *twinWaiter) bool {
	at, _ := t.deadline(w)
	return at != 0 && at <= t.now
}
