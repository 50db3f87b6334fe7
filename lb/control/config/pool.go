package config

import "time"

// poolKeys is what can be set on a pool. The first key is the one a bare
// first word stands for.
var poolKeys = []key[Pool]{
	fix(textKey("name", "NAME", "", "its name, for pool= and in numbers", parseName,
		func(p *Pool) *string { return &p.Name }), true),
	onlyKey[Pool]("load-balancing-mode", "round-robin", "who gets the next connection"),
	limitKey("connection-limit", "no limit", "connections to all members together",
		func(p *Pool) *int64 { return &p.ConnectionLimit }),
	boolKey("queue-on-connection-limit", "on", "on", "off", "whether clients wait when all are full, or are refused",
		func(p *Pool) *bool { return &p.Queue }),
	limitKey("queue-depth-limit", "no limit of its own", "most clients that may wait",
		func(p *Pool) *int64 { return &p.QueueDepth }),
	boolKey("queue-depth-cap", "members", "members", "none",
		"whether no more may wait than the members' connection limits add up to",
		func(p *Pool) *bool { return &p.DepthCapMembers }),
	timeKey("queue-time-limit", "10s", "longest wait; a bare number is milliseconds",
		times{zero: "never", bare: time.Millisecond},
		func(p *Pool) *time.Duration { return &p.QueueTime }),
	boolKey("when-down", "queue", "queue", "refuse", "what clients do when no member is up",
		func(p *Pool) *bool { return &p.WhenDownQueue }),
	timeKey("when-down-time-limit", "10s", "longest wait for a member to come up", times{zero: "never"},
		func(p *Pool) *time.Duration { return &p.WhenDownTime }),
	countKey("reselect-tries", "3", "dials after one that failed", counts{max: 254},
		func(p *Pool) *int { return &p.ReselectTries }),
	timeKey("connect-timeout", "5s", "longest dial, not counted as waiting", times{},
		func(p *Pool) *time.Duration { return &p.ConnectTimeout }),
	boolKey("on-client-close", "leave", "keep", "leave",
		"what becomes of a waiting client that closes its side without a byte",
		func(p *Pool) *bool { return &p.KeepOnClose }),
}
