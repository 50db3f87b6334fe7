package main

// turn is one atomic step being taken: the state it changes and whose turn
// it is. A step does one access to memory that others can touch, and all the
// private work up to the next one.
type turn struct {
	*scenario
	fault  fault
	s      *state
	id     int
	broken string // the first invariant found broken
}

func (t *turn) me() *proc { return &t.s.proc[t.id] }

// pc is where a loop is in its operation: the access it does next.
type pc uint8

const (
	idle pc = iota
	flagsToTake
	takeStrict
	takeToken
	leaseAdd
	flagsToGive
	giveStrict
	giveDeposit
	lookFlags
	pushFresh
	pushReturn
	kickLatch
	kickTry
	inPass
	letGo
	changeStrict
	changeFlags
	changeWord
	changeSweep
)

// next is what follows a kick, or a look that found nothing to kick for.
type next uint8

const (
	thenIdle next = iota
	thenPark
	thenKick       // a failed dial's last kick
	thenPushed     // fault: the kick came before the push
	thenPushReturn // fault: the release came before the push
)

// reason is why tokens are given back.
type reason uint8

const (
	releasing  reason = iota
	givingUp          // nothing to be had: park
	nextMember        // this member is full: try another
)

// step takes the next step of the process whose turn it is.
func (t *turn) step() {
	me := t.me()
	switch me.pc {
	case flagsToTake:
		me.flags = t.s.flags != 0
		t.advance()
	case takeStrict:
		me.strict = t.isStrict(t.above(&me.grip))
		me.pc = takeToken
	case takeToken:
		t.take()
	case leaseAdd:
		t.addLease()
	case flagsToGive:
		me.flags = t.s.flags != 0
		t.giveTop()
	case giveStrict:
		me.strict = t.isStrict(t.top(&me.grip))
		me.pc = giveDeposit
	case giveDeposit:
		t.deposit()
	case lookFlags:
		t.look()
	case pushFresh:
		t.push()
	case pushReturn:
		t.pushReturned()
	case kickLatch:
		t.s.latch |= me.bits
		me.bits = 0
		me.pc = kickTry
	case kickTry:
		t.tryBaton()
	case inPass:
		t.pass()
	case letGo:
		t.dropBaton()
	default:
		t.changeByHand()
	}
}

func (t *turn) isStrict(c int) bool { return t.s.strict&(1<<c) != 0 }

// above is the counter that g has to take next.
func (t *turn) above(g *grip) int { return t.counterAt(g.conn, g.member, g.level) }

// top is the counter that g took last.
func (t *turn) top(g *grip) int { return t.counterAt(g.conn, g.member, g.level-1) }

// arrive: whoever sees that the pool has waiters joins them.
func (t *turn) arrive(conn int8) {
	s, c := t.s, &t.s.conn[conn]
	c.ticket = s.lastTicket() + 1
	c.born = c.ticket
	c.phase = arriving
	c.ahead = t.pushedBefore(conn)

	me := t.me()
	me.grip = grip{conn: conn, member: -1}
	me.saw = s.waiting&(1<<t.poolOf(conn)) != 0
	if me.saw && t.fault != newcomerOvertakes {
		t.park()
		return
	}
	me.pc = flagsToTake
}

// demand is what a grip needs before it is a whole path.
type demand uint8

const (
	whole    demand = iota // nothing
	token                  // the counter above
	hopeless               // a member, and there is none left to try
)

// demand chooses the next member when it gets to that.
func (t *turn) demand(g *grip) demand {
	prefix := len(t.virtualOf(g.conn).prefix)
	if int(g.level) < prefix {
		return token
	}
	if g.member < 0 {
		g.member = t.candidate(g)
	}
	switch {
	case g.member < 0:
		return hopeless
	case g.level < t.pathLen(g.conn, g.member):
		return token
	}
	return whole
}

// candidate is the member after the g.tried first ones, -1 for none.
func (t *turn) candidate(g *grip) int8 {
	if sticky := t.sticky(g.conn); sticky > 0 {
		if g.tried == 0 {
			return int8(sticky - 1)
		}
		return -1
	}
	members := t.virtualOf(g.conn).members
	for int(g.tried) < len(members) {
		m := members[g.tried]
		if t.s.conn[g.conn].excluded&(1<<m) == 0 {
			return int8(m)
		}
		g.tried++
	}
	return -1
}

