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
	c.old, c.over = false, false
	t.s.depth[t.countOf(conn)]--
	t.forget(conn)
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
		if o.out && o.born < c.born && t.gaveAway(int8(i)) {
			t.fail("connection %d overtakes connection %d, which gave its slot back and stands nowhere", conn, i)
		}
		if t.goesFirst(int8(i), conn) {
			t.fail("connection %d overtakes connection %d, the older of two heads", conn, i)
		}
	}
}

// gaveAway says whether nothing is left of the path that conn had.
func (t *turn) gaveAway(conn int8) bool {
	for i := range t.loops {
		if p := &t.s.proc[i]; p.conn == conn && p.level > 0 {
			return false
		}
	}
	return true
}

// goesFirst says whether a is the head of another queue, not known to be
// blocked, and older than b.
func (t *turn) goesFirst(a, b int8) bool {
	x, q := &t.s.conn[a], t.queueOf(a)
	return x.wait == waiting && t.isHead(a) && q != t.queueOf(b) &&
		t.s.home.blocked&queueBit(q) == 0 && x.ticket < t.s.conn[b].ticket
}

// takes says whether m takes conn at all, as things are now.
func (t *turn) takes(m, conn int8) bool {
	return t.s.isUp(m) || t.s.conn[conn].sticky == uint8(m)+1 && t.s.serves(m)
}

// checkGrant: eligibility is looked at again when dequeuing. Where members
// change at any moment it may be out of date by now.
func (t *turn) checkGrant(conn, m int8) {
	if !t.anyMoment && !t.takes(m, conn) {
		t.fail("connection %d is granted member %d, which takes nobody", conn, m)
	}
	t.checkRecord(conn, m)
}

// checkDial: a change of a member is known to all loops when it is made.
func (t *turn) checkDial(conn int8) {
	if m := t.s.conn[conn].member; !t.takes(m, conn) {
		t.fail("connection %d dials member %d, which takes nobody", conn, m)
	}
}

// checkRecord: those of one source go to one member, unless one was sent away
// from it, or it went down, and they followed.
func (t *turn) checkRecord(conn, m int8) {
	if t.clients[conn].source == 0 || t.s.conn[conn].waived || t.withdraws() {
		return
	}
	for i, cl := range t.clients {
		o := &t.s.conn[i]
		if cl.source == t.clients[conn].source && !o.waived && o.holds && o.member != m && t.s.serves(o.member) {
			t.fail("connections %d and %d are of one source, and go to two members", i, conn)
		}
	}
}

// checkTaken: a token was just taken of c. Unless a lowering is under way,
// no more may be in use now than the limit.
func (t *turn) checkTaken(c int) {
	if used := t.used(c); used > t.s.limit[c] && t.s.lowering&(1<<c) == 0 {
		t.fail("%s: %d in use, the limit is %d", t.counters[c].name, used, t.s.limit[c])
	}
	if m := t.ramping(c); m >= 0 {
		t.checkRamp(c, t.s.time-t.s.since[m])
	}
}

// checkRamp: nobody gets in over what the time of the ramp allows.
func (t *turn) checkRamp(c int, at uint8) {
	if used, most := t.used(c), t.rampLimit(t.counters[c].limit, at); used > most {
		t.fail("%s: %d in use, the ramp allows %d", t.counters[c].name, used, most)
	}
}

// checkStep: the holder has just changed a limit. A ramp goes up: only its
// beginning, from a limit that it does not allow yet, is below what was.
func (t *turn) checkStep(by int8) {
	c := int(t.s.home.i)
	m := t.ramping(c)
	if m < 0 || by > 0 || t.changesLimits() {
		return
	}
	if t.s.limit[c]-by <= t.rampLimit(t.s.asked[c], t.s.time-t.s.since[m]) {
		t.fail("%s: the ramp went down by itself", t.counters[c].name)
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
	t.watchPaths()
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
		p := &s.proc[loop]
		if p.extra > 0 && t.top(&p.grip) == c {
			sum += p.extra
		}
		if p.hand > 0 && t.virtualOf(p.conn).swept[int(p.shard)/t.loops] == c {
			sum += p.hand
		}
	}
	if h := &s.home; h.pc == addWord && int(h.i)/t.loops == c {
		sum += h.hand
	}
	if sum != s.limit[c] {
		t.fail("%s: word, shards, in use and in hands make %d, the limit is %d", t.counters[c].name, sum, s.limit[c])
	}
}
