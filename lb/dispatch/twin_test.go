package dispatch

import (
	"cmp"
	"slices"
)

// twin is the dispatcher as somebody would write it who has one thread and
// all the time of the world: one slice of waiters, one integer for each
// counter. It decides nothing where the real one is free, which is the choice
// among members with a slot; it says what may be, and what must be.
type twin struct {
	Config
	now Tick

	virtualUse, poolUse, memberUse, nodeUse []int64

	members []twinMember
	downAt  []Tick // by pool
	waiters []*twinWaiter
	seen    []twinStats // by pool
}

type twinMember struct {
	pauseEnds Tick
	ill       bool
	probing   bool
	fails     int
	failures  uint64
}

type twinWaiter struct {
	id      int
	loop    int
	virtual VirtualID
	sticky  Sticky
	a       Attempt
}

type twinStats struct {
	serviced, expired, overflowed, abandoned, requeued, moved, noMember uint64
}

func newTwin(c Config) *twin {
	return &twin{
		Config: c, now: start,
		virtualUse: make([]int64, len(c.Virtuals)), poolUse: make([]int64, len(c.Pools)),
		memberUse: make([]int64, len(c.Members)), nodeUse: make([]int64, len(c.Nodes)),
		members: make([]twinMember, len(c.Members)),
		downAt:  make([]Tick, len(c.Pools)), seen: make([]twinStats, len(c.Pools)),
	}
}

func (t *twin) poolOf(v VirtualID) PoolID { return t.Virtuals[v].Pool }

func (t *twin) state(m MemberID) State {
	return max(t.Members[m].State, t.Nodes[t.Members[m].Node].State)
}

// up counts the members of the pool that take new clients.
func (t *twin) up(p PoolID) (n int) {
	for i, m := range t.Members {
		if m.Pool == p && t.state(MemberID(i)) == Enabled {
			n++
		}
	}
	return n
}

// change does something that may take a pool's last member, or give it one.
func (t *twin) change(do func()) {
	before := make([]int, len(t.Pools))
	for p := range t.Pools {
		before[p] = t.up(PoolID(p))
	}
	do()
	for p := range t.Pools {
		if before[p] > 0 && t.up(PoolID(p)) == 0 {
			t.downAt[p] = t.now
		}
	}
}

// served says whether there is anybody to wait for.
func (t *twin) served(v VirtualID, s Sticky) bool {
	return t.up(t.poolOf(v)) > 0 || s != 0 && t.state(MemberID(s-1)) != Offline
}

func bitOf(index int) uint64 { return 1 << (index % 64) }

// index is the member's place in its pool.
func (t *twin) index(m MemberID) (n int) {
	for _, o := range t.Members[:m] {
		if o.Pool == t.Members[m].Pool {
			n++
		}
	}
	return n
}

// avoided says whether a waiter is not to go to m, since it refused it and
// there is another one that is up and did not.
func (t *twin) avoided(m MemberID, tried uint64) bool {
	if tried&bitOf(t.index(m)) == 0 {
		return false
	}
	for i, o := range t.Members {
		if o.Pool == t.Members[m].Pool && t.state(MemberID(i)) == Enabled && tried&bitOf(t.index(MemberID(i))) == 0 {
			return true
		}
	}
	return false
}

func below(use, limit int64) bool { return limit == 0 || use < limit }

// may says whether a connection may go to m now: all that the rules ask.
func (t *twin) may(v VirtualID, s Sticky, tried uint64, m MemberID) bool {
	mc, st := t.Members[m], t.state(m)
	return mc.Pool == t.poolOf(v) && !t.avoided(m, tried) &&
		(s == 0 && st == Enabled || s == Sticky(m)+1 && st != Offline) &&
		t.rested(m) &&
		below(t.virtualUse[v], t.Virtuals[v].Limit) &&
		below(t.poolUse[mc.Pool], t.Pools[mc.Pool].Limit) &&
		below(t.memberUse[m], mc.Limit) &&
		below(t.nodeUse[mc.Node], t.Nodes[mc.Node].Limit)
}

func (t *twin) rested(m MemberID) bool {
	tm := t.members[m]
	return !tm.ill || !tm.probing && tm.pauseEnds <= t.now
}

// any says whether there is a whole path.
func (t *twin) any(v VirtualID, s Sticky, tried uint64) bool {
	for m := range t.Members {
		if t.may(v, s, tried, MemberID(m)) {
			return true
		}
	}
	return false
}

