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
	readWaiting
	makeRecord
	askMember
	claimMember
	unprobe
	ownSwap
	ownAdd
	clearDue
)

// next is what follows a kick, or a look that found nothing to kick for.
type next uint8

const (
	thenIdle next = iota
	thenPark
	thenKick       // a failed dial's last kick
	thenPushed     // fault: the kick came before the push
	thenPushReturn // fault: the release came before the push
	thenTakeAgain  // the last try of a pool that does not queue
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
		t.putBack()
	case kickLatch:
		t.latchBits()
	case kickTry:
		t.tryBaton()
	case inPass:
		t.pass()
	case letGo:
		t.dropBaton()
	default:
		t.stepOfMember()
	}
}

// stepOfMember takes the steps there are only where members change, sources
// have records, pools don't queue, or time passes.
func (t *turn) stepOfMember() {
	me := t.me()
	switch me.pc {
	case readWaiting:
		t.readWaiting()
	case makeRecord:
		t.recordLoop()
	case askMember:
		t.ask()
	case claimMember:
		t.claimLoop()
	case unprobe:
		t.unprobed()
	case ownSwap, ownAdd:
		t.sweepOwn()
	case clearDue:
		t.dueCleared()
	default:
		t.changeByHand()
	}
}

func (t *turn) isStrict(c int) bool { return t.s.strict&(1<<c) != 0 }

// above is the counter that g has to take next.
func (t *turn) above(g *grip) int { return t.counterAt(g.conn, g.member, g.level) }

// top is the counter that g took last.
func (t *turn) top(g *grip) int { return t.counterAt(g.conn, g.member, g.level-1) }

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
	case thenTakeAgain:
		t.takeAgain()
	}
}

// rest: the operation is over.
func (t *turn) rest() {
	me := t.me()
	*me = proc{grip: noGrip, resume: me.resume, op: me.op, armed: me.armed}
}
