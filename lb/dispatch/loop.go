package dispatch

import "penstock/lb/queue"

// Loop is the dispatcher as one event loop sees it. Only the loop's own
// thread may use it.
type Loop struct {
	d     *Dispatcher
	index int

	table   table
	inbox   inbox
	out     uint32    // outcomes taken from the inbox, oldest first: slot plus one
	next    []chooser // by pool
	pending []*home   // homes to run again soon
	dues    []Tick    // by home: when to run it
	due     Tick      // the soonest of dues
	noted   Tick      // when counters were last looked at for Load.Most
}

// notePause is how often they are.
const notePause Tick = 1e6

// Attempt is what a connection has been through; part of its record at the
// front end. Failed updates it.
type Attempt struct {
	Since  Tick   // when it was accepted; its ticket. Must be positive.
	Tried  uint64 // members that refused it
	Tries  uint8  // dials that failed
	Source Source // its client's address
}

// Sticky names the member an arrival is persisted to, plus one; 0 is none.
type Sticky uint16

// Arrive decides about a new connection, which the loop knows as conn.
func (l *Loop) Arrive(now Tick, v VirtualID, conn uint32, a Attempt) Verdict {
	vs := l.d.virtuals[v]
	s := Sticky(0)
	if vs.usesAddr { // here, too: it is no call then
		s = l.d.memberFor(now, vs, a.Source)
	}
	return l.arrive(now, vs, s, conn, a)
}

// arrive decides about a connection whose member, if it is persisted to one,
// has been found out.
func (l *Loop) arrive(now Tick, v *virtual, s Sticky, conn uint32, a Attempt) Verdict {
	if m := l.d.persisted(s); m != nil && m.operator() == Offline {
		s = 0 // another member
	}
	// Nobody overtakes who waits, or who has just parked and may have to.
	if v.pool.home.state.Load() == 0 && !v.pool.waiting.Load() {
		path, ok := l.take(now, v, s, 0, a.Source, false)
		if ok {
			if s = l.record(now, v, s, a.Source, path); s == 0 {
				return Verdict{Kind: Proceed, Path: path}
			}
		}
	}
	return l.park(now, v, s, conn, &a)
}

// record makes the record of a newcomer that got path. If another loop has
// just given its source another member, the path is given back, and the
// newcomer waits for that one.
func (l *Loop) record(now Tick, v *virtual, s Sticky, from Source, path Path) (other Sticky) {
	if s != 0 || !v.usesAddr {
		return 0
	}
	m := l.d.members[path.Member]
	if has := v.claim(now, from, m, false); has != m.name() {
		l.Release(now, path)
		return Sticky(has.ID) + 1
	}
	return 0
}

// park puts a newcomer into the queue, if there is one and it has room.
func (l *Loop) park(now Tick, v *virtual, s Sticky, conn uint32, a *Attempt) Verdict {
	pl, in := v.pool, l.d.queueFor(now, v, s)
	most, why := l.room(now, v, s, in)
	if why == QueueOff {
		return l.lastTry(now, v, s, in, a)
	}
	if why != NotRefused {
		return l.turnAway(v, in, why)
	}
	depth, _ := pl.depthOf(l.d, in)
	n, ok := join(depth, most)
	if !ok && pl.fair.on() && in == 0 {
		n, ok = depth.Add(1), true // the home pushes out one of the longest flow
	}
	if !ok {
		return l.turnAway(v, in, Overflow)
	}
	w, ok := l.table.alloc(conn, v, in, a.Source)
	if !ok {
		depth.Add(-1)
		return l.turnAway(v, in, Overflow)
	}
	v.waits.Add(1)
	v.fresh[l.index].Push(l.entry(v, s, w, a, v.classOf(a.Source)))
	pl.home.kick(l, now, arrived)
	return Verdict{Kind: Wait, Waiter: w, Position: n}
}

// queueFor names the member in whose queue a client is counted, plus one: the
// one it is persisted to, unless that has a slot and it is the pool or the
// virtual server that is full. 0 is the pool's queue.
func (d *Dispatcher) queueFor(now Tick, v *virtual, s Sticky) Sticky {
	m := d.persisted(s)
	if m != nil && m.eligible(now, true) && m.below() && !(v.slots.Below() && v.pool.slots.Below()) {
		return 0
	}
	return s
}

// room says how many may be in the queue that a newcomer is for, itself
// included (negative: any number), or why it is refused.
func (l *Loop) room(now Tick, v *virtual, s, in Sticky) (most int64, why Reason) {
	pl, m := v.pool, l.d.persisted(s)
	switch {
	case !pl.serves(m) && !pl.whenDown.Load():
		return 0, NoMember
	case m != nil && v.overrides(now, m):
		return -1, NotRefused // the home lets it in at once
	case !pl.queue.Load():
		return 0, QueueOff
	}
	depth, atMost := pl.depthOf(l.d, in)
	most = atMost.Load()
	if most == 0 && !pl.reachable(m) {
		// Members without a limit: nobody waits for them, unless they can't
		// be dialled at all.
		most = pl.downCap.Load()
	}
	switch {
	case most == 0:
		return 0, QueueOff
	case pl.refuseEarly && !pl.sorted && !pl.paused.Load() && pl.hopeless(now, depth.Load()+1):
		return 0, Early
	}
	return most, NotRefused
}