// take takes the path, and says whether it was legal to.
func (t *twin) take(path Path, s Sticky, tried uint64) bool {
	m := path.Member
	ok := t.may(path.Virtual, s, tried, m) && path.Probe == t.members[m].ill
	if path.Probe {
		t.members[m].probing = true
	}
	t.count(path, 1)
	return ok
}

func (t *twin) count(path Path, n int64) {
	mc := t.Members[path.Member]
	t.virtualUse[path.Virtual] += n
	t.poolUse[mc.Pool] += n
	t.memberUse[path.Member] += n
	t.nodeUse[mc.Node] += n
}

func (t *twin) release(path Path) {
	if m := &t.members[path.Member]; path.Probe && m.ill && m.probing {
		m.probing, m.pauseEnds = false, t.now
	}
	t.count(path, -1)
}

func (t *twin) dialled(m MemberID) {
	t.members[m].ill, t.members[m].probing, t.members[m].fails = false, false, 0
}

// failed notes a failed dial and begins a pause, unless there is one already.
func (t *twin) failed(path Path, a *Attempt) {
	a.Tries++
	a.Tried |= bitOf(t.index(path.Member))
	m := &t.members[path.Member]
	m.failures++
	if path.Probe || !m.ill {
		pause := 50e6 * Tick(1<<min(m.fails, 7))
		m.ill, m.probing, m.pauseEnds = true, false, t.now+min(pause, 5e9)
		m.fails++
	}
	t.count(path, -1)
}

// waiting counts those who wait in the pool's queue, or for one member.
func (t *twin) waiting(p PoolID, s Sticky) (n int64) {
	for _, w := range t.waiters {
		if t.poolOf(w.virtual) == p && w.sticky == s {
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
	return slices.ContainsFunc(t.waiters, func(w *twinWaiter) bool { return t.poolOf(w.virtual) == p })
}

func (t *twin) depth(p PoolID, s Sticky) int64 {
	if s != 0 {
		return t.Members[s-1].Depth
	}
	return t.Pools[p].Depth
}

// arrival is what must become of a newcomer. A Wait may be granted at once.
func (t *twin) arrival(v VirtualID, s Sticky) (Kind, Reason) {
	p := t.poolOf(v)
	free := t.any(v, s, 0)
	depth := t.depth(p, s)
	switch {
	case free && !t.anyWaits(p):
		return Proceed, NotRefused
	case !t.served(v, s) && !t.Pools[p].WhenDownQueue:
		t.seen[p].noMember++
		return Refuse, NoMember
	case !t.Pools[p].Queue || depth == 0:
		if free {
			return Proceed, NotRefused
		}
		t.seen[p].overflowed++
		return Refuse, QueueOff
	case depth > 0 && t.waiting(p, s) >= depth:
		t.seen[p].overflowed++
		return Refuse, Overflow
	}
	return Wait, NotRefused
}

func (t *twin) park(w *twinWaiter) {
	i, _ := slices.BinarySearchFunc(t.waiters, w, func(a, b *twinWaiter) int {
		return cmp.Or(cmp.Compare(a.a.Since, b.a.Since), cmp.Compare(a.loop, b.loop))
	})
	t.waiters = slices.Insert(t.waiters, i, w)
}

func (t *twin) unpark(id int) *twinWaiter {
	i := slices.IndexFunc(t.waiters, func(w *twinWaiter) bool { return w.id == id })
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
	pc := t.Pools[p]
	if pc.QueueTime > 0 {
		at, why = w.a.Since+pc.QueueTime, Expired
	}
	if t.served(w.virtual, w.sticky) {
		return at, why
	}
	if !pc.WhenDownQueue {
		return w.a.Since, NoMember
	}
	if pc.WhenDownTime > 0 {
		if down := max(w.a.Since, t.downAt[p]) + pc.WhenDownTime; at == 0 || down < at {
			return down, NoMember
		}
	}
	return at, why
}

func (t *twin) overdue(w *twinWaiter) bool {
	at, _ := t.deadline(w)
	return at != 0 && at <= t.now
}

// moveStranded moves those persisted to a member that takes nobody to the
// pool's queue.
func (t *twin) moveStranded() {
	for _, w := range t.waiters {
		if w.sticky != 0 && t.state(MemberID(w.sticky-1)) == Offline && !t.overdue(w) {
			w.sticky = 0
			t.seen[t.poolOf(w.virtual)].moved++
		}
	}
}

// next is who must be served next: the oldest with a whole path. Nil if
// nobody has one.
func (t *twin) next() *twinWaiter {
	for _, w := range t.waiters {
		if !t.overdue(w) && t.any(w.virtual, w.sticky, w.a.Tried) {
			return w
		}
	}
	return nil
}