// advance goes on with taking the path.
func (t *turn) advance() {
	me := t.me()
	switch t.demand(&me.grip) {
	case whole:
		t.proceed()
	case hopeless:
		t.giveBack(givingUp)
	case token:
		me.pc = takeToken
		if t.counters[t.above(&me.grip)].changes {
			me.pc = takeStrict
		}
	}
}

// take is one step: an empty own shard stays empty while only its own loop
// adds to it, so looking at it and then at the word is looking at the word.
func (t *turn) take() {
	me := t.me()
	if t.isDown(&me.grip) {
		t.giveBack(nextMember)
		return
	}
	c := t.above(&me.grip)
	extra, ok := t.takeOne(c, me.strict && t.fault != shardWhileStrict)
	me.strict = false
	if !ok {
		if me.member < 0 {
			t.giveBack(givingUp)
		} else {
			t.giveBack(nextMember)
		}
		return
	}
	me.level++
	t.checkTaken(c)
	if extra > 0 {
		me.extra = extra
		me.pc = leaseAdd
		return
	}
	t.advance()
}

// isDown: members only come up here, so that it is read together with the
// first counter changes nothing.
func (t *turn) isDown(g *grip) bool {
	return g.member >= 0 && t.s.down&(1<<g.member) != 0
}

// takeOne takes a token of c for the loop, and extra ones as a lease while
// nobody waits.
func (t *turn) takeOne(c int, strict bool) (extra int8, ok bool) {
	word, shard, lease := &t.s.word[c], &t.s.shard[c][t.id], t.counters[c].lease
	switch {
	case !strict && *shard > 0:
		*shard--
		return 0, true
	case !strict && !t.me().flags && *word > lease:
		*word -= 1 + lease
		return lease, true
	case *word > 0:
		*word--
		return 0, true
	}
	return 0, false
}

func (t *turn) addLease() {
	me := t.me()
	if t.fault != leaseForgotten {
		t.s.shard[t.top(&me.grip)][t.id] += me.extra
	}
	me.extra = 0
	if t.fault != noLookAfterLease {
		me.owes, me.sharded = true, true
	}
	t.advance()
}

// proceed: the path is whole and belongs to the connection.
func (t *turn) proceed() {
	me := t.me()
	if me.saw {
		t.fail("connection %d saw that the pool has waiters, and was let in before them", me.conn)
	}
	t.own(me.grip)
	me.grip = noGrip
	t.lookOr(me.owes)
}

// own hands a whole path over to its connection.
func (t *turn) own(g grip) {
	c := &t.s.conn[g.conn]
	c.phase, c.member, c.holds = up, g.member, true
}

// giveBack gives tokens back in reverse order: of the member only when
// another is to be tried, else all.
func (t *turn) giveBack(why reason) {
	me := t.me()
	me.giving = why
	if me.level == t.floor() {
		t.gaveBack()
		return
	}
	t.giveTop()
}

// floor is the level at which giving back ends.
func (t *turn) floor() uint8 {
	if t.me().giving == nextMember {
		return uint8(len(t.virtualOf(t.me().conn).prefix))
	}
	return 0
}

// giveTop begins to give back the token taken last: to the word if somebody
// waited when the operation began, or if the counter is strict.
func (t *turn) giveTop() {
	me := t.me()
	me.strict = false
	me.pc = giveDeposit
	if !me.flags && t.counters[t.top(&me.grip)].changes {
		me.pc = giveStrict
	}
}

func (t *turn) deposit() {
	me := t.me()
	c := t.top(&me.grip)
	if me.strict || me.flags {
		t.s.word[c]++
	} else {
		t.s.shard[c][t.id]++
		me.sharded = true
	}
	me.strict = false
	me.level--
	if t.fault == rollBackForgets && me.giving != releasing && me.level > 0 {
		me.level-- // and its token is nowhere
	}
	if !(me.giving == nextMember && t.fault == noLookAfterDetour) {
		me.owes = true
	}
	if me.level > t.floor() {
		t.giveTop()
		return
	}
	t.gaveBack()
}

// gaveBack: all that was to be given back is.
func (t *turn) gaveBack() {
	me := t.me()
	switch me.giving {
	case nextMember:
		me.giving = releasing
		me.member = -1
		me.tried++
		t.advance()
	case givingUp:
		me.giving = releasing
		me.then = thenPark
		t.lookOr(me.owes)
	case releasing:
		t.lookOr(t.fault != noKickOnRelease)
	}
}

// lookOr looks at the flags if it must, else goes on at once.
func (t *turn) lookOr(must bool) {
	t.me().owes = false
	if must {
		t.me().pc = lookFlags
		return
	}
	t.goOn()
}

