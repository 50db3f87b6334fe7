package main

// operate runs the next line of the script.
func (t *turn) operate() {
	me, line := t.me(), t.script[t.me().op]
	me.op++
	switch line.do {
	case limitBy:
		t.changeLimit(line)
	case memberUp, memberDown, setState:
		t.changeMember(line)
	case tick:
		t.age()
		t.kick(latchArrived)
	case overstay:
		t.overstay()
		t.kick(latchArrived | latchCapacity)
	}
}

// changeMember tells a member's state. Unless the scenario is about any
// moment, all loops stand still until the pass after it is over. One that
// comes up begins its ramp.
func (t *turn) changeMember(line change) {
	s, m := t.s, line.arg
	was := s.isUp(int8(m))
	switch line.do {
	case memberUp:
		s.down &^= 1 << m
	case memberDown:
		s.down |= 1 << m
	case setState:
		s.oper[m] = uint8(line.by)
	}
	up := s.isUp(int8(m))
	switch {
	case up && !was && t.fault == rampOutsideBaton:
		s.since[m] = s.time
		s.strict |= 1 << t.members[m].counters[0]
		t.me().pc = changeFlags
		return
	case up && !was && t.ramp > 0:
		s.since[m] = s.time
	}
	if line.do == memberUp {
		s.health[m] = 0
	}
	t.tellHome(up, was)
}

func (t *turn) tellHome(up, was bool) {
	switch {
	case up && !was && t.fault == noKickAfterUp, !up && t.fault == noKickAfterDown:
		t.rest()
	case t.anyMoment:
		t.kick(latches)
	case t.fault == rampStartsLate:
		t.s.latch |= latches
		t.s.proc[0].resume = true // the loops go on, and one of them runs the pass
	default:
		t.renew()
		t.kick(latches)
	}
}

// renew: homes are made anew when members change. They know nothing of what
// was blocked, and nobody is armed for them.
func (t *turn) renew() {
	t.s.home.blocked, t.s.due = 0, 0
	for i := range t.s.proc {
		t.s.proc[i].armed, t.s.proc[i].resume = 0, false
	}
}

// overstay: the time at the member they are persisted to is over for all who
// wait now, and may not for ever.
func (t *turn) overstay() {
	for i, c := range t.clients {
		if c.stays && t.s.conn[i].wait == waiting {
			t.s.conn[i].over = true
		}
	}
}

// changeLimit leaves the change to the holder of the baton, so that strict
// and the flags have one writer.
func (t *turn) changeLimit(line change) {
	if t.fault == lowerWithoutBaton {
		t.me().pc = changeWord
		if line.by < 0 {
			t.s.strict |= 1 << line.arg
			t.me().pc = changeFlags
		}
		return
	}
	t.s.asked[line.arg] += line.by
	if line.by > 0 && t.fault == noKickAfterRaise {
		return
	}
	if !t.anyTime(line) {
		t.renew()
	}
	t.kick(latchCapacity | latchSweep)
}

// changeByHand is the protocol as it was first written: the operator lowers
// a limit by its own stores, while the holder may be clearing strict.
func (t *turn) changeByHand() {
	me := t.me()
	line := t.byHand(t.script[me.op-1])
	switch me.pc {
	case changeFlags:
		t.s.flags |= flagStrict
		me.pc = changeWord
	case changeWord:
		t.s.word[line.arg] += line.by
		t.s.limit[line.arg] += line.by
		if t.fault == lowerWithoutBaton {
			t.s.asked[line.arg] += line.by
		}
		if line.by > 0 {
			t.kick(latchCapacity)
			return
		}
		t.s.lowering |= 1 << line.arg
		me.pc = changeSweep
	case changeSweep:
		t.sweepByHand(line.arg)
	}
}

// byHand is the change of a limit that a line comes to.
func (t *turn) byHand(line change) change {
	if line.do == limitBy {
		return line
	}
	c := t.members[line.arg].counters[0]
	return change{do: limitBy, arg: c, by: t.target(c, t.s.time) - t.s.limit[c]}
}

// sweepByHand moves one shard a step; me.level counts them.
func (t *turn) sweepByHand(c int) {
	me := t.me()
	t.s.word[c] += t.s.shard[c][me.level]
	t.s.shard[c][me.level] = 0
	me.level++
	if int(me.level) == t.loops {
		me.level = 0
		t.s.lowering &^= 1 << c
		t.kick(latchCapacity | latchSweep)
	}
}

// age makes everybody who waits now, and may, too old.
func (t *turn) age() {
	for i, c := range t.clients {
		if c.ages && t.s.conn[i].wait == waiting {
			t.s.conn[i].old = true
		}
	}
}
