package main

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
	askHead
	claimHead
	unprobeHead
	lookUpHead
	recordHead
	moveHead
	forceStrict
	forceFlag
	forceWord
	publishDue
)

func (t *turn) startPass(latched uint8) {
	h := &t.s.home
	*h = home{grip: noGrip, bits: latched, blocked: h.blocked, clock: h.clock}
	if t.clock > 0 {
		t.tickPass()
	}
	if t.isDue() {
		h.bits |= latchCapacity
	}
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
		t.finish()
	case publishDue:
		t.publish()
	default:
		t.passMember()
	}
}

// passMember takes the steps there are only where members change or sources
// have records.
func (t *turn) passMember() {
	switch t.s.home.pc {
	case askHead:
		t.askHome()
	case claimHead:
		t.claimHome()
	case unprobeHead:
		t.endProbe(&t.s.home.grip)
		t.retreat()
	case lookUpHead:
		t.lookUp()
	case recordHead:
		t.recordHome()
	case moveHead:
		t.moveStep()
	case forceStrict, forceFlag, forceWord:
		t.force()
	}
}

// finish publishes what is due, where there is time.
func (t *turn) finish() {
	if t.clock > 0 {
		t.s.home.pc = publishDue
		return
	}
	t.endPass()
}

// endPass leaves nothing of the pass behind but the memo and the clock.
func (t *turn) endPass() {
	h := &t.s.home
	*h = home{grip: noGrip, blocked: h.blocked, clock: h.clock}
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
	case c.over && c.sticky > 0:
		t.toMove(h.conn, 0)
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
