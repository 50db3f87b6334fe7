package dispatch

import (
	"penstock/lb/queue"
	"penstock/lb/ring"
)

// pass is one turn of a home, run by who has the baton.
type pass struct {
	*home
	loop   *Loop
	now    Tick
	budget int
	moved  bool   // a waiter went to another queue
	forced bool   // a counter was made strict by one who may override
	came   uint32 // home.comeback when the rings were drained last
	wish   wish   // of the head that was asked last
}

// pass does all there is to do, or as much as the budget allows; more says
// that something is left.
func (h *home) pass(l *Loop, now Tick, bits uint32) (more bool) {
	h.latest = max(h.latest, now)
	p := pass{home: h, loop: l, now: h.latest, budget: passBudget}
	p.drain()
	if due := Tick(h.due.Load()); due != 0 && due <= p.now {
		bits |= capacity // time has changed something, whatever this pass is for
	}
	if h.ramping.Load() && p.rampUp() {
		bits |= capacity | sweep
	}
	if bits&capacity != 0 {
		p.unblock()
	}
	if bits&sweep != 0 || h.flags.Load()&flagStrict != 0 {
		p.sweepAll()
	}
	p.trimAll()
	for {
		p.serve()
		if p.forced { // it may have found a token after all that came meanwhile
			p.forced = false
			p.sweepAll()
		}
		if p.raiseFlags() {
			p.sweepAll() // after the flags: see the package comment
			p.unblock()
		} else if !p.lowerFlags() || !p.drain() {
			break
		}
		if p.budget <= 0 {
			break
		}
	}
	p.finish()
	return p.budget <= 0
}

// drain takes over what came through the rings. True if there was anything.
// Who is found in a late ring may have arrived after somebody who was pushed
// into a ring that had been passed by: so it looks again, until a whole round
// finds nothing. Waiters of one queue are then never served out of order.
func (p *pass) drain() (any bool) {
	p.came = p.comeback.Load() // before it looks: who counts has pushed
	for p.drainRound() {
		any = true
	}
	return any
}

func (p *pass) drainRound() (any bool) {
	for _, v := range p.virtuals {
		for i := range v.fresh {
			any = p.drainRing(&v.fresh[i], false) || any
		}
	}
	for i := range p.returned {
		any = p.drainRing(&p.returned[i], true) || any
	}
	return any
}

func (p *pass) drainRing(r *ring.Ring[queue.Entry], back bool) (any bool) {
	for p.budget > 0 {
		e := r.Peek()
		if e == nil {
			break
		}
		p.budget--
		any = true
		if p.alive(e) {
			if g := p.enqueue(*e, back); !back && g.virtual.pool.sorted {
				p.letIn(g, e)
			}
		}
		r.Drop()
	}
	return any
}

func (p *pass) alive(e *queue.Entry) bool { return p.d.alive(e) }

// enqueue puts a waiter into the queue of those who want the same.
func (p *pass) enqueue(e queue.Entry, back bool) *group {
	g := p.groupOf(&e)
	if back {
		g.queue.PushBack(e)
		// Not one of the others: it may be older than the blocked head, but
		// it wants the same, so what blocks the head blocks it too.
	} else {
		g.queue.Push(e)
	}
	p.entries++
	if !g.listed {
		g.listed, g.blocked, g.again = true, false, 0
		g.age()
		p.active = append(p.active, g)
		if g.flow != nil {
			g.flow.enter(g)
		}
	}
	return g
}

func (p *pass) groupOf(e *queue.Entry) *group {
	v := p.d.virtuals[e.Virtual]
	key := groupKey{virtual: v, member: p.d.persisted(Sticky(e.Sticky)), tried: e.Tried, class: e.Mark & classBits}
	var f *flow
	if v.pool.fair.on() && e.Tries == 0 { // who comes back from a failed dial has had its turn
		f = v.pool.flowOf(key.class, p.d.sourceOf(v, e))
		key.flow = f.index + 1
	}
	if key == v.free.key {
		return v.free
	}
	g := p.groups[key]
	if g == nil {
		g = p.newGroup(key)
		g.flow = f
		p.groups[key] = g
	}
	return g
}

// newGroup returns an empty group: one that was in use before, if there is one,
// so that those who come and go in short queues of many kinds (a flow's, a
// class's, a member's) cost no memory each time.
func (p *pass) newGroup(key groupKey) *group {
	n := len(p.spare)
	if n == 0 {
		return newGroup(key, len(p.d.loops))
	}
	g := p.spare[n-1]
	p.spare = p.spare[:n-1]
	g.key, g.virtual, g.member = key, key.virtual, key.member
	return g
}

func newGroup(key groupKey, loops int) *group {
	return &group{key: key, virtual: key.virtual, member: key.member, queue: queue.New(loops)}
}

// spares is how many groups a home keeps for later, 4 KiB a loop each.
const spares = 64

// retire takes an empty group out of use.
func (p *pass) retire(g *group) {
	delete(p.groups, g.key)
	if len(p.spare) == spares {
		return
	}
	g.virtual, g.member, g.flow, g.key = nil, nil, nil, groupKey{}
	p.spare = append(p.spare, g)
}

// age notes how much later those of its class count as having come.
func (g *group) age() { g.later = g.virtual.pool.classAge * Tick(topClass-g.key.class) }

func (p *pass) unblock() {
	for _, g := range p.active {
		g.blocked = false
	}
	for _, pl := range p.pools {
		pl.full = false
	}
}

