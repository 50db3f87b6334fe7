package config

import "sync"

// Unlimited is the Depth of a queue that may be of any length.
const Unlimited = -1

// Depth is how many clients may wait in a pool: 0 when nobody can, or
// Unlimited. It follows from the limits around the pool, so a change of one
// of them can change it.
func (c *Config) Depth(pool int) int64 {
	n, _ := c.depth(pool)
	return n
}

// depth also says in words where the number comes from.
func (c *Config) depth(pool int) (int64, string) {
	p := &c.Pools[pool]
	if !p.Queue {
		return 0, "the queue is off"
	}
	n, why := c.depthCap(pool)
	if p.QueueDepth > 0 && (n == Unlimited || p.QueueDepth < n) {
		return p.QueueDepth, "queue-depth-limit"
	}
	return n, why
}

// MemberDepths is, for each member of a pool, how many clients persisted to it
// may wait for it: as Depth, with the member's limit in place of the sum.
func (c *Config) MemberDepths(pool int) []int64 {
	standIn := sync.OnceValue(func() int64 { n, _ := c.standIn(pool); return n }) // it looks at all members
	depths := c.MemberLimits(pool)
	for i, limit := range depths {
		depths[i] = c.memberDepth(pool, limit, standIn)
	}
	return depths
}

func (c *Config) memberDepth(pool int, limit int64, standIn func() int64) int64 {
	p := &c.Pools[pool]
	if !p.Queue {
		return 0
	}
	n := limit
	switch {
	case !p.DepthCapMembers:
		n = Unlimited
	case n == 0:
		n = standIn()
	}
	if p.QueueDepth > 0 && (n == Unlimited || p.QueueDepth < n) {
		n = p.QueueDepth
	}
	return n
}

// depthCap is what queue-depth-cap alone allows.
func (c *Config) depthCap(pool int) (int64, string) {
	p := &c.Pools[pool]
	if !p.DepthCapMembers {
		return Unlimited, "queue-depth-cap=none"
	}
	if len(p.Members) == 0 {
		// A queue is valid before the first member comes.
		if p.WhenDownQueue {
			return Unlimited, "no members to take a number from"
		}
		return 0, "no members, and when-down=refuse"
	}
	var sum int64 // of fewer than 2^23 members of at most 2^40: no overflow
	for _, limit := range c.MemberLimits(pool) {
		if limit == 0 {
			return c.standIn(pool)
		}
		sum += limit
	}
	return sum, "sum of its members' connection limits"
}

// standIn is the depth when a member has no limit, so that the sum would be
// endless: the smallest limit that clients can wait at instead.
func (c *Config) standIn(pool int) (n int64, why string) {
	p := &c.Pools[pool]
	n, why = 0, "no limit to wait at"
	lower := func(limit int64, of string) {
		if limit > 0 && (n == 0 || limit < n) {
			n, why = limit, "connection limit of "+of
		}
	}
	lower(p.ConnectionLimit, "the pool")
	for i := range c.Virtuals {
		if v := &c.Virtuals[i]; v.Pool == pool {
			lower(v.ConnectionLimit, "virtual server "+v.Name)
		}
	}
	for i := range p.Members {
		node := &c.Nodes[p.Members[i].Node]
		lower(node.ConnectionLimit, "node "+node.Address.String())
	}
	return n, why
}
