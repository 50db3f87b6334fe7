package dispatch

import (
	"penstock/lb/method"
	"penstock/lb/queue"
)

// Loop is the dispatcher as one event loop sees it. Only the loop's own
// thread may use it.
type Loop struct {
	d     *Dispatcher
	index int

	table   table
	inbox   inbox
	out     uint32              // outcomes taken from the inbox, oldest first: slot plus one
	next    []method.RoundRobin // by pool
	pending []*home             // homes to run again soon
	dues    []Tick              // by home: when to run it
	due     Tick                // the soonest of dues
}

// Attempt is what a connection has been through; part of its record at the
// front end, zero for a new one. Failed updates it.
type Attempt struct {
	Since Tick   // when it was accepted; its ticket. Must be positive.
	Tried uint64 // members that refused it
	Tries uint8  // dials that failed
}

// Sticky names the member an arrival is persisted to, plus one; 0 is none.
type Sticky uint16

// Arrive decides about a new connection, which the loop knows as conn.
func (l *Loop) Arrive(now Tick, v VirtualID, s Sticky, conn uint32, a Attempt) Verdict {
	vs := l.d.virtuals[v]
	if m := l.d.persisted(s); m != nil && m.operator() == Offline {
		s = 0 // another member
	}
	if !vs.pool.waiting.Load() { // or else: nobody overtakes the waiters
		if path, ok := l.take(now, vs, s, 0); ok {
			return Verdict{Kind: Proceed, Path: path}
		}
	}
	return l.park(now, vs, s, conn, a)
}

// park puts a newcomer into the queue, if there is one and it has room.
func (l *Loop) park(now Tick, v *virtual, s Sticky, conn uint32, a Attempt) Verdict {
	pl := v.pool
	if !pl.serves(l.d.persisted(s)) && !pl.whenDown.Load() {
		pl.stats.RefusedNoMember.Add(1)
		return Verdict{Kind: Refuse, Reason: NoMember}
	}
	depth, atMost := pl.depthOf(l.d, s)
	most := atMost.Load()
	if most == 0 && !pl.reachable() {
		// Members without a limit: nobody waits for them, unless they can't
		// be dialled at all.
		most = pl.downCap.Load()
	}
	if !pl.queue.Load() || most == 0 {
		return l.lastTry(now, v, s)
	}
	n, ok := join(depth, most)
	if !ok {
		pl.stats.Overflowed.Add(1)
		return Verdict{Kind: Refuse, Reason: Overflow}
	}
	w, ok := l.table.alloc(conn, v.id, uint16(s))
	if !ok {
		depth.Add(-1)
		pl.stats.Overflowed.Add(1)
		return Verdict{Kind: Refuse, Reason: Overflow}
	}
	pl.home.live.Add(1)
	v.fresh[l.index].Push(l.entry(v, s, w, a))
	pl.home.kick(l, now, arrived)
	return Verdict{Kind: Wait, Waiter: w, Position: n}
}

// lastTry is for pools that don't queue: a slot, or no.
func (l *Loop) lastTry(now Tick, v *virtual, s Sticky) Verdict {
	if path, ok := l.takeSwept(now, v, s, 0); ok {
		return Verdict{Kind: Proceed, Path: path}
	}
	v.pool.stats.Overflowed.Add(1)
	return Verdict{Kind: Refuse, Reason: QueueOff}
}

// takeSwept takes a path for who is not going to wait. A free token may lie in
// another loop's shard, where take does not look, and no home is going to
// sweep for it.
func (l *Loop) takeSwept(now Tick, v *virtual, s Sticky, tried uint64) (Path, bool) {
	v.slots.Sweep()
	v.pool.slots.Sweep()
	for _, m := range v.pool.members {
		m.slots.Sweep()
		m.node.slots.Sweep()
	}
	l.look(now, v.pool.home, true)
	return l.take(now, v, s, tried)
}

func (l *Loop) entry(v *virtual, s Sticky, w Waiter, a Attempt) queue.Entry {
	return queue.Entry{
		Since: int64(a.Since), Slot: w.Slot, Gen: w.Gen, Tried: a.Tried, Tries: a.Tries,
		Virtual: uint16(v.id), Sticky: uint16(s), Loop: uint16(l.index),
	}
}

// take takes a whole path for a newcomer, all or nothing.
func (l *Loop) take(now Tick, v *virtual, s Sticky, tried uint64) (Path, bool) {
	h := v.pool.home
	t := taking{loop: l, now: now, lease: h.flags.Load() == 0}
	m, probe := t.path(v, s, tried)
	if t.left || t.gave { // a token was put somewhere: look for who wants it
		l.look(now, h, t.left || t.sharded)
	}
	if m == nil {
		return Path{}, false
	}
	return Path{v.id, m.id, probe}, true
}

// look is owed by whoever put a token anywhere, after that. sharded says that
// one may lie in a shard.
func (l *Loop) look(now Tick, h *home, sharded bool) {
	if h.flags.Load() == 0 {
		return
	}
	bits := capacity
	if sharded {
		bits |= sweep
	}
	h.kick(l, now, bits)
}

// Dialled tells that a dial to the path's member succeeded. The path is no
// probe any more.
func (l *Loop) Dialled(now Tick, path *Path) {
	path.Probe = false
	m := l.d.members[path.Member]
	if m.well() {
		m.pool.home.kick(l, now, capacity)
	}
}

