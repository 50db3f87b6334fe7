package config

import "net/netip"

// snatPorts is how many ports an SNAT address has for connections to one
// server: 1024 to 65535.
const snatPorts = 65536 - 1024

// settlePorts finds out which pools have connections that all need a port of an
// SNAT address, and of how many these are: all that their virtual servers have.
func (c *Config) settlePorts() {
	all := make([]map[netip.Addr]bool, len(c.Pools))
	free := make([]bool, len(c.Pools)) // some connections need none
	for i := range c.Virtuals {
		v := &c.Virtuals[i]
		switch {
		case v.Pool < 0 || v.Pool >= len(c.Pools): // a mistake
		case v.Transport != Forwarded || len(v.SNAT) == 0:
			free[v.Pool] = true
		default:
			if all[v.Pool] == nil {
				all[v.Pool] = map[netip.Addr]bool{}
			}
			for _, a := range v.SNAT {
				all[v.Pool][a] = true
			}
		}
	}
	for i := range c.Pools {
		c.Pools[i].snat = len(all[i])
		if free[i] {
			c.Pools[i].snat = 0
		}
	}
}

// portCap is the most connections that each member can have, since each takes a
// port; 0 if that is no limit.
func (p *Pool) portCap() int64 { return int64(p.snat) * snatPorts }

// MemberLimits is, for each member of a pool, how many connections it may have:
// its connection-limit, or less if there are no ports for as many. 0 is no limit.
func (c *Config) MemberLimits(pool int) []int64 {
	p := &c.Pools[pool]
	most := p.portCap()
	limits := make([]int64, len(p.Members))
	for i := range limits {
		n := p.Members[i].ConnectionLimit
		if most > 0 && (n == 0 || n > most) {
			n = most
		}
		limits[i] = n
	}
	return limits
}
