package main

import (
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"runtime"

	"penstock/lb/control/config"
	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/proxy"
	"penstock/stack/proxyheader"
	"penstock/stack/tap"
)

// topology translates what the user set into what the proxy takes at the
// start. Members are numbered through all pools, in order; see config's IDs.
func topology(c *config.Config, log *slog.Logger) proxy.Config {
	p := proxy.Config{Log: log, Tap: deviceOf(c)}
	p.Dispatch.Loops = loops(c)
	p.Dispatch.Seed = rand.Uint64()
	for i := range c.Virtuals {
		p.Virtuals = append(p.Virtuals, sessionsOf(c, i))
		p.Dispatch.Virtuals = append(p.Dispatch.Virtuals, virtualOf(c, i))
	}
	for i := range c.Pools {
		p.Pools = append(p.Pools, dialsOf(&c.Pools[i]))
		p.Dispatch.Pools = append(p.Dispatch.Pools, poolOf(c, i))
		for j := range c.Pools[i].Members {
			p.Members = append(p.Members, c.Pools[i].Members[j].Address)
		}
		p.Dispatch.Members = append(p.Dispatch.Members, membersOf(c, i)...)
	}
	for i := range c.Nodes {
		p.Dispatch.Nodes = append(p.Dispatch.Nodes, nodeOf(&c.Nodes[i]))
	}
	return p
}

func loops(c *config.Config) int {
	if c.Loops > 0 {
		return c.Loops
	}
	return runtime.GOMAXPROCS(0)
}

// sessionsOf is how virtual server i treats its clients.
func sessionsOf(c *config.Config, i int) proxy.Virtual {
	v := &c.Virtuals[i]
	return proxy.Virtual{
		Listen:      kernel.Address{AddrPort: v.Listen, Dual: v.Dual},
		Options:     kernel.Options{Keepalive: v.Keepalive, UserTimeout: v.UserTimeout},
		IdleTimeout: v.IdleTimeout, HalfClose: v.HalfClose, Refuse: proxy.Refuse(v.Refuse),
		Pool:        dispatch.PoolID(c.Pools[v.Pool].ID),
		AcceptProxy: v.AcceptProxy, TrustedProxies: v.TrustedProxies, ProxyHeaderTimeout: v.ProxyHeaderTimeout,
		Tap: v.Front == config.FrontTap, SynProof: tap.Proof(v.SynProof), SynShare: v.SynShare,
		Forward: v.Transport == config.Forwarded, SNAT: v.SNAT,
	}
}

// deviceOf is the TAP device as the proxy has it, with the one of servers if
// they have their own; nil if there is none.
func deviceOf(c *config.Config) *tap.Config {
	t := c.Tap
	if t == nil {
		return nil
	}
	return &tap.Config{
		Device: t.Device, Addresses: t.Addresses, MAC: t.MAC, MTU: t.MTU,
		MSS: t.MSS, RACK: t.RACK, Congestion: t.Congestion.String(), TimeWait: t.TimeWait,
		ReceiveBuffer: t.ReceiveBuffer, SendBuffer: t.SendBuffer, Handshakes: t.SynTable, Flows: t.FlowTable,
		Gateways: t.Gateways, Servers: linkOf(c.ServerTap),
	}
}

func linkOf(t *config.Tap) *tap.Link {
	if t == nil {
		return nil
	}
	return &tap.Link{Device: t.Device, Addresses: t.Addresses, Gateways: t.Gateways, MAC: t.MAC, MTU: t.MTU}
}

// virtualOf is virtual server i as the dispatcher has it.
func virtualOf(c *config.Config, i int) dispatch.VirtualConfig {
	v := &c.Virtuals[i]
	d := dispatch.VirtualConfig{
		Pool: dispatch.PoolID(c.Pools[v.Pool].ID), Limit: v.ConnectionLimit,
		Persist: prefixOf(v.Persist), Timeout: dispatch.Tick(v.PersistTimeout), Override: v.OverrideLimit,
		Class: v.QueueClass,
	}
	for _, r := range v.QueueClassFrom {
		d.Classes = append(d.Classes, dispatch.ClassRule(r))
	}
	return d
}

func prefixOf(p config.Prefix) dispatch.Prefix { return dispatch.Prefix{V4: p.V4, V6: p.V6} }

// dialsOf is how a pool's servers are dialled and its parked clients treated.
func dialsOf(p *config.Pool) proxy.Pool {
	return proxy.Pool{
		ConnectTimeout: p.ConnectTimeout, OnClose: proxy.OnClose(p.OnClose),
		SendProxy: proxyheader.Version(p.SendProxy),
	}
}

// poolOf is pool i as the dispatcher has it.
func poolOf(c *config.Config, i int) dispatch.PoolConfig {
	p := &c.Pools[i]
	return dispatch.PoolConfig{
		Limit: p.ConnectionLimit, Queue: p.Queue, Depth: c.Depth(i), DownDepth: downDepth(p),
		QueueTime:     dispatch.Tick(p.QueueTime),
		WhenDownQueue: p.WhenDownQueue, WhenDownTime: dispatch.Tick(p.WhenDownTime),
		Tries: uint8(p.ReselectTries),
		Mode:  dispatch.Mode(p.Mode), MinActive: p.MinActive, SlowRamp: dispatch.Tick(p.SlowRamp),
		PersistWait: dispatch.Tick(p.PersistWait), Fair: prefixOf(p.Fair),
		CoDel: p.Discipline == config.CoDel, RefuseEarly: p.RefuseEarly, ClassAge: dispatch.Tick(p.ClassAge),
	}
}

// downDepth is how many may wait for members that have no limit, while none of
// them can be dialled: the sum of their limits says nothing.
func downDepth(p *config.Pool) int64 {
	if p.QueueDepth > 0 {
		return p.QueueDepth
	}
	return -1
}

// membersOf are the members of pool i as the dispatcher has them.
func membersOf(c *config.Config, i int) (all []dispatch.MemberConfig) {
	p := &c.Pools[i]
	limits := c.MemberLimits(i)
	for j, depth := range c.MemberDepths(i) {
		m := &p.Members[j]
		all = append(all, dispatch.MemberConfig{
			Pool: dispatch.PoolID(p.ID), Node: dispatch.NodeID(c.Nodes[m.Node].ID),
			Limit: limits[j], Depth: depth, State: dispatch.State(m.State),
			Ratio: uint32(c.Ratio(m)), Priority: uint16(m.PriorityGroup), Key: keyOf(m),
		})
	}
	return all
}

// keyOf names a server for source-hash, the same in every process.
func keyOf(m *config.Member) uint64 {
	h := fnv.New64a()
	h.Write([]byte(m.Address.String()))
	return h.Sum64()
}

func nodeOf(n *config.Node) dispatch.NodeConfig {
	return dispatch.NodeConfig{Limit: n.ConnectionLimit, State: dispatch.State(n.State)}
}
