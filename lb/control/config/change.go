package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// A Config in force is never changed, since others read it. A change is made
// on a Clone, which then takes its place. If one of these functions returns
// an error, the clone is in between and to be thrown away.
//
// Errors are ErrUnknown for the object that is named, or Mistakes.

// ErrUnknown says that there is no object of that name.
var ErrUnknown = errors.New("there is none of that name")

// Clone is a copy that shares nothing.
func (c *Config) Clone() *Config {
	n := *c
	n.Virtuals = slices.Clone(c.Virtuals)
	for i := range n.Virtuals {
		v := &n.Virtuals[i]
		v.TrustedProxies = slices.Clone(v.TrustedProxies)
		v.QueueClassFrom = slices.Clone(v.QueueClassFrom)
		v.SNAT = slices.Clone(v.SNAT)
	}
	n.Pools = slices.Clone(c.Pools)
	for i := range n.Pools {
		n.Pools[i].Members = slices.Clone(n.Pools[i].Members)
	}
	n.Nodes = slices.Clone(c.Nodes)
	n.Warnings = slices.Clone(c.Warnings)
	n.Tap, n.ServerTap = c.Tap.clone(), c.ServerTap.clone()
	return &n
}

func (t *Tap) clone() *Tap {
	if t == nil {
		return nil
	}
	n := *t
	n.Addresses, n.Gateways = slices.Clone(t.Addresses), slices.Clone(t.Gateways)
	return &n
}

// SetVirtual sets keys of a virtual server, with the words and checks of the
// flags. Its name and where it listens can't be changed.
func (c *Config) SetVirtual(name string, keys ...Setting) error {
	i := slices.IndexFunc(c.Virtuals, func(v Virtual) bool { return v.Name == name })
	if i < 0 {
		return unknown(object{flagVirtual, name})
	}
	v := &c.Virtuals[i]
	d, mistakes := setKeys(object{flagVirtual, name}, virtualKeys, v, keys, "pool")
	if pool := d.keys["pool"]; pool != "" {
		n := c.poolNamed(pool)
		if n < 0 {
			mistakes = append(mistakes, fmt.Sprintf("%s: pool=%s: no such pool; %s",
				d.given, quote(pool), allowedAre(pool, c.poolNames())))
		}
		v.Pool = max(n, 0)
	}
	return c.finish(mistakes)
}

// SetPool sets keys of a pool, except its name: see SetVirtual.
func (c *Config) SetPool(name string, keys ...Setting) error {
	i := c.poolNamed(name)
	if i < 0 {
		return unknown(object{flagPool, name})
	}
	_, mistakes := setKeys(object{flagPool, name}, poolKeys, &c.Pools[i], keys)
	return c.finish(mistakes)
}

// SetMember sets keys of a member, except its pool and address: see
// SetVirtual.
func (c *Config) SetMember(pool, address string, keys ...Setting) error {
	i, j := c.memberNamed(pool, address)
	if j < 0 {
		return unknown(memberOf(pool, address))
	}
	_, mistakes := setKeys(memberOf(pool, address), memberKeys, &c.Pools[i].Members[j], keys)
	return c.finish(mistakes)
}

// SetNode sets keys of a node, except its address: see SetVirtual. A node
// that was implied is one that somebody gave from then on.
func (c *Config) SetNode(address string, keys ...Setting) error {
	a, err := parseNode(address)
	i := slices.IndexFunc(c.Nodes, func(n Node) bool { return n.Address == a })
	if err != nil || i < 0 {
		return unknown(object{flagNode, address})
	}
	n := &c.Nodes[i]
	n.Implied = false
	_, mistakes := setKeys(object{flagNode, address}, nodeKeys, n, keys)
	c.arrangeNodes()
	return c.finish(mistakes)
}

