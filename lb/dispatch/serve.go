package dispatch

import "penstock/lb/queue"

// serve gives slots to waiters, oldest first, until no head can be served or
// the budget is used up.
func (p *pass) serve() {
	for p.budget > 0 {
		g := p.oldest()
		if g == nil {
			return
		}
		p.budget--
		if g.member != nil && g.member.operator() == Offline {
			p.moveToPool(g) // invariant 10
			continue
		}
		p.grant(g)
	}
}

// candidate is the queue to serve next, as far as was looked.
type candidate struct {
	group *group
	head  *queue.Entry
}

// oldest returns the queue to serve next: the one that is not blocked and has
// the oldest head; who is of a lower class counts as having come later. In a
// fair pool the flow whose turn it is stands for all. Nil if there is none.
func (p *pass) oldest() *group {
	for {
		p.moved = false
		g := p.look()
		if p.budget <= 0 { // some heads were not looked at
			return nil
		}
		if !p.moved { // or else a queue that was looked at may have an older head
			return g
		}
	}
}

func (p *pass) look() *group {
	var c candidate
	for _, g := range p.active {
		if g.flow == nil {
			p.consider(&c, g)
		}
	}
	for _, pl := range p.pools {
		for _, ln := range pl.fairly {
			if g := p.headOf(ln); g != nil {
				p.consider(&c, g)
			}
		}
	}
	return c.group
}

// consider makes g the candidate if its head can be served and is older.
func (p *pass) consider(c *candidate, g *group) {
	if g.blocked || !g.mayBeServed(p.now) {
		return
	}
	e := p.trim(g)
	if e == nil {
		return
	}
	if pl := g.virtual.pool; (pl.full || !pl.slots.InWord()) && g.key.plain() && p.recorded(g, e) == 0 {
		g.blocked = true
		return
	}
	if c.group == nil || before(g, e, c.group, c.head) {
		c.group, c.head = g, e
	}
}

// mayBeServed says whether it is worth a try to serve the head of g: so that a
// slot that frees costs no try of each of a thousand queues that it is not for.
func (g *group) mayBeServed(now Tick) bool {
	v, pl, m := g.virtual, g.virtual.pool, g.member
	switch {
	case pl.paused.Load():
		return false
	case m != nil && m.operator() == Offline:
		return true // they are moved to the pool
	case !v.slots.InWord():
		return false
	case m == nil:
		// With records a head may have got a member of its own meanwhile.
		return v.records.Load() != nil || pl.slots.InWord() && !(pl.full && g.key.plain())
	case !m.eligible(now, true):
		return false
	}
	return v.cfg.Override || pl.slots.InWord() && m.slots.InWord() && m.node.slots.InWord()
}

// plain says that any member will do.
func (k *groupKey) plain() bool { return k.member == nil && k.tried == 0 }

// before says whether e of g is served before o of h.
func before(g *group, e *queue.Entry, h *group, o *queue.Entry) bool {
	a, b := Tick(e.Since)+g.later, Tick(o.Since)+h.later
	if a != b {
		return a < b
	}
	return e.Before(o)
}

// grant takes a whole path for the head of g and hands it over. The slot is
// taken before the waiter is woken (invariant 3).
func (p *pass) grant(g *group) {
	e := *g.queue.Head()
	if p.persistedNow(g, &e) {
		return // it waits for its member
	}
	path, ok := p.takePath(g, &e)
	if !ok {
		return
	}
	if p.overtakes(g, &e, path) {
		p.giveBack(path)
		return
	}
	pl := g.virtual.pool
	if pl.shedding && e.Tries == 0 && pl.depth.Load() > 1 && pl.codel.Drop(int64(p.now), int64(p.now)-e.Since, pl.meter.Rate(int64(p.now))) {
		p.giveBack(path)
		p.pop(g)
		p.refuse(g, e, shed)
		return
	}
	if !p.record(g, &e, path) {
		p.giveBack(path)
		return // another loop gave its sender a member meanwhile
	}
	p.handOver(g, e, path)
}

// overtakes says whether somebody older wants the path that g's head has just
// taken: one who found nothing a moment ago, before this slot was given back,
// or who has just come back from a failed dial and gave it back itself. Then
// that one is asked first. It is asked once for each slot that is given out.
func (p *pass) overtakes(g *group, e *queue.Entry, path Path) bool {
	if p.comeback.Load() != p.came && (p.drain() || p.budget <= 0) {
		return true
	}
	m := p.d.members[path.Member]
	found := g.flow != nil && p.passedOver(g, m)
	for _, o := range p.active {
		if o == g || o.flow != g.flow {
			continue
		}
		if h := o.queue.Head(); h != nil && before(o, h, g, e) {
			found = p.askAgain(g, o, m) || found
		}
	}
	return found
}

// askAgain has a queue asked whose head may want m and was passed over, once
// for each slot that is given out.
func (p *pass) askAgain(g, o *group, m *member) bool {
	if o.again == p.served+1 || !o.wants(m) || o.virtual != g.virtual && !o.virtual.slots.InWord() {
		return false
	}
	o.blocked, o.again = false, p.served+1
	o.virtual.pool.full = false
	return true
}

// wants says whether the head of g may be given m.
func (g *group) wants(m *member) bool {
	if g.member != nil {
		return g.member == m
	}
	pl := g.virtual.pool
	return pl == m.pool && pl.avoid(g.key.tried)&m.bit() == 0
}

