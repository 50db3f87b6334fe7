package main

import (
	"net/netip"
	"sync"

	"penstock/stack/proxy"
)

// past keeps what removed members have counted for their pools and nodes,
// whose totals must not go down.
type past struct {
	// mu is held for the whole of a change: a member goes from one place to
	// another, and whoever adds up would count it twice or not at all. It is
	// taken before the loops are stopped, so that they wait for nobody.
	mu      sync.Mutex
	leaving map[int]leaver // removed, but their connections go on; by number
	pools   map[int]proxy.Totals
	nodes   map[int]proxy.Totals
}

type leaver struct {
	pool, node int
	at         netip.AddrPort
}

// place is where a member is, whatever its number.
type place struct {
	pool int
	at   netip.AddrPort
}

func newPast() past {
	return past{leaving: map[int]leaver{}, pools: map[int]proxy.Totals{}, nodes: map[int]proxy.Totals{}}
}

// numbers are those that members which were removed, and their nodes, have
// still. Under mu.
func (p *past) numbers() (members map[place]int, nodes map[netip.Addr]int) {
	members, nodes = map[place]int{}, map[netip.Addr]int{}
	for id, l := range p.leaving {
		members[place{l.pool, l.at}] = id
		nodes[l.at.Addr()] = l.node
	}
	return members, nodes
}

// forgotten keeps what a member has counted that is not known any more. Under
// mu.
func (p *past) forgotten(id int, t proxy.Totals) {
	of, ok := p.leaving[id]
	if !ok {
		return
	}
	delete(p.leaving, id)
	p.pools[of.pool] = p.pools[of.pool].Plus(t)
	p.nodes[of.node] = p.nodes[of.node].Plus(t)
}

// sum adds up what the members that were removed have counted for an object.
func (p *past) sum(of map[int]proxy.Totals, id int, is func(leaver) int, totals func(int) proxy.Totals) proxy.Totals {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := of[id]
	for member, l := range p.leaving {
		if is(l) == id {
			t = t.Plus(totals(member))
		}
	}
	return t
}

// PoolPast is what a pool's removed members have counted.
func (k *control) PoolPast(pool int) proxy.Totals {
	return k.past.sum(k.past.pools, pool, func(l leaver) int { return l.pool }, k.proxy.MemberTotals)
}

// NodePast is what a node's removed members have counted.
func (k *control) NodePast(node int) proxy.Totals {
	return k.past.sum(k.past.nodes, node, func(l leaver) int { return l.node }, k.proxy.MemberTotals)
}
