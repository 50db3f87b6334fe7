package main

// serves says whether m takes those who are persisted to it.
func (s *state) serves(m int8) bool {
	return s.oper[m] != offline && s.down&(1<<m) == 0
}

// isUp says whether m takes new clients at all.
func (s *state) isUp(m int8) bool { return s.serves(m) && s.oper[m] == enabled }

// eligible says whether m may be given to who g is for, were there a slot.
// In back-off it may be, to one as a probe, when the pause is over.
func (t *turn) eligible(g *grip, now uint8) bool {
	persisted := t.s.conn[g.conn].sticky == uint8(g.member)+1
	if !t.s.isUp(g.member) && !(persisted && t.s.serves(g.member)) {
		return false
	}
	return t.s.health[g.member] <= now
}

// isDown says whether the member that g is at takes nobody. It is read with
// the first counter: where members change in the middle of operations it has
// been asked in a step of its own, before.
func (t *turn) isDown(g *grip) bool {
	return g.member >= 0 && !t.anyMoment && !t.eligible(g, t.me().now)
}

// asks says whether the member has to be asked in a step of its own.
func (t *turn) asks(g *grip) bool {
	return t.anyMoment && int(g.level) == len(t.virtualOf(g.conn).prefix)
}

// avoids is the members that conn is not to be given: those that refused it,
// unless no other one is up.
func (t *turn) avoids(conn int8) uint8 {
	excluded := t.s.conn[conn].excluded
	for _, m := range t.virtualOf(conn).members {
		if excluded&(1<<m) == 0 && t.s.isUp(int8(m)) {
			return excluded
		}
	}
	return 0
}

// usable: asked by the loop before it dials for a waiter.
func (t *turn) usable(conn int8) bool {
	c := &t.s.conn[conn]
	persisted := c.sticky == uint8(c.member)+1
	if t.fault == withdrawsPersisted {
		persisted = false
	}
	return t.s.isUp(c.member) || persisted && t.s.serves(c.member)
}

// withdraw: the member stopped taking connections after it was granted. The
// waiter goes back to its place first, so that the path it then gives up can
// be its own.
func (t *turn) withdraw(conn int8) {
	if m := t.s.conn[conn].member; t.takes(m, conn) {
		t.fail("connection %d is withdrawn from member %d, which takes it", conn, m)
	}
	t.seize(conn)
	t.s.conn[conn].out = true
	switch t.fault {
	case withdrawForgets:
		t.me().level = 0
		t.putBack()
	case withdrawReleasesFirst:
		t.s.conn[conn].phase, t.s.conn[conn].wait = arriving, 0
		t.me().then = thenPushReturn
		t.giveAll()
	default:
		t.putBack()
	}
}

// giveAll begins to give a whole path back. A probe that found nothing out is
// over first.
func (t *turn) giveAll() {
	me := t.me()
	me.pc = flagsToGive
	if me.probe {
		me.pc = unprobe
	}
}

func (t *turn) unprobed() {
	me := t.me()
	t.endProbe(&me.grip)
	me.pc = flagsToGive
}

// endProbe: others may have found the member well meanwhile.
func (t *turn) endProbe(g *grip) {
	g.probe = false
	if t.s.health[g.member] == probing && t.fault != probeKept {
		t.s.health[g.member] = t.me().now
	}
}

// claim makes the path a probe's if the member's pause is over. False if
// somebody else probes it, or it is in back-off again.
func (t *turn) claim(g *grip) bool {
	h := &t.s.health[g.member]
	switch {
	case *h == 0:
		return true
	case *h > t.me().now && t.fault != claimsBlindly:
		return false
	case *h == probing:
		t.fail("member %d is probed by two", g.member)
	}
	*h = probing
	g.probe = true
	return true
}

// claimLoop and claimHome come after the last token of a path.
func (t *turn) claimLoop() {
	if !t.claim(&t.me().grip) {
		t.giveBack(nextMember)
		return
	}
	t.persistLoop()
}

func (t *turn) claimHome() {
	if !t.claim(&t.s.home.grip) {
		t.retreat()
		return
	}
	t.persistHome()
}

// backOff: the failure of a dial that began before the pause is no news.
func (t *turn) backOff() {
	me := t.me()
	if h := &t.s.health[me.member]; me.probe || *h == 0 {
		*h = me.now + 1
	}
	me.probe = false
	me.pc = pushReturn
}

// dialled: the server answered, so the member is well.
func (t *turn) dialled(conn int8) {
	c := &t.s.conn[conn]
	c.dialling, c.probe = false, false
	if t.s.health[c.member] == 0 {
		return
	}
	t.s.health[c.member] = 0
	if t.fault != noKickWhenWell {
		t.kick(latchCapacity)
	}
}
