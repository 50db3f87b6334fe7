package main

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

	excludes bool  // a failed dial excludes the member for that connection
	budget   uint8 // grants a pass may make; 0 for no bound

	rings []ring // derived, see prepare
}

// counter is one limit. lease is how many tokens a loop takes for its shard
// along with the one it wants, while that many are free.
type counter struct {
	name    string
	limit   int8
	lease   int8
	changes bool // the script changes the limit, so strict must be read
}

// member has the counters that a path through it ends with: member, node.
type member struct {
	counters []int
	down     bool // until the script has it up
}

// virtual has the counters that its paths begin with: virtual server, pool.
type virtual struct {
	pool    int
	prefix  []int
	members []int // in the order of the method
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
	limitBy changeKind = iota // by < 0 lowers
	memberUp
	tick
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
		if sc.some(func(c client) bool { return c.loop == loop && c.fails > 0 }) {
			sc.rings = append(sc.rings, ring{loop: loop, returned: true})
		}
	}
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
