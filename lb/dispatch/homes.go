package dispatch

import (
	"penstock/lb/limit"
	"penstock/lb/queue"
	"penstock/lb/ring"
)

// makeHomes gives pools that share a node, directly or through others, one
// home. A virtual server has one pool, so it shares nothing else.
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
		p := int(m.pool.id)
		if q, ok := first[m.node]; ok {
			leader[find(p)] = find(q)
		} else {
			first[m.node] = p
		}
	}
	homes := map[int]*home{}
	for i, pl := range d.pools {
		root := find(i)
		if homes[root] == nil {
			homes[root] = d.newHome()
		}
		homes[root].add(pl)
	}
	for _, l := range d.loops {
		l.dues = make([]Tick, len(d.homes))
	}
}

func (d *Dispatcher) newHome() *home {
	h := &home{
		d: d, index: len(d.homes), groups: map[groupKey]*group{},
		returned: make([]ring.Ring[queue.Entry], len(d.loops)),
	}
	d.homes = append(d.homes, h)
	return h
}

func (h *home) add(pl *pool) {
	pl.home = h
	h.pools = append(h.pools, pl)
	h.virtuals = append(h.virtuals, pl.virtuals...)
	h.counters = append(h.counters, pl.slots)
	for _, v := range pl.virtuals {
		h.counters = append(h.counters, v.slots)
	}
	for _, m := range pl.members {
		h.counters = append(h.counters, m.slots)
		if !h.counts(m.node.slots) {
			h.counters = append(h.counters, m.node.slots)
		}
	}
}

func (h *home) counts(c *limit.Counter) bool {
	for _, o := range h.counters {
		if o == c {
			return true
		}
	}
	return false
}
