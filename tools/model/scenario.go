package main

import "slices"

// scenario is a configuration small enough to be explored to its end.
type scenario struct {
	name  string
	about string
	small bool // part of go test

	loops    int
	pools    int
	counters []counter
	members  []member
	virtuals []virtual
	clients  []client
	script   []change

	excludes  bool  // a failed dial excludes the member for that connection
	budget    uint8 // grants a pass may make; 0 for no bound
	anyMoment bool  // members go down in the middle of operations, too
	clock     uint8 // the time goes from 1 to this at least; 0: there is none
	ramp      uint8 // how long a slow ramp takes; 0: there is none
	backoff   bool  // a failed dial puts the member into back-off

	rings []ring // derived, see prepare
}

// counter is one limit, and may be of a virtual server, a pool, a member or a
// node. lease is how many tokens a loop takes for its shard
// along with the one it wants, while that many are free.
type counter struct {
	name    string
	limit   int8
	lease   int8
	changes bool // there may be a debt, so strict must be read
}

// member has the counters that a path through it ends with: member, node.
type member struct {
	counters []int
	down     bool // until the script has it up
}

// virtual has the counters that its paths begin with: virtual server, pool.
type virtual struct {
	pool     int
	prefix   []int
	members  []int // in the order of the method
	own      int   // how many of prefix are the virtual server's own
	override bool  // who is persisted gets in over the limit, but not over its own
	noQueue  bool  // the pool does not queue

	swept []int // derived: what its loops sweep before they refuse somebody
}

// client is what one client of a loop will do. Clients of a loop arrive in
// the order of the list, each at any time, and close at any time later.
type client struct {
	loop    int
	virtual int
	sticky  int   // the member it persists to plus one; 0 for none
	up      bool  // has its slot from the start, through member 0 of its list
	leaves  bool  // may close while it waits
	ages    bool  // is too old to wait at the script's tick
	stays   bool  // has waited long enough at its member at the script's overstay
	source  int   // its source plus one, if a record of it may be made
	fails   uint8 // dials that fail before one works
}

// change is one line of the operator's script.
type change struct {
	do  changeKind
	arg int // counter or member
	by  int8
}

type changeKind uint8

const (
	limitBy    changeKind = iota // by < 0 lowers
	memberUp                     // the monitor's word
	memberDown                   // the same
	setState                     // the operator's: by is enabled, disabled or offline
	tick                         // waits are over
	overstay                     // the time at a member is over
)

// ring is one producer's ring: fresh waiters of a virtual server, or those
// returned by a failed dial.
type ring struct {
	loop     int
	virtual  int
	returned bool
}

func init() {
	for _, sc := range scenarios {
		sc.prepare()
	}
}

// prepare lists the rings that can ever hold something, in the order in
// which a pass drains them.
func (sc *scenario) prepare() {
	sc.rings = nil
	for loop := range sc.loops {
		for v := range sc.virtuals {
			if sc.some(func(c client) bool { return c.loop == loop && c.virtual == v }) {
				sc.rings = append(sc.rings, ring{loop: loop, virtual: v})
			}
		}
	}
	for loop := range sc.loops {
		if sc.some(func(c client) bool { return c.loop == loop && (c.fails > 0 || sc.withdraws()) }) {
			sc.rings = append(sc.rings, ring{loop: loop, returned: true})
		}
	}
	for i := range sc.virtuals {
		sc.virtuals[i].swept = sc.countersOf(&sc.virtuals[i])
	}
}

// withdraws says whether a grant may have to be taken back.
func (sc *scenario) withdraws() bool {
	for _, line := range sc.script {
		if line.do == memberDown || line.do == setState {
			return true
		}
	}
	return false
}

// changesLimits says whether the operator does.
func (sc *scenario) changesLimits() bool {
	return slices.ContainsFunc(sc.script, func(line change) bool { return line.do == limitBy })
}

// countersOf lists the counters of all paths of v.
func (sc *scenario) countersOf(v *virtual) []int {
	list := slices.Clone(v.prefix)
	for _, m := range v.members {
		for _, c := range sc.members[m].counters {
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

func (sc *scenario) some(is func(client) bool) bool {
	for _, c := range sc.clients {
		if is(c) {
			return true
		}
	}
	return false
}

// operator is the process that runs the script.
func (sc *scenario) operator() int { return sc.loops }

func (sc *scenario) virtualOf(conn int8) *virtual {
	return &sc.virtuals[sc.clients[conn].virtual]
}

func (sc *scenario) poolOf(conn int8) int { return sc.virtualOf(conn).pool }

// pathLen is the number of counters on conn's path through m.
func (sc *scenario) pathLen(conn, m int8) uint8 {
	return uint8(len(sc.virtualOf(conn).prefix) + len(sc.members[m].counters))
}

// counterAt is the counter at a level of conn's path through m.
func (sc *scenario) counterAt(conn, m int8, level uint8) int {
	prefix := sc.virtualOf(conn).prefix
	if int(level) < len(prefix) {
		return prefix[level]
	}
	return sc.members[m].counters[int(level)-len(prefix)]
}
