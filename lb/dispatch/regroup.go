package dispatch

import (
	"slices"

	"penstock/lb/queue"
)

// regroup sorts the waiters of virtual servers anew that have another pool, or
// other classes or flows than when these came. Each keeps its ticket.
func (d *Dispatcher) regroup(now Tick) {
	for _, v := range d.virtuals {
		if v == nil || !v.regroup && !v.pool.regroup {
			continue
		}
		v.regroup = false
		p := pass{home: v.pool.home, loop: d.loops[0], now: now}
		for _, e := range p.takeOut(v) {
			p.sortIn(v, e)
		}
		v.left = nil
	}
	for _, pl := range d.pools {
		if pl != nil {
			pl.regroup = false
		}
	}
}

// takeOut empties the queues of a virtual server, oldest first.
func (p *pass) takeOut(v *virtual) (all []queue.Entry) {
	for _, g := range p.active {
		if g.virtual != v {
			continue
		}
		for e := g.queue.Head(); e != nil; e = g.queue.Head() {
			if p.alive(e) {
				all = append(all, *e)
			}
			p.pop(g)
		}
	}
	p.dropEmpty()
	slices.SortStableFunc(all, func(a, b queue.Entry) int {
		switch {
		case a.Before(&b):
			return -1
		case b.Before(&a):
			return 1
		}
		return 0
	})
	return all
}

// sortIn puts a waiter where it belongs now. What it knew of the members of
// another pool is worth nothing.
func (p *pass) sortIn(v *virtual, e queue.Entry) {
	if v.left != nil {
		was, won := p.d.loops[e.Loop].table.move(e.Slot, e.Gen, mkState(0, 0, waiting))
		if !won {
			return
		}
		from, _ := v.left.depthOf(p.d, Sticky(was.member()))
		from.Add(-1)
		v.pool.depth.Add(1)
		e.Sticky, e.Tried, e.Mark = 0, 0, 0
	}
	if v.usesAddr {
		e.Mark = e.Mark&^classBits | v.classOf(p.d.sourceOf(v, &e))
	} else {
		e.Mark = e.Mark&^classBits | v.class
	}
	p.enqueue(e, false)
}
