package dispatch

import (
	"cmp"
	"math"
	"slices"

	"penstock/lb/limit"
	"penstock/lb/queue"
	"penstock/lb/ring"
)

// Changed puts a series of changes into force: pools that share a counter get
// one home, waiters go where they belong now, and who can be served is. The
// loops stand still, and each calls Due and Next afterwards.
func (d *Dispatcher) Changed(now Tick) {
	d.drainHomes(now)
	for _, pl := range d.pools {
		if pl != nil {
			pl.arrange(now)
			for _, v := range pl.virtuals {
				v.join(pl) // the pool may ask for addresses now
			}
		}
	}
	d.forget()
	old := d.homes
	d.makeHomes()
	d.moveGroups(old)
	d.regroup(now)
	d.sendAway(now)
	d.Publish()
	for _, h := range d.homes {
		h.kick(d.loops[0], now, latches)
	}
}

// sendAway refuses who waits in a pool that was removed: there will be no
// member for them.
func (d *Dispatcher) sendAway(now Tick) {
	for _, pl := range d.pools {
		if pl == nil || !pl.removed {
			continue
		}
		p := pass{home: pl.home, loop: d.loops[0], now: now}
		d.eachWaiter(pl.id, func(_ *WaiterView, e *queue.Entry, g *group) bool {
			p.refuse(g, *e, noMember)
			return true
		})
	}
}

// drainHomes empties the rings, which belong to the homes as they were.
func (d *Dispatcher) drainHomes(now Tick) {
	for _, h := range d.homes {
		d.drainHome(h, now)
	}
}

func (d *Dispatcher) drainHome(h *home, now Tick) {
	p := pass{home: h, loop: d.loops[0], now: now, budget: math.MaxInt}
	p.drain()
}

// arrange puts the members in the order in which they are chosen.
func (pl *pool) arrange(now Tick) {
	pl.members = slices.DeleteFunc(pl.members, func(m *member) bool { return m.removed.Load() })
	slices.SortFunc(pl.members, func(a, b *member) int {
		if pl.minActive > 0 && a.priority != b.priority {
			return cmp.Compare(b.priority, a.priority)
		}
		return cmp.Compare(a.index, b.index)
	})
	pl.levels, pl.weights = pl.levels[:0], pl.weights[:0]
	for i, m := range pl.members {
		pl.weights = append(pl.weights, m.ratio)
		if pl.minActive > 0 && (i+1 == len(pl.members) || pl.members[i+1].priority != m.priority) {
			pl.levels = append(pl.levels, i+1)
		}
	}
	pl.sorted = pl.fair.on() || slices.ContainsFunc(pl.virtuals, func(v *virtual) bool {
		return v.class != pl.virtuals[0].class || len(v.classes) > 0
	})
	pl.recountUp(now)
}

// forget drops removed pools and nodes that nobody names any more.
func (d *Dispatcher) forget() {
	pools, nodes := map[*pool]bool{}, map[*node]bool{}
	for _, m := range d.members {
		if m != nil {
			pools[m.pool], nodes[m.node] = true, true
		}
	}
	for i, pl := range d.pools {
		if pl != nil && pl.removed && len(pl.virtuals) == 0 && !pools[pl] {
			d.pools[i] = nil
			d.free.pools = min(d.free.pools, i)
		}
	}
	for i, n := range d.nodes {
		if n != nil && n.removed && !nodes[n] {
			d.nodes[i] = nil
			d.free.nodes = min(d.free.nodes, i)
		}
	}
}

// makeHomes gives pools that share a node, directly or through others, one
// home. A removed member counts: its connections hold slots of its node, and
// who waits for these must hear of their end.
func (d *Dispatcher) makeHomes() {
	leader := make([]int, len(d.pools))
	for i := range leader {
		leader[i] = i
	}
	find := func(i int) int {
		for leader[i] != i {
			i = leader[i]
		}
		return i
	}
	first := map[*node]int{}
	for _, m := range d.members {
		if m == nil {
			continue
		}
		p := int(m.pool.id)
		if q, ok := first[m.node]; ok {
			leader[find(p)] = find(q)
		} else {
			first[m.node] = p
		}
	}
	d.homes = nil
	homes := map[int]*home{}
	for i, pl := range d.pools {
		if pl == nil {
			continue
		}
		root := find(i)
		if homes[root] == nil {
			homes[root] = d.newHome()
		}
		homes[root].add(pl)
	}
	for _, m := range d.members {
		if m != nil {
			m.pool.home.ramping.Store(true) // if not, the first pass finds out
			m.pool.home.count(m.slots)
			m.pool.home.count(m.node.slots)
		}
	}
	for _, l := range d.loops {
		l.dues, l.due, l.pending = make([]Tick, len(d.homes)), 0, nil
	}
}

func (d *Dispatcher) newHome() *home {
	h := &home{
		d: d, index: len(d.homes), groups: map[groupKey]*group{}, counted: map[*limit.Counter]bool{},
		returned: make([]ring.Ring[queue.Entry], len(d.loops)),
	}
	d.homes = append(d.homes, h)
	return h
}

func (h *home) add(pl *pool) {
	pl.home = h
	h.pools = append(h.pools, pl)
	h.virtuals = append(h.virtuals, pl.virtuals...)
	h.count(pl.slots)
	for _, v := range pl.virtuals {
		h.count(v.slots)
	}
	if pl.waiting.Load() {
		h.flagged++
		h.flags.Or(flagWaiting)
	}
}

// count makes a counter one of the home's.
func (h *home) count(c *limit.Counter) {
	if h.counted[c] {
		return
	}
	h.counted[c] = true
	h.counters = append(h.counters, c)
	if c.Strict() {
		h.flags.Or(flagStrict)
	}
}

// moveGroups hands the queues to the homes their pools have now.
func (d *Dispatcher) moveGroups(old []*home) {
	for _, h := range old {
		for _, g := range h.active {
			g.virtual.pool.home.adopt(g)
		}
	}
}

func (h *home) adopt(g *group) {
	if g != g.virtual.free {
		h.groups[g.key] = g
	}
	h.active = append(h.active, g)
	h.entries += g.queue.Len()
	g.blocked, g.again = false, 0
	g.age()
}

// join makes pl the pool of a virtual server.
func (v *virtual) join(pl *pool) {
	v.usesAddr = v.records.Load() != nil || len(v.classes) > 0 || pl.fair.on() || pl.mode == BySource
	if v.pool == pl {
		return
	}
	if v.pool != nil {
		v.leavePool()
		v.regroup = true
		if v.left == nil {
			v.left = v.pool
		}
	}
	v.pool = pl
	pl.virtuals = append(pl.virtuals, v)
}

func (v *virtual) leavePool() {
	v.pool.virtuals = slices.DeleteFunc(v.pool.virtuals, func(o *virtual) bool { return o == v })
}
