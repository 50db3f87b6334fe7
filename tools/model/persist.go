package main

// recording says whether conn makes a record of the member it gets.
func (t *turn) recording(conn int8) bool {
	return t.clients[conn].source > 0 && t.s.conn[conn].sticky == 0
}

// lookedUp says whether a record of conn's source sends it to its member. It
// does not if it was sent away from there, or refused.
func (t *turn) lookedUp(conn int8) bool {
	return t.recording(conn) && (!t.s.conn[conn].waived || t.fault == waivedLookedUp)
}

// recorded is the member of conn's source plus one, 0 if none that serves.
func (t *turn) recorded(conn int8) uint8 {
	r := t.s.record[t.clients[conn].source-1]
	if r > 0 && !t.s.serves(int8(r)-1) {
		return 0
	}
	return r
}

// persists makes the record, unless somebody else made one for another
// member, who is returned then. That of who is waived moves.
func (t *turn) persists(g *grip) (other uint8) {
	m := uint8(g.member) + 1
	r := t.recorded(g.conn)
	if r != 0 && r != m && !t.s.conn[g.conn].waived && t.fault != recordOverwritten {
		return r
	}
	t.s.record[t.clients[g.conn].source-1] = m
	return 0
}

// persistLoop goes on with a whole path: if there is a record by now, it is
// the wrong path.
func (t *turn) persistLoop() {
	if t.recording(t.me().conn) {
		t.me().pc = makeRecord
		return
	}
	t.proceed()
}

func (t *turn) recordLoop() {
	me := t.me()
	if other := t.persists(&me.grip); other != 0 {
		t.s.conn[me.conn].sticky = other
		me.then = thenPark // and waits for that member
		me.pc = flagsToGive
		return
	}
	t.proceed()
}

func (t *turn) persistHome() {
	h := &t.s.home
	if t.recording(h.conn) {
		h.pc = recordHead
		return
	}
	h.pc = grantHead
}

func (t *turn) recordHome() {
	h := &t.s.home
	if t.persists(&h.grip) != 0 {
		h.retry = true
		t.retreat()
		return
	}
	h.pc = grantHead
}

// lookUp: its source may have got a record while the head waited. If so it
// goes to the queue of that member, and does not stand in front of others.
func (t *turn) lookUp() {
	h := &t.s.home
	r, c := t.recorded(h.conn), &t.s.conn[h.conn]
	switch {
	case r == 0:
		t.reach()
	case c.over && t.fault != waivedLookedUp: // it would come back at once
		c.waived = true
		t.reach()
	default:
		t.toMove(h.conn, r)
	}
}

// toMove begins to move the head to the queue of a member, or of the pool.
func (t *turn) toMove(conn int8, to uint8) {
	h := &t.s.home
	h.grip = grip{conn: conn, member: -1}
	h.pc, h.to = moveHead, to
}

// moveStep moves a head to another queue: to the pool's, or to that of the
// member its source is persisted to.
func (t *turn) moveStep() {
	h := &t.s.home
	conn, to := h.conn, h.to
	h.to = 0
	if t.s.conn[conn].wait != waiting {
		if t.fault == lostMoveCounted {
			t.recount(conn, to)
		}
		t.drop(conn) // it left first
	} else {
		t.move(conn, to)
	}
	h.grip = noGrip
	t.nextHead()
}

// move: the waiter's word changes hands in one compare-and-swap, so that who
// leaves later is taken off the right count. The ticket stays.
func (t *turn) move(conn int8, to uint8) {
	c := &t.s.conn[conn]
	t.takeOff(conn)
	if to == 0 && t.fault == movedLast {
		c.ticket = t.s.lastTicket() + 1
	}
	if t.fault != movedNotRecounted {
		t.recount(conn, to)
	}
	from := t.queueOf(conn)
	c.sticky, c.waived = to, to == 0 && c.over
	t.forget(conn)
	t.enters(conn)
	if to != 0 && t.fault == moveBlocks {
		t.s.home.blocked |= queueBit(from)
	}
}

// recount moves a waiter from one count to another.
func (t *turn) recount(conn int8, to uint8) {
	t.s.depth[t.countOf(conn)]--
	t.s.conn[conn].counted = to
	t.s.depth[t.countOf(conn)]++
}

// countOf is the count that conn's word names.
func (t *turn) countOf(conn int8) int {
	if m := t.s.conn[conn].counted; m > 0 {
		return maxPools + int(m) - 1
	}
	return t.poolOf(conn)
}

// forget: conn stands in no order with those of its queue any more.
func (t *turn) forget(conn int8) {
	t.s.conn[conn].ahead = 0
	for i := range t.s.conn {
		t.s.conn[i].ahead &^= 1 << conn
	}
}
