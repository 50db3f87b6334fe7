package dispatch

import (
	"sync/atomic"

	"penstock/lb/codel"
	"penstock/lb/limit"
	"penstock/lb/persist"
	"penstock/lb/queue"
	"penstock/lb/rate"
	"penstock/lb/ring"
)

// Fields without a remark are written only while the loops stand still; see
// edit.go. Any loop may read them.

type virtual struct {
	id    VirtualID
	cfg   VirtualConfig
	pool  *pool
	slots *limit.Counter

	// fresh[i] carries loop i's waiters to the home.
	fresh []ring.Ring[queue.Entry]

	free *group // home's: waiters that may go to any member, of the plain class

	records  atomic.Pointer[persist.Table] // nil: no persistence
	usable   func(persist.Member) bool     // whom a record may name
	class    uint8
	classes  []class
	usesAddr bool // who waits is asked for its address later

	removed bool
	regroup bool         // its waiters are to be sorted anew
	left    *pool        // ... and are counted by this pool still
	waits   atomic.Int64 // its waiters
	head    int64        // see publishHeads; owned by who has the baton
	stats   QueueStats
}

type pool struct {
	id    PoolID
	home  *home
	slots *limit.Counter

	members  []*member // those that are not removed, preferred ones first
	levels   []int     // ends of the priority groups among them; nil: not looked at
	virtuals []*virtual
	weights  []uint32 // of members
	mode     Mode
	removed  bool
	salt     uint64 // of the hashes of sources
	regroup  bool   // its waiters are to be sorted anew

	// Rules. Atomic, since tests of the core change them while loops decide.
	queue        atomic.Bool
	depthCap     atomic.Int64 // negative: any number
	downCap      atomic.Int64 // instead of a depthCap of 0 while nobody can be dialled
	queueTime    atomic.Int64
	whenDown     atomic.Bool // queue while no member is up
	whenDownTime atomic.Int64
	paused       atomic.Bool
	tries        uint8
	minActive    int
	persistWait  Tick
	classAge     Tick
	slowRamp     Tick
	fair         Prefix
	shedding     bool // queue-discipline=codel
	refuseEarly  bool
	sorted       bool // by flows or classes: who comes last need not be last

	_       [64]byte
	waiting atomic.Bool // written by the home: newcomers must park
	up      atomic.Int32
	downAt  atomic.Int64 // since when no member is up
	depth   atomic.Int64 // waiters in the pool's own queue
	ailing  atomic.Int32 // members in back-off, removed ones too
	_       [64]byte

	// Owned by who has the baton.
	next    chooser
	full    bool                // no member had a slot for who may go to any, and no capacity latch came since
	lines   [topClass + 1]*line // by class, if fair
	fairly  []*line             // those of them that have waiters
	codel   codel.CoDel
	head    int64 // see publishHeads
	queued  bool  // somebody has waited for a single member
	indices int   // of members, handed out so far

	meter rate.Meter  // written by who has the baton
	own   QueueStats  // of those in the pool's own queue
	all   ages        // of the members' queues too
	past  *QueueStats // of members that were removed; see objects
}

type node struct {
	id      NodeID
	slots   *limit.Counter
	state   atomic.Uint32
	removed bool
}

type member struct {
	id    MemberID
	gen   uint16 // tells it from earlier members of the same number
	index int    // in its pool, in the order in which they were added; not used again, since waiters know by it who refused them
	pool  *pool
	node  *node
	slots *limit.Counter

	ratio    uint32
	priority uint16
	key      uint64

	limit    atomic.Int64 // as set; that of slots is less while it ramps up
	rampFrom atomic.Int64 // when it came up; 0: no ramp
	state    atomic.Uint32
	down     atomic.Bool  // the monitor's word
	removed  atomic.Bool  // takes nobody, and is forgotten when it is empty
	health   atomic.Int64 // 0 well; probing; else in back-off until that tick
	fails    atomic.Uint32
	given    atomic.Int64  // when it got its last connection (least-connections)
	depth    atomic.Int64  // waiters persisted to it
	depthCap atomic.Int64  // negative: any number
	refused  atomic.Uint64 // failed dials, ever
	head     int64         // see publishHeads; owned by who has the baton
	stats    QueueStats    // of its own queue
}

// operator is what the member may be given, after the operator's and the
// monitor's word: Offline if it is down.
func (m *member) operator() State {
	if m.down.Load() || m.removed.Load() {
		return Offline
	}
	return m.word()
}

// word is the operator's alone, for the member and its node.
func (m *member) word() State {
	return max(State(m.state.Load()), State(m.node.state.Load()))
}

// serves says whether somebody can be served at all: a member takes new
// clients, or the one they are persisted to (nil: none) takes them.
func (pl *pool) serves(sticky *member) bool {
	return pl.up.Load() > 0 || sticky != nil && sticky.operator() != Offline
}

// up says whether the member takes new clients at all.
func (m *member) up() bool { return m.operator() == Enabled }

// takes says whether the member takes clients persisted to it, or new ones.
func (m *member) takes(sticky bool) bool {
	op := m.operator()
	return op == Enabled || op == Disabled && sticky
}

// eligible says whether the member may be given a connection now, were there
// a slot. In back-off it may be given one, as a probe, when the pause is over.
func (m *member) eligible(now Tick, sticky bool) bool {
	return m.takes(sticky) && m.health.Load() <= int64(now)
}

// below says whether the member's own limits permit one more.
func (m *member) below() bool { return m.slots.Below() && m.node.slots.Below() }

// overrides says whether a client persisted to m gets in, be m full or not.
func (v *virtual) overrides(now Tick, m *member) bool {
	return v.cfg.Override && m.eligible(now, true) && v.slots.Below() && !v.pool.paused.Load()
}

// reachable says whether the member a client is persisted to (nil: any) could
// be dialled now, were there a slot.
func (pl *pool) reachable(sticky *member) bool {
	if pl.paused.Load() {
		return false
	}
	if sticky != nil {
		return sticky.health.Load() == 0
	}
	for _, m := range pl.members {
		if m.up() && m.health.Load() == 0 {
			return true
		}
	}
	return false
}

// avoid returns the members a waiter is not to be given, a bit each: those
// that refused it, unless there is no other member that is up.
func (pl *pool) avoid(tried uint64) uint64 {
	if tried == 0 {
		return 0
	}
	for _, m := range pl.members {
		if m.up() && tried&m.bit() == 0 {
			return tried
		}
	}
	return 0
}

func (m *member) bit() uint64 { return 1 << (m.index % 64) }

// recountUp counts the members that take new clients, and notes when the last
// one stopped.
func (pl *pool) recountUp(now Tick) {
	up := int32(0)
	for _, m := range pl.members {
		if m.up() {
			up++
		}
	}
	if up == 0 && pl.up.Load() > 0 {
		pl.downAt.Store(int64(now))
	}
	pl.up.Store(up)
}