// Failed tells that a dial failed. It gives the slot back and puts the
// connection back at its original ticket (invariant 5), or refuses it if it
// has failed as often as allowed. The Verdict may be any kind.
func (l *Loop) Failed(now Tick, path Path, conn uint32, a *Attempt) Verdict {
	m := l.d.members[path.Member]
	m.backOff(now, path.Probe)
	m.refused.Add(1)
	path.Probe = false
	a.Tries++
	a.Tried |= m.bit()
	pl := m.pool
	if a.Tries > pl.tries {
		l.Release(now, path)
		return Verdict{Kind: Refuse, Reason: DialFailed}
	}
	if !pl.queue.Load() {
		return l.again(now, path, a)
	}
	return l.requeue(now, path, conn, a)
}

// again is a failed dial in a pool that doesn't queue: another member at
// once, or none.
func (l *Loop) again(now Tick, path Path, a *Attempt) Verdict {
	l.Release(now, path)
	v := l.d.virtuals[path.Virtual]
	if next, ok := l.takeSwept(now, v, 0, v.pool.avoid(a.Tried)); ok {
		return Verdict{Kind: Proceed, Path: next}
	}
	return Verdict{Kind: Refuse, Reason: DialFailed}
}

// requeue lets the waiter in before its slot goes back, so that the slot's
// release finds it. Its place was never given up, so the depth is not asked.
func (l *Loop) requeue(now Tick, path Path, conn uint32, a *Attempt) Verdict {
	v := l.d.virtuals[path.Virtual]
	h := v.pool.home
	w, ok := l.table.alloc(conn, v.id, 0)
	if !ok {
		l.Release(now, path)
		return Verdict{Kind: Refuse, Reason: DialFailed}
	}
	n := v.pool.depth.Add(1)
	h.live.Add(1)
	v.pool.stats.Requeued.Add(1)
	h.returned[l.index].Push(l.entry(v, 0, w, *a))
	l.Release(now, path)
	h.kick(l, now, arrived|capacity)
	return Verdict{Kind: Wait, Waiter: w, Position: n}
}

// Release gives the path's slot back. It ends every Proceed and every grant
// that did not end in Failed.
func (l *Loop) Release(now Tick, path Path) {
	m := l.d.members[path.Member]
	h := m.pool.home
	if path.Probe {
		m.unprobed(now)
	}
	toWord := h.flags.Load() != 0
	sharded := l.give(path, toWord)
	l.look(now, h, sharded)
}

// give puts the path's tokens back, last level first.
func (l *Loop) give(path Path, toWord bool) (sharded bool) {
	m := l.d.members[path.Member]
	a := m.node.slots.Give(l.index, toWord)
	b := m.slots.Give(l.index, toWord)
	c := m.pool.slots.Give(l.index, toWord)
	d := l.d.virtuals[path.Virtual].slots.Give(l.index, toWord)
	return a || b || c || d
}

// Leave takes a parked connection out of the queue. False if it is too late:
// its outcome comes, or has come, through Next, and may be a grant to release.
func (l *Loop) Leave(now Tick, w Waiter, since Tick) bool {
	was, won := l.table.move(w.Slot, w.Gen, 0, gone)
	if !won {
		return false
	}
	vs := l.d.virtuals[l.table.at(w.Slot).virtual]
	l.d.uncount(vs, was)
	vs.pool.stats.abandoned(now - since)
	l.table.release(w.Slot)
	vs.pool.home.kick(l, now, arrived)
	return true
}

// Next returns the next outcome of this loop's waiters. The waiter's record is
// free afterwards.
func (l *Loop) Next() (o Outcome, ok bool) {
	if l.out == 0 && !l.takeInbox() {
		return o, false
	}
	slot := l.out - 1
	r := l.table.at(slot)
	l.out = r.next.Load()
	s := state(r.state.Load())
	o.Conn = r.conn
	switch s.phase() {
	case granted, grantedProbe:
		o.Path = Path{r.virtual, MemberID(s.member() - 1), s.phase() == grantedProbe}
	case noMember:
		o.Reason = NoMember
	default:
		o.Reason = Expired
	}
	l.table.release(slot)
	return o, true
}

// takeInbox takes all outcomes and turns the stack around.
func (l *Loop) takeInbox() bool {
	if l.inbox.top.Load() == 0 {
		return false
	}
	for at := l.inbox.top.Swap(0); at != 0; {
		r := l.table.at(at - 1)
		next := r.next.Load()
		r.next.Store(l.out)
		l.out, at = at, next
	}
	return true
}

// Due returns when Run is to be called if nothing else happens: 0 never, 1 at
// once.
func (l *Loop) Due() Tick {
	if len(l.pending) > 0 {
		return 1
	}
	return l.due
}

// Run does what is due: passes that used up their budget, waits that run out,
// pauses that are over.
func (l *Loop) Run(now Tick) {
	again := l.pending
	l.pending = nil
	for _, h := range again {
		h.kick(l, now, 0)
	}
	if l.due == 0 || l.due > now {
		return
	}
	for i, due := range l.dues {
		if due == 0 || due > now {
			continue
		}
		l.dues[i] = 0
		h := l.d.homes[i]
		if Tick(h.due.Load()) <= now { // else another loop has a later one armed
			h.due.Store(0)
			h.kick(l, now, arrived|capacity)
		}
	}
	l.findDue()
}

// arm makes Run look after the home at the given tick.
func (l *Loop) arm(h *home, due Tick) {
	l.dues[h.index] = due
	l.findDue()
}

func (l *Loop) findDue() {
	l.due = 0
	for _, t := range l.dues {
		l.due = sooner(l.due, t)
	}
}

// runSoon makes Due ask for a Run at once.
func (l *Loop) runSoon(h *home) {
	for _, p := range l.pending {
		if p == h {
			return
		}
	}
	l.pending = append(l.pending, h)
}
