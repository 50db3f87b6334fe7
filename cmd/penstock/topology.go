package main

import (
	"log/slog"
	"runtime"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/proxy"
)

// topology translates what the user set into what the proxy takes. Members
// are numbered through all pools, in order.
func topology(c *config.Config, log *slog.Logger) proxy.Config {
	p := proxy.Config{Log: log}
	p.Dispatch.Loops = loops(c)
	for _, v := range c.Virtuals {
		addVirtual(&p, v)
	}
	for i, pl := range c.Pools {
		addPool(&p, pl, c.Depth(i))
		for _, m := range pl.Members {
			addMember(&p, i, m)
		}
	}
	for _, n := range c.Nodes {
		p.Dispatch.Nodes = append(p.Dispatch.Nodes, dispatch.NodeConfig{
			Limit: n.ConnectionLimit, State: dispatch.State(n.State),
		})
	}
	return p
}

func loops(c *config.Config) int {
	if c.Loops > 0 {
		return c.Loops
	}
	return runtime.GOMAXPROCS(0)
}

func addVirtual(p *proxy.Config, v config.Virtual) {
	p.Virtuals = append(p.Virtuals, proxy.Virtual{
		Listen:      kernel.Address{AddrPort: v.Listen, Dual: v.Dual},
		Options:     kernel.Options{Keepalive: v.Keepalive, UserTimeout: v.UserTimeout},
		IdleTimeout: v.IdleTimeout, HalfClose: v.HalfClose, Refuse: proxy.Refuse(v.Refuse),
	})
	p.Dispatch.Virtuals = append(p.Dispatch.Virtuals, dispatch.VirtualConfig{
		Pool: dispatch.PoolID(v.Pool), Limit: v.ConnectionLimit,
	})
}

func addPool(p *proxy.Config, pl config.Pool, depth int64) {
	p.Pools = append(p.Pools, proxy.Pool{ConnectTimeout: pl.ConnectTimeout, KeepOnClose: pl.KeepOnClose})
	p.Dispatch.Pools = append(p.Dispatch.Pools, dispatch.PoolConfig{
		Limit: pl.ConnectionLimit, Queue: pl.Queue, Depth: depth, DownDepth: downDepth(pl),
		QueueTime:     dispatch.Tick(pl.QueueTime),
		WhenDownQueue: pl.WhenDownQueue, WhenDownTime: dispatch.Tick(pl.WhenDownTime),
		Tries: uint8(pl.ReselectTries),
	})
}

// downDepth is how many may wait for members that have no limit, while none of
// them can be dialled: the sum of their limits says nothing.
func downDepth(pl config.Pool) int64 {
	if pl.QueueDepth > 0 {
		return pl.QueueDepth
	}
	return -1
}

func addMember(p *proxy.Config, pool int, m config.Member) {
	p.Members = append(p.Members, m.Address)
	p.Dispatch.Members = append(p.Dispatch.Members, dispatch.MemberConfig{
		Pool: dispatch.PoolID(pool), Node: dispatch.NodeID(m.Node),
		Limit: m.ConnectionLimit, Depth: m.ConnectionLimit, State: dispatch.State(m.State),
	})
}