// handOver makes the path the waiter's.
func (p *pass) handOver(g *group, e queue.Entry, path Path) {
	to := mkState(0, uint16(path.Member)+1, granted)
	if path.Probe {
		to = mkState(0, uint16(path.Member)+1, grantedProbe)
	}
	if path.Persisted {
		to |= persistedBit
	}
	l := p.d.loops[e.Loop]
	was, won := l.table.move(e.Slot, e.Gen, to)
	p.pop(g)
	if !won { // its client left: the next head gets the slot
		p.giveBack(path)
		return
	}
	pl := g.virtual.pool
	pl.next.took(pl, &p.wish, p.now)
	wait := p.now - Tick(e.Since)
	p.served++
	p.d.uncount(g.virtual, was).served(wait)
	g.virtual.stats.served(wait)
	pl.queued = pl.queued || was.member() != 0
	pl.all.served(int64(wait))
	pl.meter.Add(int64(p.now))
	if g.flow != nil {
		g.flow.hadTurn()
	}
	p.post(l, e.Slot)
}

func (p *pass) pop(g *group) {
	g.queue.Pop()
	p.entries--
}

// post puts an outcome into the inbox of its loop, and wakes the loop unless
// it is the one that runs this pass, or has been woken already.
func (p *pass) post(l *Loop, slot uint32) {
	if l.inbox.push(&l.table, slot) && l != p.loop {
		p.d.wake(l.index)
	}
}

// takePath takes a slot at all four levels, from the words only, or none.
func (p *pass) takePath(g *group, e *queue.Entry) (Path, bool) {
	v := g.virtual
	t := taking{now: p.now, words: true}
	w := &p.wish
	*w = wish{member: g.member, tried: v.pool.avoid(e.Tried), source: p.d.sourceOf(v, e)}
	path, ok := t.path(v, w, &v.pool.next)
	if !ok && g.member != nil && v.cfg.Override {
		p.forced = true
		path, ok = t.force(v, g.member, p.announceDebt)
	}
	if !ok {
		g.blocked = true
		v.pool.full = v.pool.full || t.none && g.key.plain()
	}
	return path, ok
}

func (p *pass) giveBack(path Path) {
	m := p.d.members[path.Member]
	if path.Probe {
		m.unprobed(p.now)
	}
	m.node.slots.GiveWord()
	m.slots.GiveWord()
	m.pool.slots.GiveWord()
	p.d.virtuals[path.Virtual].slots.GiveWord()
	// No look at the flags: the holder of the baton goes on serving.
}

// moveToPool moves the waiters persisted to a member that takes nobody to
// their pool's queue, each at its own ticket.
func (p *pass) moveToPool(g *group) {
	for e := p.trim(g); e != nil; e = p.trim(g) {
		p.budget--
		p.moveHead(g, 0, 0, 0)
	}
}

// moveHead moves the head of g to those who want the member that s names, or
// any, at its own ticket. It is counted in the queue of in from now on.
func (p *pass) moveHead(g *group, s, in Sticky, mark uint8) {
	e := *g.queue.Head()
	p.pop(g)
	was, won := p.d.loops[e.Loop].table.move(e.Slot, e.Gen, mkState(0, uint16(in), waiting))
	if !won {
		return // it left
	}
	p.d.recount(g.virtual.pool, was, in)
	if m := p.d.persisted(Sticky(was.member())); m != nil {
		m.stats.Moved.Add(1)
		g.virtual.stats.Moved.Add(1)
	}
	e.Sticky = uint16(s)
	e.Mark |= mark
	p.moved = true
	p.enqueue(e, true)
}

func (p *pass) trimAll() {
	for _, g := range p.active {
		p.trim(g)
	}
}

// trim drops the heads of waiters who left, refuses those whose time is over,
// moves those whose time at their member is over, and returns the head that is
// left, or nil.
func (p *pass) trim(g *group) *queue.Entry {
	for p.budget > 0 {
		e := g.queue.Head()
		if e == nil {
			return nil
		}
		if p.alive(e) {
			at, to := g.deadline(Tick(e.Since))
			if at != 0 && at <= p.now {
				p.budget--
				p.refuse(g, *e, to)
				p.drop(g)
				continue
			}
			if at = g.staysUntil(e); at == 0 || at > p.now {
				return e
			}
			p.budget--
			p.moveHead(g, 0, 0, waived)
			continue
		}
		p.budget--
		p.drop(g)
	}
	return nil
}

// drop takes the head off that is not served. Who comes after it may have a
// record by now, of a member that takes those persisted to it only.
func (p *pass) drop(g *group) {
	p.pop(g)
	if g.member == nil && g.virtual.records.Load() != nil {
		g.blocked = false
	}
}

func (p *pass) refuse(g *group, e queue.Entry, to phase) {
	l := p.d.loops[e.Loop]
	was, won := l.table.move(e.Slot, e.Gen, mkState(0, 0, to))
	if !won {
		return // it left in this moment
	}
	wait := p.now - Tick(e.Since)
	p.d.uncount(g.virtual, was).refused(to, wait)
	g.virtual.stats.refused(to, wait)
	p.post(l, e.Slot)
}

// deadline is when a waiter of the group is refused, and as what; 0 is never.
func (g *group) deadline(since Tick) (at Tick, to phase) {
	pl := g.virtual.pool
	if t := Tick(pl.queueTime.Load()); t > 0 {
		at, to = since+t, expired
	}
	if pl.serves(g.member) {
		return at, to
	}
	if !pl.whenDown.Load() {
		return since, noMember // invariant 7
	}
	if t := Tick(pl.whenDownTime.Load()); t > 0 {
		if down := max(since, Tick(pl.downAt.Load())) + t; at == 0 || down < at {
			return down, noMember
		}
	}
	return at, to
}
