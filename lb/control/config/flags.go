package config

import "strings"

// Flags is the configuration as flags with every value, defaults too: Parse
// makes an equal Config of them. Left out are FlagFile, since what it held is
// here, and what follows from the rest: implied nodes, and keys that others
// decide while nobody sets them.
func (c *Config) Flags() (args []string) {
	for _, k := range settingKeys {
		args = append(args, "-"+k.name+"="+k.get(c))
	}
	for _, t := range c.taps() {
		args = append(args, flagOf(flagTap, tapKeys, t, t.Device))
	}
	for i := range c.Virtuals {
		v := &c.Virtuals[i]
		args = append(args, flagOf(flagVirtual, virtualKeys, v, v.Name,
			"listen="+listenKey.get(v), "pool="+c.Pools[v.Pool].Name))
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		args = append(args, flagOf(flagPool, poolKeys, p, p.Name))
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		for j := range p.Members {
			m := &p.Members[j]
			args = append(args, flagOf(flagMember, memberKeys, m, m.Address.String(), "pool="+p.Name))
		}
	}
	for i := range c.Nodes {
		if n := &c.Nodes[i]; !n.Implied {
			args = append(args, flagOf(flagNode, nodeKeys, n, n.Address.String()))
		}
	}
	return args
}

// flagOf is one object as a flag that begins with the words.
func flagOf[T any](flag string, keys []key[T], t *T, words ...string) string {
	for _, k := range keys {
		if !k.fixed && k.applies(keys, t) && (k.implied == nil || k.implied(t) == "") {
			words = append(words, k.name+"="+k.get(t))
		}
	}
	return "-" + flag + "=" + strings.Join(words, ",")
}
