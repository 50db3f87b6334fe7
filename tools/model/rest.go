package main

// atRest: nobody does anything or has to, but for what clients may choose.
func (t *turn) atRest() bool {
	for i := range t.loops + 1 {
		if p := &t.s.proc[i]; p.pc != idle || p.resume || p.armed > 0 && p.armed <= t.s.time {
			return false
		}
	}
	for i := range t.clients {
		if t.s.conn[i].inbox {
			return false
		}
	}
	return true
}

func (t *turn) checkRest() {
	s := t.s
	if s.latch != 0 {
		t.fail("at rest, and the baton word is %s", latchString(s.latch))
	}
	for i := range t.clients {
		t.checkWaiter(int8(i))
		t.checkPlace(int8(i))
	}
	t.checkDepth()
	if s.waiting != t.poolsWaiting() || (s.flags&flagWaiting != 0) != (s.waiting != 0) {
		t.fail("at rest, and the flags are not about those who wait")
	}
	for c := range t.counters {
		if s.limit[c] != t.target(c, s.time) {
			t.fail("at rest, and a change of %s is not made", t.counters[c].name)
		}
		if t.isStrict(c) != (s.word[c] < 0) || (s.flags&flagStrict != 0) != (s.strict != 0) {
			t.fail("at rest, and strictness is not about debts")
		}
	}
}

// checkWaiter: at rest everybody's entry is in a queue or gone from it, and
// no head waits while a whole path is free for it.
func (t *turn) checkWaiter(conn int8) {
	c := &t.s.conn[conn]
	switch {
	case c.place == inFresh || c.place == inReturn:
		t.fail("at rest, and connection %d is in a ring that nobody will drain", conn)
	case c.wait == gone && t.isHead(conn):
		t.fail("at rest, and connection %d, which left, is the head of its queue", conn)
	case c.wait == waiting && c.old && t.isHead(conn):
		t.fail("at rest, and connection %d, which is too old, is the head of its queue", conn)
	case c.wait == waiting && c.place == nowhere:
		t.fail("at rest, and connection %d is lost", conn)
	case c.wait == granted:
		t.fail("at rest, and connection %d does not know that it is granted", conn)
	case c.wait == waiting && t.isHead(conn) && t.pathFree(conn, nil):
		t.fail("at rest, connection %d waits, and a whole path is free for it", conn)
	}
}

// checkPlace: at rest nobody stands in a queue that is not theirs any more.
func (t *turn) checkPlace(conn int8) {
	c := &t.s.conn[conn]
	if c.place != inQueue || c.wait != waiting {
		return
	}
	switch {
	case c.sticky > 0 && !t.s.serves(int8(c.sticky)-1):
		t.fail("at rest, connection %d waits for a member that takes nobody", conn)
	case c.sticky > 0 && c.over && t.isHead(conn):
		t.fail("at rest, connection %d waits for its member, and its time there is over", conn)
	case t.lookedUp(conn) && t.recorded(conn) > 0 && t.isHead(conn) && t.pathFree(conn, nil):
		t.fail("at rest, connection %d waits for its member at the head of the pool's queue", conn)
	}
}

// checkDepth: at rest the counts of waiters are of those in the queues.
func (t *turn) checkDepth() {
	depth := t.s.depth
	for i := range t.clients {
		c := &t.s.conn[i]
		if c.place != inQueue || c.wait != waiting {
			continue
		}
		at := t.poolOf(int8(i))
		if c.sticky > 0 {
			at = maxPools + int(c.sticky) - 1
		}
		depth[at]--
	}
	if depth != [maxPools + maxMembers]int8{} {
		t.fail("at rest, and the counts of waiters are off by %v", depth)
	}
}

// pathFree says whether conn could get a path now. What by holds counts as
// free.
func (t *turn) pathFree(conn int8, by *proc) bool {
	g := grip{conn: conn}
	for g.member = t.candidate(&g); g.member >= 0; g.member = t.candidate(&g) {
		if t.eligible(&g, t.s.time) && t.allFree(&g, by) {
			return true
		}
		g.tried++
	}
	return false
}

func (t *turn) allFree(g *grip, by *proc) bool {
	levels := t.pathLen(g.conn, g.member)
	if v := t.virtualOf(g.conn); v.override && t.s.conn[g.conn].sticky > 0 {
		levels = uint8(v.own)
	}
	for level := range levels {
		if c := t.counterAt(g.conn, g.member, level); t.free(c, by) <= 0 {
			return false
		}
	}
	return true
}

// free is the tokens of c in sight and in shards, and those by has in hand.
func (t *turn) free(c int, by *proc) int8 {
	free := t.s.word[c]
	for loop := range t.loops {
		free += t.s.shard[c][loop]
	}
	if by == nil {
		return free
	}
	free += t.inGrip(c, by.grip)
	if by.extra > 0 && t.top(&by.grip) == c {
		free += by.extra
	}
	if by.hand > 0 && t.virtualOf(by.conn).swept[int(by.shard)/t.loops] == c {
		free += by.hand
	}
	return free
}

// checkEnd: a state that nothing follows is one in which all is over.
func (t *turn) checkEnd() {
	s := t.s
	for i := range t.clients {
		if s.conn[i] != conn0 {
			t.fail("nothing can happen any more, and connection %d is not over", i)
		}
	}
	for c := range t.counters {
		if t.used(c) != 0 {
			t.fail("all is over, and a token of %s is in use", t.counters[c].name)
		}
	}
	if s.flags != 0 || s.waiting != 0 || s.strict != 0 {
		t.fail("all is over, and a flag is set")
	}
}
