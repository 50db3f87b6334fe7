package main

// arrive: whoever sees that the pool has waiters joins them.
func (t *turn) arrive(conn int8) {
	s, c := t.s, &t.s.conn[conn]
	c.ticket = s.lastTicket() + 1
	c.born = c.ticket
	c.phase = arriving
	c.ahead = t.pushedBefore(conn)

	me := t.me()
	me.grip = grip{conn: conn, member: -1}
	me.saw = s.waiting&(1<<t.poolOf(conn)) != 0
	if me.saw && t.fault != newcomerOvertakes {
		t.park()
		return
	}
	me.pc = flagsToTake
}

// park pushes the waiter, then kicks.
func (t *turn) park() {
	me := t.me()
	me.grip = grip{conn: me.conn, member: -1}
	me.then = thenIdle
	me.flags = false
	if t.fault == kickBeforePush {
		me.then = thenPushed
		t.kick(latchArrived)
		return
	}
	me.pc = pushFresh
}

func (t *turn) push() {
	me := t.me()
	t.enqueue(me.conn, inFresh)
	me.conn = -1
	if t.fault == kickBeforePush || t.fault == noKickAfterPark {
		t.rest()
		return
	}
	t.kick(latchArrived)
}

func (t *turn) enqueue(conn int8, where uint8) {
	c := &t.s.conn[conn]
	c.phase, c.wait, c.place = parked, waiting, where
}

// closes: the client of an established connection is done with it.
func (t *turn) closes(conn int8) {
	t.letGoOf(conn)
	t.step()
}

// letGoOf ends conn; its path is now the loop's to give back.
func (t *turn) letGoOf(conn int8) {
	t.seize(conn)
	t.end(conn)
	t.me().pc = flagsToGive
}

// seize takes the path over from its connection.
func (t *turn) seize(conn int8) {
	c, me := &t.s.conn[conn], t.me()
	me.grip = grip{conn: conn, member: c.member, level: t.pathLen(conn, c.member)}
	c.holds, c.member = false, 0
}

// leave: the client closes while it waits.
func (t *turn) leave(conn int8) {
	c := &t.s.conn[conn]
	if c.wait != waiting {
		c.dead = true // an outcome is, or will be, in the inbox
		return
	}
	t.settle(conn, gone)
	c.phase = ended
	if t.fault != noKickAfterLeave {
		t.kick(latchArrived)
	}
}

// outcome takes what the home decided out of the inbox.
func (t *turn) outcome(conn int8) {
	c := &t.s.conn[conn]
	c.inbox = false
	switch {
	case c.phase == ended:
		t.fail("connection %d left, and got an outcome all the same", conn)
	case c.wait == expired:
		t.end(conn)
	case c.dead && t.fault == deadGrantKeeps:
		c.holds = false
		t.end(conn)
	case c.dead:
		t.letGoOf(conn)
	default:
		c.wait, c.phase = 0, up
	}
}

// dialFails: back into the queue at the old ticket first, so that the path
// it then gives up can be its own.
func (t *turn) dialFails(conn int8) {
	t.seize(conn)
	t.s.conn[conn].failed++
	if t.fault == failedDialNoKick {
		t.s.conn[conn].phase = arriving
		t.me().then = thenPushReturn
		t.me().pc = flagsToGive
		t.step()
		return
	}
	t.pushReturned()
}

func (t *turn) pushReturned() {
	me := t.me()
	c := &t.s.conn[me.conn]
	t.enqueue(me.conn, inReturn)
	if t.excludes {
		c.excluded |= 1 << me.member
		c.ahead = 0 // of another queue
	}
	if t.fault == requeueNewTicket {
		c.ticket = t.s.lastTicket() + 1
	}
	if t.fault == failedDialNoKick {
		t.rest()
		return
	}
	me.then = thenKick
	me.pc = flagsToGive
}

// end forgets all of a connection but that it was there.
func (t *turn) end(conn int8) {
	t.s.conn[conn] = conn0
	t.s.renumber()
}
