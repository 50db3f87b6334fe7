package main

// arrive looks persistence up.
func (t *turn) arrive(conn int8) {
	s, c := t.s, &t.s.conn[conn]
	c.ticket = s.lastTicket() + 1
	c.born = c.ticket
	c.phase = arriving
	t.me().grip = grip{conn: conn, member: -1}
	if t.clients[conn].source > 0 {
		c.sticky = t.recorded(conn)
		c.ahead = t.pushedBefore(conn)
		t.me().pc = readWaiting
		return
	}
	if m := t.clients[conn].sticky; m > 0 && s.serves(int8(m)-1) {
		c.sticky = uint8(m)
	}
	c.ahead = t.pushedBefore(conn)
	t.readWaiting()
}

// readWaiting: whoever sees that the pool has waiters joins them.
func (t *turn) readWaiting() {
	me := t.me()
	me.saw = t.s.waiting&(1<<t.poolOf(me.conn)) != 0
	if me.saw && t.fault != newcomerOvertakes {
		t.park()
		return
	}
	me.pc = flagsToTake
}

// park pushes the waiter, then kicks.
func (t *turn) park() {
	me := t.me()
	if t.virtualOf(me.conn).noQueue {
		t.lastTry()
		return
	}
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
	c.out = false
	c.counted = c.sticky
	t.s.depth[t.countOf(conn)]++
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
	t.giveAll()
}

// seize takes the path over from its connection.
func (t *turn) seize(conn int8) {
	c, me := &t.s.conn[conn], t.me()
	me.grip = grip{conn: conn, member: c.member, level: t.pathLen(conn, c.member), probe: c.probe}
	c.holds, c.member, c.probe, c.dialling = false, 0, false, false
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
	case !t.usable(conn) && t.fault != dialsAllTheSame:
		t.withdraw(conn)
	default:
		c.wait, c.phase, c.dialling = 0, up, t.backoff
		t.checkDial(conn)
	}
}

// dialFails: back into the queue at the old ticket first, so that the path
// it then gives up can be its own.
func (t *turn) dialFails(conn int8) {
	t.seize(conn)
	c, me := &t.s.conn[conn], t.me()
	c.failed++
	c.out, c.waived = true, true
	if t.excludes {
		c.excluded |= 1 << me.member
		c.ahead = 0 // of another queue
	}
	switch {
	case t.backoff:
		c.phase = arriving
		t.backOff()
	case t.virtualOf(conn).noQueue:
		c.phase = arriving
		me.then = thenPark
		me.pc = flagsToGive
		t.step()
	case t.fault == failedDialNoKick:
		c.phase = arriving
		me.then = thenPushReturn
		me.pc = flagsToGive
		t.step()
	default:
		t.putBack()
	}
}

// putBack pushes a waiter that had been granted. It may have any member now.
func (t *turn) putBack() {
	me := t.me()
	c := &t.s.conn[me.conn]
	if c.sticky > 0 {
		c.sticky, c.ahead = 0, 0
	}
	t.enqueue(me.conn, inReturn)
	if t.fault == requeueNewTicket {
		c.ticket = t.s.lastTicket() + 1
	}
	if t.fault == failedDialNoKick {
		t.rest()
		return
	}
	me.then = thenKick
	if me.level == 0 { // its path is given back already, or lost
		t.goOn()
		return
	}
	t.giveAll()
}

// end forgets all of a connection but that it was there.
func (t *turn) end(conn int8) {
	t.s.conn[conn] = conn0
	t.s.renumber()
}
