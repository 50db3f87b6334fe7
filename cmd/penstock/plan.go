package main

import (
	"fmt"
	"net/netip"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
)

// plan is all of an edit that can be found out before the loops stand still,
// so that they do so for a short time.
type plan struct {
	old, next *config.Config
	cut       []int // members whose connections end with them

	pools     []dispatch.PoolConfig
	members   [][]dispatch.MemberConfig // by pool; numbers of what is new are missing
	monitored map[int]bool              // pools that are, by number
	opened    []*config.Virtual         // new ones, for the log when the loops go on

	// Numbers of what was removed and has connections still: if it comes back,
	// it has them again, or else these would not count in its limits.
	leaving      map[place]int
	leavingNodes map[netip.Addr]int

	gone struct { // numbers of what is not there any more
		virtuals, pools, nodes []int
		members                []gone
	}
}

type gone struct {
	id int
	leaver
}

// newPlan is for within a change, under past's lock.
func newPlan(p *past, old, next *config.Config, cut []int) (plan, error) {
	l := plan{old: old, next: next, cut: cut, monitored: map[int]bool{}}
	if n := len(p.leaving); n > config.MostObjects {
		return l, fmt.Errorf("%d members that were removed have connections still; allowed are %d", n, config.MostObjects)
	}
	l.leaving, l.leavingNodes = p.numbers()
	for i := range next.Pools {
		l.pools = append(l.pools, poolOf(next, i))
		l.members = append(l.members, membersOf(next, i))
	}
	for i := range old.Pools {
		if old.Pools[i].Monitor != config.MonitorNone {
			l.monitored[old.Pools[i].ID] = true
		}
	}
	l.findGone()
	return l, nil
}

func (l *plan) findGone() {
	virtuals, pools, members, nodes := numbers(l.next)
	for i := range l.old.Virtuals {
		if id := l.old.Virtuals[i].ID; !virtuals[id] {
			l.gone.virtuals = append(l.gone.virtuals, id)
		}
	}
	for i := range l.old.Pools {
		p := &l.old.Pools[i]
		for j := range p.Members {
			if m := &p.Members[j]; !members[m.ID] {
				l.gone.members = append(l.gone.members, gone{m.ID, leaver{p.ID, l.old.Nodes[m.Node].ID, m.Address}})
			}
		}
		if !pools[p.ID] {
			l.gone.pools = append(l.gone.pools, p.ID)
		}
	}
	for i := range l.old.Nodes {
		if id := l.old.Nodes[i].ID; !nodes[id] {
			l.gone.nodes = append(l.gone.nodes, id)
		}
	}
}

// numbers are those that a configuration names; -1 is what is new.
func numbers(c *config.Config) (virtuals, pools, members, nodes map[int]bool) {
	virtuals, pools, members, nodes = map[int]bool{}, map[int]bool{}, map[int]bool{}, map[int]bool{}
	for i := range c.Virtuals {
		virtuals[c.Virtuals[i].ID] = true
	}
	for i := range c.Pools {
		pools[c.Pools[i].ID] = true
		for j := range c.Pools[i].Members {
			members[c.Pools[i].Members[j].ID] = true
		}
	}
	for i := range c.Nodes {
		nodes[c.Nodes[i].ID] = true
	}
	return virtuals, pools, members, nodes
}
