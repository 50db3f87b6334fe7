package main

// operate runs the next line of the script.
func (t *turn) operate() {
	me, line := t.me(), t.script[t.me().op]
	me.op++
	switch line.do {
	case limitBy:
		t.changeLimit(line)
	case memberUp:
		t.s.down &^= 1 << line.arg
		if t.fault != noKickAfterUp {
			t.kick(latchCapacity)
		}
	case tick:
		t.age()
		t.kick(latchArrived)
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
	t.s.pending[line.arg] += line.by
	if line.by > 0 && t.fault == noKickAfterRaise {
		return
	}
	t.kick(latchCapacity | latchSweep)
}

// changeByHand is the protocol as it was first written: the operator lowers
// a limit by its own stores, while the holder may be clearing strict.
func (t *turn) changeByHand() {
	me := t.me()
	line := t.script[me.op-1]
	switch me.pc {
	case changeFlags:
		t.s.flags |= flagStrict
		me.pc = changeWord
	case changeWord:
		t.s.word[line.arg] += line.by
		t.s.limit[line.arg] += line.by
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
