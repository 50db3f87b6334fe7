package main

import "math/bits"

// flagNext finds the next flag that is not as it should be.
func (t *turn) flagNext() {
	s, h := t.s, &t.s.home
	needed := t.poolsWaiting()
	switch {
	case needed&^s.waiting != 0:
		h.pc, h.i = setPool, uint8(bits.TrailingZeros8(needed&^s.waiting))
	case h.newly && s.flags&flagWaiting == 0:
		h.pc = setWaiting
	case h.newly:
		t.recheck()
	case s.waiting&^needed != 0:
		h.pc, h.i = clearPool, uint8(bits.TrailingZeros8(s.waiting&^needed))
	case h.clearing && s.waiting == 0 && s.flags&flagWaiting != 0 && t.fault != noClearWaiting:
		h.pc = clearWaiting
	case h.clearing:
		h.any = false
		t.drain()
	case h.forced && t.fault != forceNotSettled:
		h.forced = false
		t.sweep()
	default:
		t.finish()
	}
}

func (t *turn) flag() {
	s, h := t.s, &t.s.home
	switch h.pc {
	case setPool:
		s.waiting |= 1 << h.i
		h.newly = true
	case setWaiting:
		s.flags |= flagWaiting
	case clearPool:
		s.waiting &^= 1 << h.i
		h.clearing = true
	case clearWaiting:
		s.flags &^= flagWaiting
	}
	t.flagNext()
}

// recheck: a token put into a shard before the flag could be seen is found
// by a sweep after it was set.
func (t *turn) recheck() {
	h := &t.s.home
	h.newly = false
	switch t.fault {
	case noRecheck:
		t.flagNext()
	case noSweep:
		h.blocked = 0
		t.serve()
	default:
		h.again = true
		t.sweep()
	}
}

// poolsWaiting is the pools that have somebody in a queue.
func (t *turn) poolsWaiting() uint8 {
	pools := uint8(0)
	for i := range t.clients {
		if t.s.conn[i].place == inQueue {
			pools |= 1 << t.poolOf(int8(i))
		}
	}
	return pools
}
