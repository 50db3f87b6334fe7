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

// oldest returns the queue to serve next: the one that is not blocked and has
// the oldest head. Nil if there is none.
func (p *pass) oldest() *group {
	var best *group
	var since *queue.Entry
	for _, g := range p.active {
		if g.blocked {
			continue
		}
		e := p.trim(g)
		if e != nil && (best == nil || e.Before(since)) {
			best, since = g, e
		}
	}
	if p.budget <= 0 { // some heads were not looked at
		return nil
	}
	return best
}

// grant takes a whole path for the head of g and hands it over. The slot is
// taken before the waiter is woken (invariant 3).
func (p *pass) grant(g *group) {
	e := *g.queue.Head()
	path, ok := p.takePath(g, &e)
	if !ok {
		g.blocked = true
		return
	}
	to := granted
	if path.Probe {
		to = grantedProbe
	}
	l := p.d.loops[e.Loop]
	was, won := l.table.move(e.Slot, e.Gen, uint16(path.Member)+1, to)
	p.pop(g)
	if !won { // its client left: the next head gets the slot
		p.giveBack(path)
		return
	}
	p.d.uncount(g.virtual, was)
	g.virtual.pool.stats.served(p.now - Tick(e.Since))
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
	if !v.slots.TakeWord() {
		return Path{}, false
	}
	if v.pool.slots.TakeWord() {
		if m, probe := p.takeMember(g, e); m != nil {
			return Path{v.id, m.id, probe}, true
		}
		v.pool.slots.GiveWord()
	}
	v.slots.GiveWord()
	return Path{}, false
}

func (p *pass) takeMember(g *group, e *queue.Entry) (*member, bool) {
	if g.member != nil {
		probe, ok := p.takeOne(g.member, true)
		if !ok {
			return nil, false
		}
		return g.member, probe
	}
	pl := g.virtual.pool
	tried := pl.avoid(e.Tried)
	n := len(pl.members)
	for i, k := pl.next.First(max(n, 1)), 0; k < n; i, k = i+1, k+1 {
		if i == n {
			i = 0
		}
		m := pl.members[i]
		if tried&m.bit() != 0 {
			continue
		}
		if probe, ok := p.takeOne(m, false); ok {
			pl.next.Chose(i)
			return m, probe
		}
	}
	return nil, false
}

// takeOne takes a slot of the member and its node. Whether it may have one is
// asked now, not when the waiter was queued (invariant 6).
func (p *pass) takeOne(m *member, sticky bool) (probe, ok bool) {
	if !m.eligible(p.now, sticky) || !m.slots.TakeWord() {
		return false, false
	}
	if m.node.slots.TakeWord() {
		if probe, ok = m.claim(p.now); ok {
			return probe, true
		}
		m.node.slots.GiveWord()
	}
	m.slots.GiveWord()
	return false, false
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

// avoid returns the members a waiter is not to be given, a bit each: those
// that refused it, unless there is no other member that is up.
func (pl *pool) avoid(tried uint64) uint64 {
	if tried == 0 {
		return 0
	}
	for _, m := range pl.members {
		if m.up() && tried&m.bit() == 0 {
			return tried
		}
	}
	return 0
}

func (m *member) bit() uint64 { return 1 << (m.index % 64) }

// moveToPool moves the waiters persisted to a member that takes nobody to
// their pool's queue, each at its own ticket.
func (p *pass) moveToPool(g *group) {
	for e := p.trim(g); e != nil; e = p.trim(g) {
		moved := *e
		p.budget--
		p.pop(g)
		moved.Sticky = 0
		if was, won := p.d.loops[moved.Loop].table.move(moved.Slot, moved.Gen, 0, waiting); won {
			p.d.recount(g.virtual.pool, was)
			g.virtual.pool.stats.Moved.Add(1)
			p.enqueue(moved, true)
		}
	}
}

func (p *pass) trimAll() {
	for _, g := range p.active {
		p.trim(g)
	}
}

// trim drops the heads of waiters who left and refuses those whose time is
// over, and returns the head that is left, or nil.
func (p *pass) trim(g *group) *queue.Entry {
	for p.budget > 0 {
		e := g.queue.Head()
		if e == nil {
			return nil
		}
		if p.alive(e) {
			at, to := g.deadline(Tick(e.Since))
			if at == 0 || at > p.now {
				return e
			}
			p.refuse(g, *e, to)
		}
		p.budget--
		p.pop(g)
	}
	return nil
}

func (p *pass) refuse(g *group, e queue.Entry, to phase) {
	l := p.d.loops[e.Loop]
	was, won := l.table.move(e.Slot, e.Gen, 0, to)
	if !won {
		return // it left in this moment
	}
	p.d.uncount(g.virtual, was)
	g.virtual.pool.stats.refused(to, p.now-Tick(e.Since))
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
