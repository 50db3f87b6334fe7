package config

import "fmt"

// warnings is what is valid but probably not meant.
func warnings(c *Config) (w []string) {
	warn := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	served := make([]bool, len(c.Pools))
	for i := range c.Virtuals {
		served[c.Virtuals[i].Pool] = true
	}
	for i := range c.Pools {
		if !served[i] {
			warn("pool %s: no virtual server uses it", c.Pools[i].Name)
		}
		c.warnPool(i, warn)
		c.warnRules(i, warn)
		c.warnPorts(i, warn)
	}
	for i := range c.Virtuals {
		c.warnVirtual(&c.Virtuals[i], warn)
	}
	c.warnTap(warn)
	for i, used := range c.nodesUsed() {
		if !used {
			warn("node %s: no member is on it", c.Nodes[i].Address)
		}
	}
	if c.Admin == "off" && c.AdminTokenFile != "" {
		warn("admin-token-file has no effect: admin=off")
	}
	return w
}

func (c *Config) warnPool(pool int, warn func(string, ...any)) {
	p := &c.Pools[pool]
	if len(p.Members) == 0 {
		does := "wait"
		if !p.Queue || !p.WhenDownQueue {
			does = "are refused"
		}
		warn("pool %s: no members: its clients %s", p.Name, does)
		return
	}
	if !c.anyEnabled(p) {
		warn("pool %s: no member is enabled", p.Name)
	}
	if free := c.freeMember(pool); free != nil && p.Queue {
		warn("pool %s: nothing can queue in it while member %s is up: no connection-limit at that member, its node, the pool or a virtual server",
			p.Name, free.Address)
	}
	if n, _ := c.depthCap(pool); p.Queue && n > 0 && p.QueueDepth > n {
		warn("pool %s: queue-depth-limit=%d has no effect: queue-depth-cap=members keeps the queue at %d",
			p.Name, p.QueueDepth, n)
	}
}

func (c *Config) anyEnabled(p *Pool) bool {
	for i := range p.Members {
		if m := &p.Members[i]; m.State == Enabled && c.Nodes[m.Node].State == Enabled {
			return true
		}
	}
	return false
}

// freeMember is a member that some client never has to wait for, since
// nothing on a path to it has a limit; nil if there is none.
func (c *Config) freeMember(pool int) *Member {
	p := &c.Pools[pool]
	if p.ConnectionLimit > 0 {
		return nil
	}
	for i := range c.Virtuals {
		if v := &c.Virtuals[i]; v.Pool == pool && v.ConnectionLimit > 0 {
			return nil
		}
	}
	for i, limit := range c.MemberLimits(pool) {
		m := &p.Members[i]
		if limit == 0 && c.Nodes[m.Node].ConnectionLimit == 0 {
			return m
		}
	}
	return nil
}

func (c *Config) nodesUsed() []bool {
	used := make([]bool, len(c.Nodes))
	for i := range c.Pools {
		for j := range c.Pools[i].Members {
			used[c.Pools[i].Members[j].Node] = true
		}
	}
	return used
}
