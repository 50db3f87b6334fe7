package main

import "math/bits"

// passPC is the access the holder of the baton does next.
type passPC uint8

const (
	drainRing passPC = iota
	checkHead
	swapLimit
	setStrict
	raiseStrictFlag
	addLimit
	swapShard
	addWord
	clearStrict
	dropStrictFlag
	takeWord
	returnWord
	grantHead
	postGrant
	postExpired
	storeExpired
	setPool
	setWaiting
	clearPool
	clearWaiting
	relatch
)

func (t *turn) startPass(latched uint8) {
	blocked := t.s.home.blocked
	t.s.home = home{grip: noGrip, bits: latched, blocked: blocked}
	t.drain()
}

// pass takes the holder's next step.
func (t *turn) pass() {
	s, h := t.s, &t.s.home
	switch h.pc {
	case drainRing:
		t.drainOne()
		h.i++
		t.drainOn()
	case checkHead, postExpired, storeExpired:
		t.checkHead()
	case swapLimit, setStrict, raiseStrictFlag, addLimit:
		t.applyLimit()
	case swapShard, addWord:
		t.sweepOne()
	case clearStrict:
		s.strict &^= 1 << h.i
		t.payDebts()
	case dropStrictFlag:
		s.flags &^= flagStrict
		t.swept()
	case takeWord, returnWord, grantHead, postGrant:
		t.serveStep()
	case setPool, setWaiting, clearPool, clearWaiting:
		t.flag()
	case relatch:
		s.latch |= latchCapacity | latchArrived
		t.me().resume = true
		t.endPass()
	}
}

// endPass leaves nothing of the pass behind but the memo.
func (t *turn) endPass() {
	t.s.home = home{grip: noGrip, blocked: t.s.home.blocked}
	t.me().pc = letGo
}

// drain begins round over the rings.
func (t *turn) drain() {
	h := &t.s.home
	h.pc, h.i, h.found = drainRing, 0, false
	t.drainOn()
}

// drainOn goes on to the next ring of another loop. The holder's own rings
// cost no step: nobody else pushes there.
func (t *turn) drainOn() {
	h := &t.s.home
	for int(h.i) < len(t.rings) && t.rings[h.i].loop == t.id {
		t.drainOne()
		h.i++
	}
	if int(h.i) < len(t.rings) {
		return
	}
	// Who is found in a late ring may have arrived after somebody who was
	// pushed into an early one already passed by: look again, until a whole
	// round finds nothing.
	if h.found && t.fault != drainOnce {
		t.drain()
		return
	}
	t.drained()
}

// drainOne moves what is in a ring to the queues.
func (t *turn) drainOne() {
	r := t.rings[t.s.home.i]
	for i := range t.clients {
		if t.lies(i, r) {
			t.enters(int8(i))
			t.s.home.found, t.s.home.any = true, true
		}
	}
}

func (t *turn) lies(conn int, r ring) bool {
	cl, where := t.clients[conn], t.s.conn[conn].place
	if cl.loop != r.loop {
		return false
	}
	return r.returned && where == inReturn ||
		!r.returned && where == inFresh && cl.virtual == r.virtual
}

func (t *turn) drained() {
	h := &t.s.home
	if h.clearing {
		h.clearing = false
		if h.any {
			t.serve()
		} else {
			t.flagNext()
		}
		return
	}
	if h.bits&latchCapacity != 0 && t.fault != blockedForever {
		h.blocked = 0
	}
	t.beginSweep()
}

// nextHead finds the next head to be checked.
func (t *turn) nextHead() {
	h := &t.s.home
	if !h.serving {
		for i := range int8(len(t.clients)) {
			if t.isHead(i) && h.checked&queueBit(t.queueOf(i)) == 0 {
				t.toCheck(i)
				return
			}
		}
		h.serving = true
	}
	t.serve()
}

func (t *turn) toCheck(conn int8) {
	h := &t.s.home
	h.pc, h.conn = checkHead, conn
}

