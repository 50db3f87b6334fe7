package config

import "slices"

// rule is one way for a key to have no effect.
type rule struct {
	key  string
	idle bool
	why  string
}

// warnIdle warns of keys that were set and have no effect because of others.
// One with its default value counts as not set.
func warnIdle[T any](what string, keys []key[T], t *T, rules []rule, warn func(string, ...any)) {
	plain := defaults(keys)
	for _, r := range rules {
		k := find(keys, r.key)
		set := k.get(t) != k.get(&plain)
		if k.implied != nil {
			set = k.implied(t) == ""
		}
		if r.idle && set {
			warn("%s: %s=%s has no effect: %s", what, r.key, k.get(t), r.why)
		}
	}
}

func (c *Config) warnVirtual(v *Virtual, warn func(string, ...any)) {
	p := &c.Pools[v.Pool]
	off := "pool " + p.Name + " has queue-on-connection-limit=off"
	warnIdle("virtual server "+v.Name, virtualKeys, v, []rule{
		{"persist-timeout", !v.Persist.On, "persist=off"},
		{"override-connection-limit", !v.Persist.On, "persist=off"},
		{"trusted-proxies", !v.AcceptProxy, "accept-proxy-protocol=off"},
		{"proxy-header-timeout", !v.AcceptProxy, "accept-proxy-protocol=off"},
		{"queue-class", !p.Queue, off},
		{"queue-class-from", !p.Queue, off},
	}, warn)
}

func (c *Config) warnRules(pool int, warn func(string, ...any)) {
	p := &c.Pools[pool]
	const off = "queue-on-connection-limit=off"
	persist := c.anyVirtual(pool, func(v *Virtual) bool { return v.Persist.On })
	classes := c.anyVirtual(pool, func(v *Virtual) bool { return v.QueueClass > 0 || len(v.QueueClassFrom) > 0 })
	forwarded := c.anyVirtual(pool, func(v *Virtual) bool { return v.Transport == Forwarded }) &&
		!c.anyVirtual(pool, func(v *Virtual) bool { return v.Transport != Forwarded })
	unchecked := p.Monitor == MonitorNone
	none := "monitor=" + monitorKey.show(p)
	warnIdle("pool "+p.Name, poolKeys, p, []rule{
		{"queue-discipline", !p.Queue, off},
		{"queue-fair", !p.Queue, off},
		{"refuse-early", !p.Queue, off},
		{"queue-class-age", !p.Queue, off},
		{"queue-class-age", p.Queue && !classes, "no virtual server with this pool has a queue-class"},
		{"persist-wait", !persist && p.Mode != ModeSourceHash,
			"no virtual server with this pool has persist, and load-balancing-mode is not source-hash"},
		{"min-active-members", len(p.Members) > 0 && p.oneGroup(), "all its members are in one priority-group"},
		{"service-down-action", unchecked, none},
		{"monitor-interval", unchecked, none},
		{"monitor-timeout", unchecked, none},
		{"monitor-send", unchecked, none},
		{"monitor-recv", unchecked, none},
		{"on-client-close", forwarded, "all virtual servers with this pool have mode=forward: who waits is not connected"},
	}, warn)
	p.warnMembers(warn)
	if !unchecked && p.MonitorTimeout <= p.MonitorInterval {
		warn("pool %s: monitor-timeout=%s is not above monitor-interval=%s: its members are down between two good checks",
			p.Name, formatTime(p.MonitorTimeout), formatTime(p.MonitorInterval))
	}
}

// warnMembers names one member for each reason, not all of them.
func (p *Pool) warnMembers(warn func(string, ...any)) {
	if n := len(p.Members); p.MinActive > n && n > 0 && !p.oneGroup() {
		warn("pool %s: min-active-members=%d is more than its %d members: all priority groups are used",
			p.Name, p.MinActive, n)
	}
	first := func(like func(m *Member) bool) *Member {
		for i := range p.Members {
			if like(&p.Members[i]) {
				return &p.Members[i]
			}
		}
		return nil
	}
	if m := first(func(m *Member) bool { return m.PriorityGroup > 0 }); m != nil && p.MinActive == 0 {
		warn("pool %s: priority-group=%d of member %s has no effect: min-active-members=0",
			p.Name, m.PriorityGroup, m.Address)
	}
	if m := first(func(m *Member) bool { return m.Ratio > 0 }); m != nil && p.Mode == ModeRoundRobin {
		warn("pool %s: ratio=%d of member %s has no effect: load-balancing-mode=round-robin", p.Name, m.Ratio, m.Address)
	}
	// The default is no wish of anybody's.
	plain := defaults(poolKeys)
	if m := first(func(m *Member) bool { return m.ConnectionLimit == 0 }); m != nil && p.SlowRamp > 0 && p.SlowRamp != plain.SlowRamp {
		warn("pool %s: slow-ramp-time=%s has no effect on member %s: it has no connection-limit",
			p.Name, formatTime(p.SlowRamp), m.Address)
	}
}

func (p *Pool) oneGroup() bool {
	return !slices.ContainsFunc(p.Members, func(m Member) bool { return m.PriorityGroup != p.Members[0].PriorityGroup })
}

func (c *Config) anyVirtual(pool int, like func(*Virtual) bool) bool {
	for i := range c.Virtuals {
		if v := &c.Virtuals[i]; v.Pool == pool && like(v) {
			return true
		}
	}
	return false
}
