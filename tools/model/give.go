package main

// reason is why tokens are given back.
type reason uint8

const (
	releasing  reason = iota
	givingUp          // nothing to be had: park
	nextMember        // this member is full: try another
)

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
