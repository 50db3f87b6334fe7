package main

// serve goes on to the oldest head that may get a path.
func (t *turn) serve() {
	h := &t.s.home
	h.grip = noGrip
	conn := t.oldestHead()
	switch {
	case conn < 0:
		t.flagNext()
	case t.budget > 0 && h.served == t.budget:
		h.pc = relatch
	case h.checked&queueBit(t.queueOf(conn)) == 0:
		t.toCheck(conn)
	default:
		h.grip = grip{conn: conn, member: -1}
		t.begin(conn)
	}
}

// begin says what to do with the head whose turn it is.
func (t *turn) begin(conn int8) {
	h := &t.s.home
	sticky := t.s.conn[conn].sticky
	switch {
	case sticky > 0 && !t.s.serves(int8(sticky)-1):
		t.toMove(conn, 0)
	case t.lookedUp(conn):
		h.pc = lookUpHead
	default:
		t.reach()
	}
}

// oldestHead is who has the oldest ticket in the queues not blocked, -1 if
// there is nobody.
func (t *turn) oldestHead() int8 {
	oldest := int8(-1)
	for i := range int8(len(t.clients)) {
		c := &t.s.conn[i]
		if c.place != inQueue || t.s.home.blocked&queueBit(t.queueOf(i)) != 0 {
			continue
		}
		if oldest < 0 || t.goesBefore(i, oldest) {
			oldest = i
		}
	}
	return oldest
}

func (t *turn) goesBefore(a, b int8) bool {
	x, y := &t.s.conn[a], &t.s.conn[b]
	if t.fault == stickyFirst && (x.sticky > 0) != (y.sticky > 0) {
		return x.sticky > 0
	}
	return x.ticket < y.ticket
}

// reach goes on with taking the head's path.
func (t *turn) reach() {
	h := &t.s.home
	switch t.demand(&h.grip) {
	case whole:
		if t.backoff {
			h.pc = claimHead
			return
		}
		t.persistHome()
	case hopeless:
		t.retreat()
	case token:
		h.pc = takeWord
		if t.asks(&h.grip) {
			h.pc = askHead
		}
	}
}

// askHome is the look at the member's state, where that is a step of its own.
func (t *turn) askHome() {
	h := &t.s.home
	if !t.eligible(&h.grip, t.me().now) {
		t.retreat()
		return
	}
	h.pc = takeWord
}

func (t *turn) serveStep() {
	h := &t.s.home
	switch h.pc {
	case takeWord:
		t.takeWord()
	case returnWord:
		t.s.word[t.top(&h.grip)]++
		h.level--
		t.retreat()
	case grantHead:
		t.grant()
	case postGrant:
		t.s.conn[h.conn].inbox = true
		h.served++
		t.serve()
	}
}

// takeWord takes from the word only: shards are swept there first.
func (t *turn) takeWord() {
	h := &t.s.home
	c := t.above(&h.grip)
	switch {
	case t.fault == grantWithoutTaking:
		h.level++
		t.reach()
	case t.isDown(&h.grip) && t.fault != downGranted:
		t.retreat()
	case t.s.word[c] > 0:
		t.s.word[c]--
		h.level++
		t.checkTaken(c)
		t.reach()
	case t.mayForce(&h.grip):
		h.pc = forceStrict
		if t.fault == forcesUnseen {
			h.pc = forceWord
		}
	default:
		t.retreat()
	}
}

// retreat puts tokens back into the words: all of them, or the member's if
// there is another to try. Nobody needs to be told: the holder tries on.
func (t *turn) retreat() {
	h := &t.s.home
	floor := uint8(0)
	if h.member >= 0 && !h.lost && !h.retry {
		floor = uint8(len(t.virtualOf(h.conn).prefix))
	}
	switch {
	case h.level > floor:
		h.pc = returnWord
	case h.lost:
		h.lost = false
		t.drop(h.conn)
		t.serve()
	case h.retry:
		h.retry = false
		t.serve()
	case h.member >= 0:
		h.member = -1
		h.tried++
		t.reach()
	default:
		h.blocked |= queueBit(t.queueOf(h.conn))
		t.serve()
	}
}

// grant: if the waiter left first, its path goes to the next.
func (t *turn) grant() {
	h := &t.s.home
	c := &t.s.conn[h.conn]
	if c.wait != waiting && t.fault != grantWithoutCAS {
		if t.fault == lostGrantKeeps {
			h.level = 0
		}
		h.lost = true
		t.loses()
		return
	}
	t.checkOrder(h.conn)
	t.checkGrant(h.conn, h.member)
	t.settle(h.conn, granted)
	c.member, c.holds, c.probe = h.member, true, h.probe
	t.takeOff(h.conn)
	h.level = 0
	h.pc = postGrant
}

// loses gives back the path of a waiter that left.
func (t *turn) loses() {
	if t.s.home.probe {
		t.s.home.pc = unprobeHead
		return
	}
	t.retreat()
}
