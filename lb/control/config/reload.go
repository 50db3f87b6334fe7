package config

import (
	"fmt"
	"net/netip"
	"slices"
)

// Reload is Parse again, with the same arguments and what is in the flag file
// now, for a program that runs with old. The error is Mistakes, also about
// what can't be changed while it runs.
func Reload(old *Config, args []string, env Env) (*Config, error) {
	next, err := Parse(args, env)
	if err != nil {
		return nil, err
	}
	if err := Unchangeable(old, next); err != nil {
		return nil, err
	}
	Inherit(old, next)
	return next, nil
}

// Unchangeable says what differs that only a restart can change: most
// settings of the program, the TAP devices, and where a virtual server listens.
// The error is Mistakes.
func Unchangeable(old, next *Config) error {
	var m Mistakes
	for _, k := range settingKeys {
		was, is := k.get(old), k.get(next)
		if was != is && !k.live {
			m = append(m, fmt.Sprintf("-%s %s: can't be changed while it runs; allowed is %s, or a restart",
				k.name, quote(is), quote(was)))
		}
	}
	m = append(m, tapsChanged(old, next)...)
	lasting := slices.DeleteFunc(slices.Clone(virtualKeys), func(k key[Virtual]) bool { return !k.lasting })
	listens := map[string]*Virtual{}
	for i := range old.Virtuals {
		listens[old.Virtuals[i].Name] = &old.Virtuals[i]
	}
	for i := range next.Virtuals {
		v := &next.Virtuals[i]
		was, ok := listens[v.Name]
		if !ok {
			continue
		}
		if listenKey.get(was) != listenKey.get(v) {
			m = append(m, fmt.Sprintf("%s: listen=%s: can't be changed while it runs; allowed is %s, another name, or a restart",
				object{flagVirtual, v.Name}, quote(listenKey.get(v)), listenKey.get(was)))
		}
		m = append(m, differing(object{flagVirtual, v.Name}, lasting, was, v, "another name, ")...)
	}
	if len(m) > 0 {
		return m
	}
	return nil
}

// differing says which keys differ, of those that only a restart can change.
// Other is what would do too.
func differing[T any](o object, keys []key[T], old, next *T, other string) (m Mistakes) {
	for _, k := range keys {
		if was, is := k.get(old), k.get(next); was != is {
			m = append(m, fmt.Sprintf("%s: %s=%s: can't be changed while it runs; allowed is %s, %sor a restart",
				o, k.name, quote(is), was, other))
		}
	}
	return m
}

// Inherit gives the objects of next the ID that they have in old, and -1 to
// new ones. Members are known by pool and address, all others by their name.
func Inherit(old, next *Config) {
	ids := map[any]int{}
	old.eachID(func(key any, id *int) { ids[key] = *id })
	next.eachID(func(key any, id *int) {
		*id = -1
		if n, ok := ids[key]; ok {
			*id = n
		}
	})
}

// number gives the IDs of a program that starts.
func (c *Config) number() {
	for i := range c.Virtuals {
		c.Virtuals[i].ID = i
	}
	for i := range c.Nodes {
		c.Nodes[i].ID = i
	}
	members := 0
	for i := range c.Pools {
		p := &c.Pools[i]
		p.ID = i
		for j := range p.Members {
			p.Members[j].ID = members
			members++
		}
	}
}

// What an object of each kind is known by.
type (
	virtualName string
	poolName    string
	memberName  struct {
		pool    string
		address netip.AddrPort
	}
)

// eachID goes through all objects, in order; a node is known by its
// netip.Addr.
func (c *Config) eachID(visit func(key any, id *int)) {
	for i := range c.Virtuals {
		visit(virtualName(c.Virtuals[i].Name), &c.Virtuals[i].ID)
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		visit(poolName(p.Name), &p.ID)
		for j := range p.Members {
			visit(memberName{p.Name, p.Members[j].Address}, &p.Members[j].ID)
		}
	}
	for i := range c.Nodes {
		visit(c.Nodes[i].Address, &c.Nodes[i].ID)
	}
}
