package config

import (
	"math"
	"net/netip"
)

// warnTap warns of a device that nobody uses, or that has no room.
func (c *Config) warnTap(warn func(string, ...any)) {
	t := c.Tap
	if t == nil {
		return
	}
	most := 0
	for i := range c.Virtuals {
		if v := &c.Virtuals[i]; v.Front == FrontTap {
			c.warnFront(v, warn)
			most = max(most, c.mssAt(v.Listen.Addr()))
		}
	}
	if most == 0 {
		warn("tap %s: no virtual server has front=tap", t.Device)
	}
	c.warnForward(warn)
	if most > 0 && t.MSS > most {
		warn("tap %s: mss=%d has no effect: mtu=%d allows %d", t.Device, t.MSS, t.MTU, most)
	}
}

// mssAt is the longest segment that the MTU allows.
func (c *Config) mssAt(a netip.Addr) int {
	switch {
	case c.Tap.MTU == 0:
		return math.MaxInt
	case a.Is4():
		return c.Tap.MTU - 40
	}
	return c.Tap.MTU - 60
}

func (c *Config) warnFront(v *Virtual, warn func(string, ...any)) {
	if v.AcceptProxy {
		warn("virtual server %s: accept-proxy-protocol=on makes front=tap answer each client at once, since its header comes "+
			"behind the handshake: who waits is connected", v.Name)
		return
	}
	if room := c.Handshakes(); room > 0 && c.Pools[v.Pool].Queue {
		n, why := c.depth(v.Pool)
		if n > room {
			warn("virtual server %s: %d may wait in pool %s (%s), but there is room for %d handshakes: syn-table=%s in each of %d loops",
				v.Name, n, c.Pools[v.Pool].Name, why, room, formatSize(c.Tap.SynTable), c.loops())
		}
	}
}
