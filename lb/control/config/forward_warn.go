package config

import (
	"net/netip"
	"slices"
)

// warnForward warns of keys that mean nothing where connections are forwarded,
// or nothing unless they are, and of room that is too small.
func (c *Config) warnForward(warn func(string, ...any)) {
	t := c.Tap
	forward := c.Forwards()
	const none = "no virtual server has mode=forward"
	warnIdle("tap "+t.Device, tapKeys, t, []rule{
		{"gateway", !forward, none},
		{"flow-table", !forward, none},
		{"rack", c.allForwarded(), allForwarded},
		{"congestion-control", c.allForwarded(), allForwarded},
		{"receive-buffer", c.allForwarded(), allForwarded},
		{"send-buffer", c.allForwarded(), allForwarded},
	}, warn)
	if c.ServerTap != nil && !forward {
		warn("tap %s: %s", c.ServerTap.Device, none)
	}
	for i := range c.Virtuals {
		if v := &c.Virtuals[i]; v.Transport == Forwarded {
			c.warnSNAT(v, warn)
			c.warnFlows(v, warn)
		}
	}
}

const allForwarded = "its virtual servers have mode=forward: TCP is between clients and servers"

// allForwarded says whether no client's TCP ends on the device.
func (c *Config) allForwarded() bool {
	all := false
	for i := range c.Virtuals {
		if v := &c.Virtuals[i]; v.Front == FrontTap {
			if v.Transport != Forwarded {
				return false
			}
			all = true
		}
	}
	return all
}

// warnPorts warns of limits that there are no ports for.
func (c *Config) warnPorts(pool int, warn func(string, ...any)) {
	p := &c.Pools[pool]
	most := p.portCap()
	if i := slices.IndexFunc(p.Members, func(m Member) bool { return m.ConnectionLimit > most }); most > 0 && i >= 0 {
		m := &p.Members[i]
		warn("pool %s: connection-limit=%d of member %s has no effect above %d: its connections need ports of snat addresses",
			p.Name, m.ConnectionLimit, m.Address, most)
	}
}

func (c *Config) warnSNAT(v *Virtual, warn func(string, ...any)) {
	t := c.serverTap()
	if i := slices.IndexFunc(v.SNAT, func(a netip.Addr) bool { return !t.on(a) }); i >= 0 {
		warn("virtual server %s: snat=%s is in no network of tap %s: servers need a route to it", v.Name, v.SNAT[i], t.Device)
	}
}

func (c *Config) warnFlows(v *Virtual, warn func(string, ...any)) {
	if n, room := c.mostConnections(v), c.Flows(); room > 0 && n > room {
		warn("virtual server %s: limits allow %d connections, but there is room for %d forwarded ones: flow-table=%s in each of %d loops",
			v.Name, n, room, formatSize(c.Tap.FlowTable), c.loops())
	}
}

// mostConnections is how many a virtual server may have by its own limit, its
// pool's and its members'; 0 if they allow any number.
func (c *Config) mostConnections(v *Virtual) (n int64) {
	lower := func(limit int64) {
		if limit > 0 && (n == 0 || limit < n) {
			n = limit
		}
	}
	lower(v.ConnectionLimit)
	lower(c.Pools[v.Pool].ConnectionLimit)
	var sum int64
	for _, limit := range c.MemberLimits(v.Pool) {
		if limit == 0 {
			return n
		}
		sum += limit
	}
	lower(sum)
	return n
}
