package main

import "fmt"

func (t *turn) fail(format string, args ...any) {
	if t.broken == "" {
		t.broken = fmt.Sprintf(format, args...)
	}
}

// settle moves a waiter out of waiting. Exactly one of grant, expire and
// leave may do so.
func (t *turn) settle(conn int8, to uint8) {
	c := &t.s.conn[conn]
	if c.wait != waiting {
		t.fail("connection %d is %s, and now %s too", conn, waitNames[c.wait], waitNames[to])
	}
	c.wait = to
	c.old = false
	c.ahead = 0
	for i := range t.s.conn {
		t.s.conn[i].ahead &^= 1 << conn
	}
}

// pushedBefore is the waiters of conn's queue that everybody can see.
func (t *turn) pushedBefore(conn int8) uint8 {
	before := uint8(0)
	for i := range t.clients {
		c := &t.s.conn[i]
		if c.wait == waiting && c.place != nowhere && t.queueOf(int8(i)) == t.queueOf(conn) {
			before |= 1 << i
		}
	}
	return before
}

// checkOrder: nobody is granted before a waiter of the same queue who was
// pushed before they arrived, or who is in the queue with an older ticket.
func (t *turn) checkOrder(conn int8) {
	c := &t.s.conn[conn]
	if c.ahead != 0 {
		t.fail("connection %d overtakes one that was pushed before it arrived (set %b)", conn, c.ahead)
	}
	for i := range t.clients {
		o := &t.s.conn[i]
		if o.place == inQueue && o.wait == waiting && o.born < c.born && t.queueOf(int8(i)) == t.queueOf(conn) {
			t.fail("connection %d overtakes connection %d in their queue", conn, i)
		}
	}
}

// checkTaken: a token was just taken of c. Unless a lowering is under way,
// no more may be in use now than the limit.
func (t *turn) checkTaken(c int) {
	if used := t.used(c); used > t.s.limit[c] && t.s.lowering&(1<<c) == 0 {
		t.fail("%s: %d in use, the limit is %d", t.counters[c].name, used, t.s.limit[c])
	}
}

// used is how many tokens of c are owned by connections or are part of a
// path being taken or given back.
func (t *turn) used(c int) int8 {
	n := int8(0)
	for i := range t.clients {
		if k := &t.s.conn[i]; k.holds {
			n += t.inGrip(c, grip{conn: int8(i), member: k.member, level: t.pathLen(int8(i), k.member)})
		}
	}
	for i := range t.loops {
		n += t.inGrip(c, t.s.proc[i].grip)
	}
	return n + t.inGrip(c, t.s.home.grip)
}

func (t *turn) inGrip(c int, g grip) int8 {
	for level := range g.level {
		if t.counterAt(g.conn, g.member, level) == c {
			return 1
		}
	}
	return 0
}

// check holds the state after a step against the invariants.
func (t *turn) check() {
	for c := range t.counters {
		t.checkTokens(c)
	}
	if t.atRest() {
		t.checkRest()
	}
}

// checkTokens: none is lost and none is made.
func (t *turn) checkTokens(c int) {
	s := t.s
	sum := s.word[c] + t.used(c)
	for loop := range t.loops {
		sum += s.shard[c][loop]
		if p := &s.proc[loop]; p.extra > 0 && t.top(&p.grip) == c {
			sum += p.extra
		}
	}
	if h := &s.home; h.pc == addWord && int(h.i)/t.loops == c {
		sum += h.hand
	}
	if sum != s.limit[c] {
		t.fail("%s: word, shards, in use and in hands make %d, the limit is %d", t.counters[c].name, sum, s.limit[c])
	}
}

// atRest: nobody does anything or has to, but for what clients may choose.
func (t *turn) atRest() bool {
	for i := range t.loops + 1 {
		if p := &t.s.proc[i]; p.pc != idle || p.resume {
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
	}
	if s.waiting != t.poolsWaiting() || (s.flags&flagWaiting != 0) != (s.waiting != 0) {
		t.fail("at rest, and the flags are not about those who wait")
	}
	for c := range t.counters {
		if s.pending[c] != 0 {
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
	case c.wait == waiting && t.isHead(conn) && t.pathFree(conn):
		t.fail("at rest, connection %d waits, and a whole path is free for it", conn)
	}
}

func (t *turn) pathFree(conn int8) bool {
	g := grip{conn: conn}
	for g.member = t.candidate(&g); g.member >= 0; g.member = t.candidate(&g) {
		if !t.isDown(&g) && t.allFree(&g) {
			return true
		}
		g.tried++
	}
	return false
}

func (t *turn) allFree(g *grip) bool {
	for level := range t.pathLen(g.conn, g.member) {
		c := t.counterAt(g.conn, g.member, level)
		free := t.s.word[c]
		for loop := range t.loops {
			free += t.s.shard[c][loop]
		}
		if free <= 0 {
			return false
		}
	}
	return true
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