// look comes after every deposit of the operation. Who sets a flag sweeps
// after it; so either that sweep finds the token, or this finds the flag.
func (t *turn) look() {
	me := t.me()
	seen := t.s.flags != 0
	if t.fault == lookBeforeDeposit {
		seen = me.flags
	}
	sharded := me.sharded && t.fault != sweepNotAsked
	me.flags, me.sharded = false, false
	switch {
	case seen && sharded:
		t.kick(latchCapacity | latchSweep)
	case seen:
		t.kick(latchCapacity)
	default:
		t.goOn()
	}
}

// park pushes the waiter, then kicks.
func (t *turn) park() {
	me := t.me()
	me.grip = grip{conn: me.conn, member: -1}
	me.then = thenIdle
	me.flags = false
	if t.fault == kickBeforePush {
		me.then = thenPushed
		t.kick(latchArrived)
		return
	}
	me.pc = pushFresh
}

func (t *turn) push() {
	me := t.me()
	t.enqueue(me.conn, inFresh)
	me.conn = -1
	if t.fault == kickBeforePush || t.fault == noKickAfterPark {
		t.rest()
		return
	}
	t.kick(latchArrived)
}

func (t *turn) enqueue(conn int8, where uint8) {
	c := &t.s.conn[conn]
	c.phase, c.wait, c.place = parked, waiting, where
}

// closes: the client of an established connection is done with it.
func (t *turn) closes(conn int8) {
	t.letGoOf(conn)
	t.step()
}

// letGoOf ends conn; its path is now the loop's to give back.
func (t *turn) letGoOf(conn int8) {
	t.seize(conn)
	t.end(conn)
	t.me().pc = flagsToGive
}

// seize takes the path over from its connection.
func (t *turn) seize(conn int8) {
	c, me := &t.s.conn[conn], t.me()
	me.grip = grip{conn: conn, member: c.member, level: t.pathLen(conn, c.member)}
	c.holds, c.member = false, 0
}

// leave: the client closes while it waits.
func (t *turn) leave(conn int8) {
	c := &t.s.conn[conn]
	if c.wait != waiting {
		c.dead = true // an outcome is, or will be, in the inbox
		return
	}
	t.settle(conn, gone)
	c.phase = ended
	if t.fault != noKickAfterLeave {
		t.kick(latchArrived)
	}
}

// outcome takes what the home decided out of the inbox.
func (t *turn) outcome(conn int8) {
	c := &t.s.conn[conn]
	c.inbox = false
	switch {
	case c.phase == ended:
		t.fail("connection %d left, and got an outcome all the same", conn)
	case c.wait == expired:
		t.end(conn)
	case c.dead && t.fault == deadGrantKeeps:
		c.holds = false
		t.end(conn)
	case c.dead:
		t.letGoOf(conn)
	default:
		c.wait, c.phase = 0, up
	}
}

// dialFails: back into the queue at the old ticket first, so that the path
// it then gives up can be its own.
func (t *turn) dialFails(conn int8) {
	t.seize(conn)
	t.s.conn[conn].failed++
	if t.fault == failedDialNoKick {
		t.s.conn[conn].phase = arriving
		t.me().then = thenPushReturn
		t.me().pc = flagsToGive
		t.step()
		return
	}
	t.pushReturned()
}

func (t *turn) pushReturned() {
	me := t.me()
	c := &t.s.conn[me.conn]
	t.enqueue(me.conn, inReturn)
	if t.excludes {
		c.excluded |= 1 << me.member
		c.ahead = 0 // of another queue
	}
	if t.fault == requeueNewTicket {
		c.ticket = t.s.lastTicket() + 1
	}
	if t.fault == failedDialNoKick {
		t.rest()
		return
	}
	me.then = thenKick
	me.pc = flagsToGive
}

// goOn follows an operation's look or kick.
func (t *turn) goOn() {
	me := t.me()
	then := me.then
	me.then = thenIdle
	switch then {
	case thenIdle:
		t.rest()
	case thenPark:
		t.park()
	case thenKick:
		t.kick(latchArrived | latchCapacity)
	case thenPushed:
		me.pc = pushFresh
	case thenPushReturn:
		me.pc = pushReturn
	}
}

// rest: the operation is over.
func (t *turn) rest() {
	me := t.me()
	*me = proc{grip: noGrip, resume: me.resume, op: me.op}
}

// end forgets all of a connection but that it was there.
func (t *turn) end(conn int8) {
	t.s.conn[conn] = conn0
	t.s.renumber()
}
