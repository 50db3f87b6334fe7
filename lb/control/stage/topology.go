package stage

import (
	"penstock/lb/control/config"
	"penstock/lb/dispatch"
)

func topology(c *config.Config) (d dispatch.Config) {
	d.Loops = 1
	for i := range c.Virtuals {
		d.Virtuals = append(d.Virtuals, virtualOf(c, i))
	}
	for i := range c.Pools {
		d.Pools = append(d.Pools, poolOf(c, i))
		for j := range c.Pools[i].Members {
			d.Members = append(d.Members, memberOf(c, i, j))
		}
	}
	for i := range c.Nodes {
		d.Nodes = append(d.Nodes, nodeOf(&c.Nodes[i]))
	}
	return d
}

func virtualOf(c *config.Config, i int) dispatch.VirtualConfig {
	v := &c.Virtuals[i]
	o := dispatch.VirtualConfig{
		Pool: dispatch.PoolID(c.Pools[v.Pool].ID), Limit: v.ConnectionLimit, Timeout: dispatch.Tick(v.PersistTimeout),
		Override: v.OverrideLimit, Class: v.QueueClass,
	}
	if v.Persist.On {
		o.Persist = dispatch.Prefix{V4: v.Persist.V4, V6: v.Persist.V6}
	}
	return o
}

func poolOf(c *config.Config, i int) dispatch.PoolConfig {
	p := &c.Pools[i]
	return dispatch.PoolConfig{
		Limit: p.ConnectionLimit, Queue: p.Queue, Depth: c.Depth(i), QueueTime: dispatch.Tick(p.QueueTime),
		WhenDownQueue: p.WhenDownQueue, WhenDownTime: dispatch.Tick(p.WhenDownTime), Tries: uint8(p.ReselectTries),
		SlowRamp: dispatch.Tick(p.SlowRamp), ClassAge: dispatch.Tick(p.ClassAge),
	}
}

func memberOf(c *config.Config, i, j int) dispatch.MemberConfig {
	m, limit := &c.Pools[i].Members[j], c.MemberLimits(i)[j]
	return dispatch.MemberConfig{
		Pool: dispatch.PoolID(c.Pools[i].ID), Node: dispatch.NodeID(c.Nodes[m.Node].ID), Limit: limit,
		Depth: limit, State: dispatch.State(m.State),
	}
}

func nodeOf(n *config.Node) dispatch.NodeConfig {
	return dispatch.NodeConfig{Limit: n.ConnectionLimit, State: dispatch.State(n.State)}
}
