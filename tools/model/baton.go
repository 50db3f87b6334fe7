package main

// kick latches bits and sees to it that somebody acts on them: this process,
// or the one that holds the baton and will look again.
func (t *turn) kick(bits uint8) {
	t.me().bits = bits
	t.me().pc = kickLatch
}

func (t *turn) latchBits() {
	me := t.me()
	t.s.latch |= me.bits
	me.bits = 0
	me.pc = kickTry
}

// tryBaton is one step: load, then compare-and-swap of what was loaded. One
// that fails has done nothing, so only the load that counts is a step.
func (t *turn) tryBaton() {
	s := t.s
	if s.latch&held != 0 || s.latch&latches == 0 {
		t.goOn()
		return
	}
	bits := s.latch
	s.latch = held
	t.me().resume = false
	t.me().pc = inPass
	t.startPass(bits)
}

// dropBaton lets go, then looks at the latch again: a kick that came while
// the baton was held has left its bits there and gone away.
func (t *turn) dropBaton() {
	t.s.latch &^= held
	if t.fault == letGoForgetsLatch {
		t.s.latch = 0
	}
	if t.me().resume || t.fault == noSecondLook {
		t.goOn()
		return
	}
	t.me().pc = kickTry
}
