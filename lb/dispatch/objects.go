package dispatch

import (
	"math"
	"sync/atomic"

	"penstock/lb/limit"
	"penstock/lb/method"
	"penstock/lb/queue"
	"penstock/lb/ring"
)

// Back-off after failed dials: the first pause, doubled each time up to the
// last.
const (
	backoffFirst Tick = 50e6
	backoffMost  Tick = 5e9
)

// probing is the health of a member that one waiter is trying out.
const probing = math.MaxInt64

type virtual struct {
	id    VirtualID
	pool  *pool
	slots *limit.Counter

	// fresh[i] carries loop i's waiters to the home.
	fresh []ring.Ring[queue.Entry]

	free *group // home's: waiters that may go to any member
}

type pool struct {
	id    PoolID
	home  *home
	slots *limit.Counter

	members  []*member
	virtuals []*virtual

	// Rules. Atomic, since they can be changed while loops decide.
	queue        atomic.Bool
	depthCap     atomic.Int64 // negative: any number
	downCap      atomic.Int64 // instead of a depthCap of 0 while nobody can be dialled
	queueTime    atomic.Int64
	whenDown     atomic.Bool // queue while no member is up
	whenDownTime atomic.Int64
	tries        uint8

	_       [64]byte
	waiting atomic.Bool // written by the home: newcomers must park
	up      atomic.Int32
	downAt  atomic.Int64 // since when no member is up
	depth   atomic.Int64 // waiters in the pool's own queue
	ailing  atomic.Int32 // members in back-off
	_       [64]byte

	next  method.RoundRobin // owned by who has the baton
	stats PoolStats
}

type node struct {
	slots *limit.Counter
	state atomic.Uint32
}

type member struct {
	id    MemberID
	index int // in its pool
	pool  *pool
	node  *node
	slots *limit.Counter

	state    atomic.Uint32
	health   atomic.Int64 // 0 well; probing; else in back-off until that tick
	fails    atomic.Uint32
	depth    atomic.Int64  // waiters persisted to it
	depthCap atomic.Int64  // negative: any number
	refused  atomic.Uint64 // failed dials, ever
}

func (m *member) operator() State {
	return max(State(m.state.Load()), State(m.node.state.Load()))
}

// serves says whether somebody can be served at all: a member takes new
// clients, or the one they are persisted to (nil: none) takes them.
func (pl *pool) serves(sticky *member) bool {
	return pl.up.Load() > 0 || sticky != nil && sticky.operator() != Offline
}

// Up says whether the member takes new clients at all.
func (m *member) up() bool { return m.operator() == Enabled }

// eligible says whether the member may be given a connection now, were there
// a slot. In back-off it may be given one, as a probe, when the pause is over.
func (m *member) eligible(now Tick, sticky bool) bool {
	op := m.operator()
	if op == Offline || op == Disabled && !sticky {
		return false
	}
	return m.health.Load() <= int64(now)
}

// reachable says whether a member could be dialled now, were there a slot.
func (pl *pool) reachable() bool {
	for _, m := range pl.members {
		if m.up() && m.health.Load() == 0 {
			return true
		}
	}
	return false
}

// claim makes the caller the prober of a member whose pause is over. Probe is
// false for a member that is well; ok is false if somebody else probes it.
func (m *member) claim(now Tick) (probe, ok bool) {
	h := m.health.Load()
	if h == 0 {
		return false, true
	}
	// Asked again: since eligible was, another probe may have failed.
	return true, h <= int64(now) && m.health.CompareAndSwap(h, probing)
}

// unprobed ends a probe that found nothing out. The member may have been found
// well meanwhile, by a dial that began before its pause.
func (m *member) unprobed(now Tick) { m.health.CompareAndSwap(probing, int64(now)) }

// backOff starts or prolongs the pause. The failure of a dial that began
// before the pause did is no news.
func (m *member) backOff(now Tick, probe bool) {
	if !probe && m.health.Load() != 0 {
		return
	}
	pause := backoffFirst << min(m.fails.Load(), 7)
	until := int64(now + min(pause, backoffMost))
	if probe {
		if m.health.Swap(until) == 0 { // another dial got through meanwhile
			m.pool.ailing.Add(1)
		}
	} else if m.health.CompareAndSwap(0, until) {
		m.pool.ailing.Add(1)
	} else {
		return
	}
	m.fails.Add(1)
}

// well ends the pause; true if there was one.
func (m *member) well() bool {
	if m.health.Load() == 0 || m.health.Swap(0) == 0 {
		return false
	}
	m.fails.Store(0)
	m.pool.ailing.Add(-1)
	return true
}
