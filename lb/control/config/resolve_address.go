package config

import (
	"net/netip"
	"slices"
)

// resolveAddresses finds virtual servers that can't both listen. Port 0 is
// any free one, and also what a mistaken address leaves behind.
func (p *parser) resolveAddresses() {
	byPort := map[uint16][]*draft[Virtual]{}
	for i := range p.virtuals {
		d := &p.virtuals[i]
		port := d.object.Listen.Port()
		if port == 0 {
			continue
		}
		if other := taken(byPort[port], &d.object); other != nil {
			p.wrong(d.given, "listen", listenKey.get(&d.object), "address taken by virtual server %s with %s; "+
				"allowed is one that no other has", bare(other.object.Name), listenKey.get(&other.object))
			continue
		}
		byPort[port] = append(byPort[port], d)
	}
	p.checkAdmin(byPort)
}

func (p *parser) checkAdmin(byPort map[uint16][]*draft[Virtual]) {
	a, err := netip.ParseAddrPort(p.config.Admin)
	if err != nil || a.Port() == 0 {
		return
	}
	if other := taken(byPort[a.Port()], &Virtual{Listen: a}); other != nil {
		p.mistake(given{flag: "admin", value: p.config.Admin}, "address taken by virtual server %s with %s; "+
			"allowed is one that no other has", bare(other.object.Name), listenKey.get(&other.object))
	}
}

func taken(list []*draft[Virtual], v *Virtual) *draft[Virtual] {
	i := slices.IndexFunc(list, func(d *draft[Virtual]) bool { return overlap(&d.object, v) })
	if i < 0 {
		return nil
	}
	return list[i]
}

// resolveNodes takes the nodes that were given.
func (p *parser) resolveNodes() {
	for _, d := range p.nodes {
		a := d.object.Address
		if !a.IsValid() {
			continue
		}
		if _, twice := p.nodeIndex[a]; twice {
			p.wrong(d.given, "address", a.String(), "node given twice; allowed is one -node for each server")
			continue
		}
		p.addNode(d.object)
	}
}

func (p *parser) addNode(n Node) {
	p.nodeIndex[n.Address] = len(p.config.Nodes)
	p.config.Nodes = append(p.config.Nodes, n)
}

// resolveMembers puts members into their pools, and makes the nodes that
// nobody gave.
func (p *parser) resolveMembers() {
	type place struct {
		pool    int
		address netip.AddrPort
	}
	used := map[place]bool{}
	for _, d := range p.members {
		name, ok := d.keys["pool"]
		if !ok {
			name = defaultName
		}
		i := p.poolNamed(d.given, name)
		m := d.object
		if i < 0 || !m.Address.IsValid() {
			continue
		}
		if used[place{i, m.Address}] {
			p.wrong(d.given, "address", m.Address.String(), "member given twice in pool %s; allowed is once", name)
			continue
		}
		used[place{i, m.Address}] = true
		p.origins[memberOf(name, m.Address.String())] = origin{d.given, d.keys}
		m.Node = p.nodeOf(m.Address.Addr())
		p.config.Pools[i].Members = append(p.config.Pools[i].Members, m)
	}
}

func (p *parser) nodeOf(a netip.Addr) int {
	if _, ok := p.nodeIndex[a]; !ok {
		p.addNode(impliedNode(a))
	}
	return p.nodeIndex[a]
}
