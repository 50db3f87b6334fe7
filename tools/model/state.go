package main

// Sizes of the largest scenario. The state is a value without pointers, so
// that it can be copied with = and hashed as plain memory.
const (
	maxCounters = 4
	maxMembers  = 3
	maxLoops    = 3
	maxProcs    = maxLoops + 1 // the loops and the operator
	maxConns    = 6
	maxPools    = 2
	maxSources  = 1
)

// Bits of the home's flags.
const (
	flagWaiting uint8 = 1 << iota // some pool has waiters
	flagStrict                    // some counter has a debt
)

// Bits of the home's baton word.
const (
	latchArrived uint8 = 1 << iota
	latchCapacity
	latchSweep
	held
	latches = latchArrived | latchCapacity | latchSweep
)

// state is everything the protocol can see, and a little more (marked ghost)
// that only the invariants look at.
type state struct {
	// Counters.
	word     [maxCounters]int8
	shard    [maxCounters][maxLoops]int8
	asked    [maxCounters]int8 // the limit somebody asked for last
	limit    [maxCounters]int8 // the limit in force
	strict   uint8             // one bit a counter
	lowering uint8             // ghost: counters whose debt is made, shards not yet swept

	// Home.
	flags   uint8
	latch   uint8
	waiting uint8 // one bit a pool
	home    home

	// Members.
	oper   [maxMembers]uint8 // the operator's word
	down   uint8             // the monitor's, one bit a member
	health [maxMembers]uint8 // 0 well; probing; else in back-off until that time
	since  [maxMembers]uint8 // when its slow ramp began; 0: none

	depth  [maxPools + maxMembers]int8 // who is counted as waiting: by pools, then by members
	record [maxSources]uint8           // the member a source is persisted to plus one

	time uint8 // of the world; loops know the time at which their operation began
	due  uint8 // when time alone changes something, as the home published it; 0 never

	conn [maxConns]conn
	proc [maxProcs]proc
}

// The operator's word about a member.
const (
	enabled  uint8 = iota
	disabled       // takes only who is persisted to it
	offline        // takes nobody
)

// probing is the health of a member that one connection is trying out.
const probing = 255

// Phases of a connection, as its client lives them.
const (
	absent uint8 = iota
	arriving
	parked // has a waiter, or an outcome in the inbox
	up     // has its slot
	ended
)

// States of a waiter. The move out of waiting is one compare-and-swap.
const (
	waiting uint8 = iota + 1
	granted
	expired
	gone
)

// Where the waiter's entry is. Rings and queues need no order of their own
// here: a ring's order is that of its tickets, and so is a queue's.
const (
	nowhere uint8 = iota
	inFresh
	inReturn
	inQueue
)

// conn is a connection with its waiter.
type conn struct {
	phase    uint8
	wait     uint8
	place    uint8
	member   int8  // of the slot it holds, if holds
	ticket   uint8 // place in the order of arrival; ranks, 0 for none
	excluded uint8 // members that refused it, one bit each
	failed   uint8 // dials that failed so far
	holds    bool  // owns a whole path
	dead     bool  // the client left, but an outcome was first
	old      bool  // waited too long
	inbox    bool  // an outcome lies in its loop's inbox
	sticky   uint8 // the member that its entry names plus one; 0: any
	counted  uint8 // the same in its waiter's word: who leaves is taken off that count
	waived   bool  // its entry says that persistence is over for it
	over     bool  // its time at the member it is persisted to is over
	probe    bool  // its slot is that of a probe
	dialling bool  // where it matters: has a slot, the server has not answered

	out   bool  // ghost: had a slot, and is to go back to its place
	born  uint8 // ghost: what ticket was at first
	ahead uint8 // ghost: waiters of its queue pushed before it arrived, still waiting
}

// conn0 is a connection that is over.
var conn0 = conn{phase: ended}

// grip is a path being taken or given back: the first level counters of
// conn's path through member.
type grip struct {
	conn   int8
	member int8 // -1 for none chosen yet
	tried  uint8
	level  uint8
	probe  bool // the path is a probe's
}