// Depth returns how many wait where a virtual server's clients do, and how many
// may; negative: any number.
func (l *Loop) Depth(id VirtualID) (waiting, most int64) {
	depth, atMost := l.d.virtuals[id].pool.depthOf(l.d, 0)
	return depth.Load(), atMost.Load()
}

// hopeless says whether the last of n waiters would not be served in time, at
// the rate at which they have been lately.
func (pl *pool) hopeless(now Tick, n int64) bool {
	rate, most := pl.meter.Rate(int64(now)), pl.queueTime.Load()
	return rate > 0 && most > 0 && float64(n)/rate*1e9 > float64(most)
}

func (l *Loop) turnAway(v *virtual, s Sticky, why Reason) Verdict {
	v.pool.queueOf(l.d, s).turnedAway(why)
	v.stats.turnedAway(why)
	return Verdict{Kind: Refuse, Reason: why}
}

// lastTry is for pools that don't queue: a slot, or no.
func (l *Loop) lastTry(now Tick, v *virtual, s, in Sticky, a *Attempt) Verdict {
	for {
		path, ok := l.takeSwept(now, v, s, v.pool.avoid(a.Tried), a.Source)
		if !ok {
			return l.turnAway(v, in, QueueOff)
		}
		if s = l.record(now, v, s, a.Source, path); s == 0 {
			return Verdict{Kind: Proceed, Path: path}
		}
	}
}

// takeSwept takes a path for who is not going to wait. A free token may lie in
// another loop's shard, where take does not look, and no home is going to
// sweep for it; or time may have raised a limit.
func (l *Loop) takeSwept(now Tick, v *virtual, s Sticky, tried uint64, from Source) (Path, bool) {
	if v.pool.paused.Load() {
		return Path{}, false
	}
	v.slots.Sweep()
	v.pool.slots.Sweep()
	for _, m := range v.pool.members {
		m.slots.Sweep()
		m.node.slots.Sweep()
	}
	l.look(now, v.pool.home, true)
	if v.pool.home.ramping.Load() {
		v.pool.home.kick(l, now, capacity)
	}
	return l.take(now, v, s, tried, from, true)
}

func (l *Loop) entry(v *virtual, s Sticky, w Waiter, a *Attempt, mark uint8) queue.Entry {
	return queue.Entry{
		Since: int64(a.Since), Slot: w.Slot, Gen: w.Gen, Tried: a.Tried, Tries: a.Tries,
		Virtual: uint16(v.id), Sticky: uint16(s), Loop: uint16(l.index), Mark: mark,
	}
}

// take takes a whole path for a newcomer, all or nothing.
func (l *Loop) take(now Tick, v *virtual, s Sticky, tried uint64, from Source, swept bool) (Path, bool) {
	h := v.pool.home
	t := taking{loop: l.index, now: now, lease: h.flags.Load() == 0, swept: swept}
	w := wish{member: l.d.persisted(s), tried: tried, source: from}
	next := &l.next[v.pool.id]
	path, ok := t.path(v, &w, next)
	if ok {
		next.took(v.pool, &w, now)
	}
	if t.left || t.gave { // a token was put somewhere: look for who wants it
		l.look(now, h, t.left || t.sharded)
	}
	return path, ok
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
	return l.retry(now, path, conn, a)
}

// Unfit is Failed for a connection that the member can't have for a reason of its
// own: to the member that is nothing, and others are not kept from it.
func (l *Loop) Unfit(now Tick, path Path, conn uint32, a *Attempt) Verdict {
	if path.Probe {
		l.d.members[path.Member].unprobed(now)
		path.Probe = false
	}
	return l.retry(now, path, conn, a)
}

// retry counts a try.
func (l *Loop) retry(now Tick, path Path, conn uint32, a *Attempt) Verdict {
	m := l.d.members[path.Member]
	a.Tries++
	a.Tried |= m.bit()
	if a.Tries > m.pool.tries {
		l.Release(now, path)
		return Verdict{Kind: Refuse, Reason: DialFailed}
	}
	return l.again(now, path, conn, a, waived)
}

// Short puts a connection back at its original ticket for which there was nothing
// to reach the member with: no port, or no record. That is no fault of the
// member's, which is passed over for a while all the same, and costs no try. The
// Verdict may be any kind.
func (l *Loop) Short(now Tick, path Path, conn uint32, a *Attempt) Verdict {
	l.d.members[path.Member].backOff(now, path.Probe)
	path.Probe = false
	return l.again(now, path, conn, a, waived)
}

