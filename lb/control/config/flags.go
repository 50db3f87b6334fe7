package config

import "strings"

// Flags is the configuration as flags with every value, defaults and implied
// objects too: Parse makes an equal Config of them. Only FlagFile is left
// out, since what it held is here.
func (c *Config) Flags() (args []string) {
	for _, k := range settingKeys {
		args = append(args, "-"+k.name+"="+k.get(c))
	}
	for i := range c.Virtuals {
		v := &c.Virtuals[i]
		args = append(args, object(flagVirtual, v.Settings(), v.Name,
			"listen="+listenKey.get(v), "pool="+c.Pools[v.Pool].Name))
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		args = append(args, object(flagPool, p.Settings(), p.Name))
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		for j := range p.Members {
			m := &p.Members[j]
			args = append(args, object(flagMember, m.Settings(), m.Address.String(), "pool="+p.Name))
		}
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		args = append(args, object(flagNode, n.Settings(), n.Address.String()))
	}
	return args
}

func object(flag string, settings []Setting, words ...string) string {
	for _, s := range settings {
		words = append(words, s.Key+"="+s.Value)
	}
	return "-" + flag + "=" + strings.Join(words, ",")
}
