package main

// Slow ramp: a member that comes up at time 0 of T has at time t a limit of
// max(1, ceil(limit * t / T)). The holder of the baton puts it into force at
// the start of a pass, and publishes when the next step is due.

// rampLimit is what a ramp makes of limit at time t of it.
func (sc *scenario) rampLimit(limit int8, t uint8) int8 {
	if t >= sc.ramp {
		return limit
	}
	return min(limit, max(1, (limit*int8(t)+int8(sc.ramp)-1)/int8(sc.ramp)))
}

// ramping is the member on its ramp whose own counter is c, -1 for none.
func (t *turn) ramping(c int) int {
	for m := range t.members {
		if t.s.since[m] > 0 && t.members[m].counters[0] == c {
			return m
		}
	}
	return -1
}

func (t *turn) anyRamp() bool { return t.s.since != [maxMembers]uint8{} }

// target is the limit of c that is to be in force at the given time.
func (t *turn) target(c int, at uint8) int8 {
	if m := t.ramping(c); m >= 0 {
		return t.rampLimit(t.s.asked[c], at-t.s.since[m])
	}
	return t.s.asked[c]
}

// tickPass sets the home's clock. Loops know the time at which their turn
// began, so that of a pass can be older than that of the one before.
func (t *turn) tickPass() {
	h := &t.s.home
	h.clock = max(h.clock, t.me().now)
	if t.fault == clockGoesBack {
		h.clock = t.me().now
	}
}

// publish arms the process that holds the baton for the next moment at which
// time alone changes something, unless another one is armed for that already.
func (t *turn) publish() {
	s := t.s
	due := t.nextDue()
	if due != s.due {
		s.due = due
		t.runner().armed = due
	}
	t.endPass()
}

// runner is the loop that runs the pass: the first one, while all stand still.
func (t *turn) runner() *proc {
	if t.frozen(t.s) {
		return &t.s.proc[0]
	}
	return t.me()
}

// nextDue is the next step of a ramp, or the end of a pause that somebody waits
// for; 0 for never.
func (t *turn) nextDue() uint8 {
	due := uint8(0)
	for m := range t.members {
		if at := t.nextStep(m); at > 0 && t.fault != rampNotArmed {
			due = sooner(due, at)
		}
		if h := t.s.health[m]; h > t.me().now && h != probing && t.poolsWaiting() != 0 && t.fault != pauseNotArmed {
			due = sooner(due, h)
		}
	}
	return due
}

func (t *turn) nextStep(m int) uint8 {
	since, c := t.s.since[m], t.members[m].counters[0]
	if since == 0 {
		return 0
	}
	now := t.s.home.clock
	for at := now + 1; at <= since+t.ramp; at++ {
		if t.target(c, at) != t.target(c, now) {
			return at
		}
	}
	return 0
}

func sooner(a, b uint8) uint8 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// endRamps forgets the ramps that are over.
func (t *turn) endRamps() {
	for m := range t.members {
		if t.s.since[m] > 0 && t.nextStep(m) == 0 {
			t.s.since[m] = 0
		}
	}
}

// runs: what a process was armed for is due. If another one has a later time
// armed, there is nothing to do.
func (t *turn) runs() {
	me := t.me()
	me.armed = 0
	if t.s.due > me.now || t.fault == noKickWhenDue {
		t.rest()
		return
	}
	me.pc = clearDue
}

func (t *turn) dueCleared() {
	t.s.due = 0
	t.kick(latchArrived | latchCapacity)
}

// dueLater says whether somebody is armed for a time to come.
func (s *state) dueLater() bool {
	for i := range s.proc {
		if s.proc[i].armed > s.time {
			return true
		}
	}
	return false
}

// changed: the holder finds that a limit is to be changed. Who was blocked may
// go now, whatever the pass was run for.
func (t *turn) changed() {
	h := &t.s.home
	if t.ramping(int(h.i)) < 0 {
		return
	}
	h.sweeps = true
	if t.fault != stepLeavesBlocked {
		h.blocked = 0
	}
}

// isDue: time has changed something since the home published when it would.
// Whatever the pass is run for, those who were blocked are to be tried again;
// and nobody will be armed for that moment any more.
func (t *turn) isDue() bool {
	if t.fault == dueLeavesBlocked || t.fault == stepLeavesBlocked {
		return false
	}
	return t.s.due > 0 && t.s.due <= t.me().now
}
