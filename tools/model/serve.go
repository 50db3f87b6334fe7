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
		if oldest < 0 || c.ticket < t.s.conn[oldest].ticket {
			oldest = i
		}
	}
	return oldest
}

// reach goes on with taking the head's path.
func (t *turn) reach() {
	h := &t.s.home
	switch t.demand(&h.grip) {
	case whole:
		h.pc = grantHead
	case hopeless:
		t.retreat()
	case token:
		h.pc = takeWord
	}
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
	case !t.isDown(&h.grip) && t.s.word[c] > 0:
		t.s.word[c]--
		h.level++
		t.checkTaken(c)
		t.reach()
	default:
		t.retreat()
	}
}

// retreat puts tokens back into the words: all of them, or the member's if
// there is another to try. Nobody needs to be told: the holder tries on.
func (t *turn) retreat() {
	h := &t.s.home
	floor := uint8(0)
	if h.member >= 0 && !h.lost {
		floor = uint8(len(t.virtualOf(h.conn).prefix))
	}
	switch {
	case h.level > floor:
		h.pc = returnWord
	case h.lost:
		h.lost = false
		t.drop(h.conn)
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
		t.retreat()
		return
	}
	t.checkOrder(h.conn)
	t.settle(h.conn, granted)
	c.member, c.holds = h.member, true
	t.takeOff(h.conn)
	h.level = 0
	h.pc = postGrant
}