// checkHead drops a dead head and expires an old one.
func (t *turn) checkHead() {
	h := &t.s.home
	c := &t.s.conn[h.conn]
	switch {
	case h.pc == postExpired:
		c.inbox = true
		t.drop(h.conn)
	case h.pc == storeExpired:
		t.settle(h.conn, expired)
		h.pc = postExpired
		return
	case c.wait == gone:
		t.drop(h.conn)
	case c.old && t.fault == expireWithoutCAS:
		h.pc = storeExpired
		return
	case c.old:
		t.settle(h.conn, expired)
		h.pc = postExpired
		return
	default:
		h.checked |= queueBit(t.queueOf(h.conn))
	}
	t.nextHead()
}

// drop takes a waiter off its queue.
func (t *turn) drop(conn int8) {
	t.takeOff(conn)
	c := &t.s.conn[conn]
	if c.phase == ended {
		t.end(conn)
	}
}

// beginSweep: a debt may be paid by what came back to the word, so while
// there is one, every pass looks.
func (t *turn) beginSweep() {
	h := &t.s.home
	sweep := h.bits&latchSweep != 0 || t.s.flags&flagStrict != 0
	if t.fault == sweepOnceOnly && t.s.flags&flagWaiting != 0 {
		sweep = false
	}
	h.i = 0
	if sweep {
		t.nextLimit()
	} else {
		t.nextHead()
	}
}

// nextLimit finds the next counter whose limit may have been changed.
func (t *turn) nextLimit() {
	h := &t.s.home
	for int(h.i) < len(t.counters) {
		if t.counters[h.i].changes && t.fault != lowerWithoutBaton {
			h.pc = swapLimit
			return
		}
		h.i++
	}
	t.sweep()
}

// applyLimit makes a change of the limit. A debt is made only once everybody
// can see that the counter is strict, and the sweep after it leaves no shard
// to go on with.
func (t *turn) applyLimit() {
	s, h := t.s, &t.s.home
	switch h.pc {
	case swapLimit:
		h.hand, s.pending[h.i] = s.pending[h.i], 0
		switch {
		case h.hand < 0:
			h.pc = setStrict
			return
		case h.hand > 0:
			h.pc = addLimit
			return
		}
	case setStrict:
		s.strict |= 1 << h.i
		h.pc = raiseStrictFlag
		return
	case raiseStrictFlag:
		s.flags |= flagStrict
		h.pc = addLimit
		return
	case addLimit:
		s.word[h.i] += h.hand
		s.limit[h.i] += h.hand
		if h.hand < 0 {
			s.lowering |= 1 << h.i
		}
		h.hand = 0
	}
	h.i++
	t.nextLimit()
}

// sweep begins to move all shards into the words.
func (t *turn) sweep() { t.s.home.i = 0; t.s.home.pc = swapShard }

// sweepOne empties a shard, then adds what was in it to the word.
func (t *turn) sweepOne() {
	s, h := t.s, &t.s.home
	c, loop := int(h.i)/t.loops, int(h.i)%t.loops
	if h.pc == swapShard && s.shard[c][loop] > 0 {
		h.hand, s.shard[c][loop] = s.shard[c][loop], 0
		h.pc = addWord
		return
	}
	s.word[c] += h.hand
	h.hand = 0
	h.pc = swapShard
	h.i++
	if int(h.i) == len(t.counters)*t.loops {
		if t.fault != lowerWithoutBaton {
			s.lowering = 0
		}
		h.i = 0
		t.payDebts()
	}
}

// payDebts ends strictness where the debt is paid. Only the holder lowers a
// limit, so a word that is not negative stays so.
func (t *turn) payDebts() {
	s, h := t.s, &t.s.home
	for c := range t.counters {
		if t.isStrict(c) && s.word[c] >= 0 {
			h.pc, h.i = clearStrict, uint8(c)
			return
		}
	}
	if s.flags&flagStrict != 0 && s.strict == 0 {
		h.pc = dropStrictFlag
		return
	}
	t.swept()
}

func (t *turn) swept() {
	h := &t.s.home
	if h.again {
		h.again = false
		h.blocked = 0
	}
	t.nextHead()
}

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
	default:
		t.endPass()
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