// proc is a loop, or the operator who changes limits.
type proc struct {
	grip
	pc      pc
	then    next
	giving  reason
	extra   int8  // tokens of a lease not yet in the shard
	bits    uint8 // to latch by the kick
	strict  bool  // what it read of the counter
	flags   bool  // what it read of the home when the operation began
	owes    bool  // put a token somewhere: must look
	sharded bool  // and into a shard
	saw     bool  // ghost: read on arrival that the pool has waiters
	resume  bool  // used up the budget of a pass, has to go on
	op      uint8 // the operator's next line
	armed   uint8 // when to run the home again; 0 never
	now     uint8 // the time when the operation began
	last    bool  // sweeps, and tries for the last time
	shard   uint8 // ... is at this shard of its counters
	hand    int8  // ... and holds what was in it
	full    bool  // ghost: at some moment since, no whole path was free
	early   bool  // ghost: read the counter to be not strict, then it became so
}

// home is what only the holder of the baton touches.
type home struct {
	grip
	pc       passPC
	bits     uint8
	i        uint8  // ring, queue, shard, counter or pool it is at
	blocked  uint64 // queues whose head got no path, and no capacity came since
	checked  uint64 // queues whose head was seen alive in this pass
	hand     int8   // tokens swept from a shard, or a change of limit
	served   uint8
	serving  bool  // past the first look at the heads
	found    bool  // this round over the rings found something
	any      bool  // some round did
	again    bool  // the sweep is the one after setting a flag
	newly    bool  // set a flag not yet swept for
	clearing bool  // cleared a flag, the drain is the one after
	lost     bool  // the tokens in hand were for a waiter that left
	retry    bool  // ... for a member that its source is not persisted to any more
	to       uint8 // the member to whose queue the head moves plus one; 0: the pool's
	forced   bool  // some token was taken by force, and strictness not looked at since
	sweeps   bool  // the shards are swept after the limits
	clock    uint8 // the latest time a pass was run at
}

func newState(sc *scenario) state {
	var s state
	for i, c := range sc.counters {
		s.word[i], s.limit[i], s.asked[i] = c.limit, c.limit, c.limit
	}
	if sc.clock > 0 {
		s.time = 1
	}
	for i, m := range sc.members {
		if m.down {
			s.down |= 1 << i
		}
	}
	for i := range s.proc {
		s.proc[i].grip = noGrip
	}
	s.home.grip = noGrip
	for i, c := range sc.clients {
		if c.up {
			s.establish(sc, int8(i))
		}
	}
	return s
}

// establish gives conn a slot before anything else happens.
func (s *state) establish(sc *scenario, conn int8) {
	m := int8(sc.virtualOf(conn).members[0])
	for level := range sc.pathLen(conn, m) {
		s.word[sc.counterAt(conn, m, level)]--
	}
	t := s.lastTicket() + 1
	s.conn[conn].phase, s.conn[conn].member, s.conn[conn].holds = up, m, true
	s.conn[conn].ticket, s.conn[conn].born = t, t
	if source := sc.clients[conn].source; source > 0 {
		s.record[source-1] = uint8(m) + 1
	}
}

var noGrip = grip{conn: -1, member: -1}

// renumber makes tickets ranks again after a connection has ended, so that
// states that differ only in what is over are the same state.
func (s *state) renumber() {
	var ticket, born uint16 // sets of the numbers still used
	for i := range s.conn {
		ticket |= 1 << s.conn[i].ticket
		born |= 1 << s.conn[i].born
	}
	for i := range s.conn {
		s.conn[i].ticket = rank(ticket, s.conn[i].ticket)
		s.conn[i].born = rank(born, s.conn[i].born)
	}
}

// rank counts the members of set in 1..n.
func rank(set uint16, n uint8) uint8 {
	r := uint8(0)
	for i := uint8(1); i <= n; i++ {
		if set&(1<<i) != 0 {
			r++
		}
	}
	return r
}

// lastTicket is the newest ticket given out and still of use.
func (s *state) lastTicket() uint8 {
	last := uint8(0)
	for i := range s.conn {
		last = max(last, s.conn[i].ticket, s.conn[i].born)
	}
	return last
}
