package main

import (
	"maps"
	"net/netip"
	"sync"

	"penstock/stack/proxy"
)

// past keeps what removed members have counted for their pools and nodes,
// whose totals must not go down.
type past struct {
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

// leave notes that a member was removed.
func (p *past) leave(id int, l leaver) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaving[id] = l
}

// comeBack notes that a member that was removed is there again.
func (p *past) comeBack(id int) leaver {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.leaving[id]
	delete(p.leaving, id)
	return l
}

// numbers are those that members which were removed, and their nodes, have
// still.
func (p *past) numbers() (members map[place]int, nodes map[netip.Addr]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	members, nodes = map[place]int{}, map[netip.Addr]int{}
	for id, l := range p.leaving {
		members[place{l.pool, l.at}] = id
		nodes[l.at.Addr()] = l.node
	}
	return members, nodes
}

// freshPool and freshNode note that a number has a new owner, who has counted
// nothing yet.
func (p *past) freshPool(id int) { p.fresh(p.pools, id) }
func (p *past) freshNode(id int) { p.fresh(p.nodes, id) }

func (p *past) fresh(of map[int]proxy.Totals, id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(of, id)
}

// forget has members forgotten, and keeps what they have counted.
func (p *past) forget(do func(gone func(id int, t proxy.Totals)) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do(func(id int, t proxy.Totals) {
		of, ok := p.leaving[id]
		if !ok {
			return
		}
		delete(p.leaving, id)
		p.pools[of.pool] = p.pools[of.pool].Plus(t)
		p.nodes[of.node] = p.nodes[of.node].Plus(t)
	})
}

// sum adds up what the members that were removed have counted for an object.
func (p *past) sum(of map[int]proxy.Totals, id int, is func(leaver) int, totals func(int) proxy.Totals) proxy.Totals {
	t := of[id]
	for member, l := range maps.All(p.leaving) {
		if is(l) == id {
			t = t.Plus(totals(member))
		}
	}
	return t
}

// PoolPast is what a pool's removed members have counted.
func (k *control) PoolPast(pool int) proxy.Totals {
	k.past.mu.Lock()
	defer k.past.mu.Unlock()
	return k.past.sum(k.past.pools, pool, func(l leaver) int { return l.pool }, k.proxy.MemberTotals)
}

// NodePast is what a node's removed members have counted.
func (k *control) NodePast(node int) proxy.Totals {
	k.past.mu.Lock()
	defer k.past.mu.Unlock()
	return k.past.sum(k.past.nodes, node, func(l leaver) int { return l.node }, k.proxy.MemberTotals)
}