// Usable says whether the path's member still takes the connection it was
// granted to. If not, Withdraw it instead of dialling.
func (l *Loop) Usable(path Path) bool { return l.d.members[path.Member].takes(path.Persisted) }

// Withdraw puts a connection back at its original ticket that has a slot but
// has not begun to use it, and gives the slot back. It costs no try. The
// Verdict may be any kind.
func (l *Loop) Withdraw(now Tick, path Path, conn uint32, a *Attempt) Verdict {
	return l.again(now, path, conn, a, 0)
}

// again is for a connection that had a path and needs another: in a pool that
// doesn't queue at once, or never.
func (l *Loop) again(now Tick, path Path, conn uint32, a *Attempt, mark uint8) Verdict {
	v := l.d.virtuals[path.Virtual]
	if l.d.members[path.Member].pool != v.pool {
		a.Tried = 0 // the virtual server has got another pool meanwhile
	}
	if v.pool.queue.Load() {
		return l.requeue(now, path, conn, a, mark)
	}
	l.Release(now, path)
	if mark&waived == 0 {
		return l.park(now, v, l.d.memberFor(now, v, a.Source), conn, a)
	}
	if next, ok := l.takeSwept(now, v, 0, v.pool.avoid(a.Tried), a.Source); ok {
		v.claim(now, a.Source, l.d.members[next.Member], true)
		return Verdict{Kind: Proceed, Path: next}
	}
	return Verdict{Kind: Refuse, Reason: DialFailed}
}

// requeue lets the waiter in before its slot goes back, so that the slot's
// release finds it. Its place was never given up, so the depth is not asked.
func (l *Loop) requeue(now Tick, path Path, conn uint32, a *Attempt, mark uint8) Verdict {
	v := l.d.virtuals[path.Virtual]
	h := v.pool.home
	w, ok := l.table.alloc(conn, v, 0, a.Source)
	if !ok {
		l.Release(now, path)
		return Verdict{Kind: Refuse, Reason: DialFailed}
	}
	n := v.pool.depth.Add(1)
	v.waits.Add(1)
	v.pool.own.Requeued.Add(1)
	v.stats.Requeued.Add(1)
	h.returned[l.index].Push(l.entry(v, 0, w, a, v.classOf(a.Source)|mark))
	h.comeback.Add(1) // before the slot goes back: see overtakes
	l.Release(now, path)
	h.kick(l, now, arrived|capacity)
	return Verdict{Kind: Wait, Waiter: w, Position: n}
}

// Release gives the path's slot back. It ends every Proceed and every grant
// that did not end in Failed, Unfit, Short or Withdraw.
func (l *Loop) Release(now Tick, path Path) {
	m, v := l.d.members[path.Member], l.d.virtuals[path.Virtual]
	h := m.pool.home
	if path.Probe {
		m.unprobed(now)
	}
	if now-l.noted >= notePause {
		l.noted = now
		l.note(m, v)
	}
	flags, other := h.flags.Load(), v.pool.home
	if other != h { // the virtual server got another pool meanwhile
		flags |= other.flags.Load()
	}
	sharded := l.give(m, v, flags != 0)
	l.look(now, h, sharded)
	if other != h {
		l.look(now, other, sharded)
	}
}

// note looks how many are in use, before that becomes less.
func (l *Loop) note(m *member, v *virtual) {
	v.slots.Note()
	m.pool.slots.Note()
	m.slots.Note()
	m.node.slots.Note()
}

// give puts the path's tokens back, last level first.
func (l *Loop) give(m *member, v *virtual, toWord bool) (sharded bool) {
	a := m.node.slots.Give(l.index, toWord)
	b := m.slots.Give(l.index, toWord)
	c := m.pool.slots.Give(l.index, toWord)
	d := v.slots.Give(l.index, toWord)
	return a || b || c || d
}

// Leave takes a parked connection out of the queue. False if it is too late:
// its outcome comes, or has come, through Next, and may be a grant to release.
func (l *Loop) Leave(now Tick, w Waiter, since Tick) bool {
	was, won := l.table.move(w.Slot, w.Gen, mkState(0, 0, gone))
	if !won {
		return false
	}
	vs := l.d.virtuals[l.table.at(w.Slot).virtual]
	l.d.uncount(vs, was).abandoned(now - since)
	vs.stats.abandoned(now - since)
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
		o.Path = Path{r.virtual, MemberID(s.member() - 1), s.phase() == grantedProbe, s.persisted()}
	case noMember:
		o.Reason = NoMember
	case overflow:
		o.Reason = Overflow
	case early:
		o.Reason = Early
	case shed:
		o.Reason = Shed
	case flushed:
		o.Reason = Flushed
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