// sweepAll puts changed limits into force, brings every free token into
// sight, and ends the strictness of counters whose debt is paid.
func (p *pass) sweepAll() {
	strict := false
	for _, c := range p.counters {
		c.Apply(p.announceDebt)
		c.Sweep()
		strict = c.Settle() || strict
	}
	if strict {
		p.flags.Or(flagStrict)
	} else if p.flags.Load()&flagStrict != 0 {
		p.flags.And(^flagStrict)
	}
}

func (p *pass) announceDebt() { p.flags.Or(flagStrict) }

// raiseFlags makes newcomers of pools with waiters park, and releasers look
// here. True if a flag was not up before: then the shards must be swept once
// more, for those who gave before they could see it.
func (p *pass) raiseFlags() (raised bool) {
	for _, g := range p.active {
		if g.queue.Len() == 0 || g.virtual.pool.waiting.Load() {
			continue
		}
		g.virtual.pool.waiting.Store(true)
		p.flagged++
		raised = true
	}
	if raised {
		p.flags.Or(flagWaiting)
	}
	return raised
}

// lowerFlags lets newcomers of pools without waiters pass again. True if a
// flag went down: then the rings must be looked at once more, for those who
// parked because of it.
func (p *pass) lowerFlags() (lowered bool) {
	p.dropEmpty()
	if p.flagged == 0 {
		return false
	}
	for _, pl := range p.pools {
		if pl.waiting.Load() && !pl.paused.Load() && !p.anyWaits(pl) {
			pl.waiting.Store(false)
			pl.meter.Idle(int64(p.now))
			p.flagged--
			lowered = true
		}
	}
	if p.flagged == 0 {
		p.flags.And(^flagWaiting)
	}
	return lowered
}

func (p *pass) anyWaits(pl *pool) bool {
	for _, g := range p.active {
		if g.virtual.pool == pl {
			return true
		}
	}
	return false
}

// dropEmpty takes queues without entries off the list.
func (p *pass) dropEmpty() {
	kept := p.active[:0]
	for _, g := range p.active {
		if g.queue.Len() > 0 {
			kept = append(kept, g)
			continue
		}
		g.listed = false
		if g.flow != nil {
			g.flow.exit(g)
		}
		if g != g.virtual.free {
			p.retire(g)
		}
	}
	clear(p.active[len(kept):])
	p.active = kept
}

// finish tidies up and publishes what others may look at.
func (p *pass) finish() {
	p.trimAll()
	if p.entries > 1024 && int64(p.entries) > 2*p.waits()+1024 {
		p.compact()
	}
	p.lowerFlags() // trimming may have emptied a queue; who parks meanwhile kicks
	p.restMeters()
	p.publish()
}

// restMeters stops the clocks of rates while nobody can be served: how long that
// lasts says nothing of how fast the queue moves otherwise.
func (p *pass) restMeters() {
	for _, pl := range p.pools {
		if pl.paused.Load() || pl.up.Load() == 0 {
			pl.meter.Idle(int64(p.now))
		}
	}
}

// waits counts those who wait in the home's pools.
func (h *home) waits() (n int64) {
	for _, v := range h.virtuals {
		n += v.waits.Load()
	}
	return n
}

// compact drops the entries of waiters who left, wherever they stand. It
// runs when they are more than half, so it costs each of them O(1).
func (p *pass) compact() {
	for _, g := range p.active {
		p.entries -= g.queue.Compact(p.alive)
	}
}

// publish tells each queue's oldest ticket, and when time alone will change
// something: a wait runs out, a member's pause is over, or it may have one
// connection more.
func (p *pass) publish() {
	p.publishHeads()
	due := p.ramps
	for _, g := range p.active {
		e := g.queue.Head()
		if e == nil {
			continue
		}
		at, _ := g.deadline(Tick(e.Since))
		due = sooner(sooner(due, at), g.staysUntil(e))
	}
	for _, pl := range p.pools {
		if pl.ailing.Load() > 0 && pl.waiting.Load() {
			due = sooner(due, pl.rested(p.now))
		}
	}
	if due != Tick(p.due.Load()) {
		p.due.Store(int64(due))
		p.loop.arm(p.home, due)
	}
}

func (p *pass) publishHeads() {
	for _, g := range p.active {
		v := g.virtual
		e := g.queue.Head()
		if e == nil {
			continue
		}
		older(&v.head, e.Since)
		if m := p.d.countedBy(e); m != nil {
			older(&m.head, e.Since)
			v.pool.queued = true
		} else {
			older(&v.pool.head, e.Since)
		}
	}
	for _, pl := range p.pools {
		tell(&pl.head, &pl.own)
		pl.all.tell()
		if pl.queued { // members' queues are seldom used
			for _, m := range pl.members {
				tell(&m.head, &m.stats)
			}
		}
	}
	for _, v := range p.virtuals {
		tell(&v.head, &v.stats)
	}
}

// older makes head the older ticket; 0 is none.
func older(head *int64, since int64) { *head = int64(sooner(Tick(*head), Tick(since))) }

// tell publishes a head and the ages, and starts afresh.
func tell(head *int64, s *QueueStats) {
	s.tell()
	if s.Head.Load() != *head {
		s.Head.Store(*head)
	}
	*head = 0
}

// rested is when the next member's pause is over; 0 if none is in one.
func (pl *pool) rested(now Tick) (at Tick) {
	for _, m := range pl.members {
		if h := m.health.Load(); h > int64(now) && h != probing {
			at = sooner(at, Tick(h))
		}
	}
	return at
}

// sooner returns the earlier of two ticks, of which 0 is never.
func sooner(a, b Tick) Tick {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