// AddMember puts a member into a pool. Among its keys is its address; a node
// that is not there yet is implied.
func (c *Config) AddMember(pool string, keys ...Setting) error {
	i := c.poolNamed(pool)
	if i < 0 {
		return unknown(object{flagPool, pool})
	}
	p := &c.Pools[i]
	m := defaults(memberKeys)
	m.ID = -1
	d, mistakes := setKeys(object{flagMember, "of pool " + pool}, memberKeys, &m, keys, "address", "pool")
	wrong := func(key, value, format string, args ...any) {
		mistakes = append(mistakes, fmt.Sprintf("%s: %s=%s: ", d.given, key, quote(value))+fmt.Sprintf(format, args...))
	}
	if other := d.keys["pool"]; other != "" && other != pool {
		wrong("pool", other, "allowed is %s, or none", pool)
	}
	_, given := d.keys["address"]
	switch {
	case !given:
		wrong("address", "", "missing; allowed is %s", memberKeys[0].form)
	case p.member(m.Address) >= 0:
		wrong("address", m.Address.String(), "member is there already; allowed is another")
	}
	if len(mistakes) == 0 {
		m.Node = c.nodeAt(m.Address.Addr())
		p.Members = append(p.Members, m)
		c.arrangeNodes()
	}
	return c.finish(mistakes)
}

// RemoveMember takes a member out of its pool, and its node if that is
// implied and has no other.
func (c *Config) RemoveMember(pool, address string) error {
	i, j := c.memberNamed(pool, address)
	if j < 0 {
		return unknown(memberOf(pool, address))
	}
	p := &c.Pools[i]
	p.Members = slices.Delete(p.Members, j, j+1)
	if len(p.Members) == 0 {
		p.Members = nil // as Parse leaves it
	}
	c.arrangeNodes()
	return c.Validate()
}

func (c *Config) finish(mistakes Mistakes) error {
	if len(mistakes) > 0 {
		return mistakes
	}
	return c.Validate()
}

func unknown(o object) error { return fmt.Errorf("%s: %w", o, ErrUnknown) }

func memberOf(pool, address string) object { return object{flagMember, pool + "/" + address} }

func (c *Config) poolNamed(name string) int {
	return slices.IndexFunc(c.Pools, func(p Pool) bool { return p.Name == name })
}

func (c *Config) poolNames() (s []string) {
	for i := range c.Pools {
		s = append(s, c.Pools[i].Name)
	}
	return s
}

// memberNamed finds pool and member; member is -1 if there is none.
func (c *Config) memberNamed(pool, address string) (i, j int) {
	i = c.poolNamed(pool)
	a, err := parseMember(address)
	if i < 0 || err != nil {
		return i, -1
	}
	return i, c.Pools[i].member(a)
}

func (p *Pool) member(a netip.AddrPort) int {
	return slices.IndexFunc(p.Members, func(m Member) bool { return m.Address == a })
}

// nodeAt makes the node if nobody gave it.
func (c *Config) nodeAt(a netip.Addr) int {
	i := slices.IndexFunc(c.Nodes, func(n Node) bool { return n.Address == a })
	if i >= 0 {
		return i
	}
	c.Nodes = append(c.Nodes, impliedNode(a))
	return len(c.Nodes) - 1
}

func impliedNode(a netip.Addr) Node {
	n := defaults(nodeKeys)
	n.ID, n.Address, n.Implied = -1, a, true
	return n
}

// arrangeNodes leaves out implied nodes that nobody is on, and puts the rest
// in the order in which Parse meets them: given ones, then those of members.
func (c *Config) arrangeNodes() {
	from := c.Nodes
	place := make([]int, len(from)) // in the new order, from 1; 0 not there
	c.Nodes = nil
	keep := func(i int) int {
		if place[i] == 0 {
			c.Nodes = append(c.Nodes, from[i])
			place[i] = len(c.Nodes)
		}
		return place[i] - 1
	}
	for i := range from {
		if !from[i].Implied {
			keep(i)
		}
	}
	for i := range c.Pools {
		for j := range c.Pools[i].Members {
			m := &c.Pools[i].Members[j]
			m.Node = keep(m.Node)
		}
	}
}
