package main

// override-connection-limit: who is persisted to a member that is full gets
// in all the same. The virtual server's own tokens are taken properly; those
// of the pool, the member and the node are taken below zero, which is a debt
// like that of a lowered limit. A token may have come back in the moment
// before, so that there is none, or the waiter may have left: the pass looks at
// strictness once more before it ends.

// mayForce says whether the head may take by force what it is to take next.
func (t *turn) mayForce(g *grip) bool {
	v := t.virtualOf(g.conn)
	if !v.override || t.s.conn[g.conn].sticky == 0 {
		return false
	}
	m := *g
	m.member = t.candidate(g)
	if m.member < 0 || t.isDown(&m) {
		return false
	}
	return int(g.level) >= v.own || t.fault == forcesOwn
}

// force takes the token above: strict first, so that nobody hides one in a
// shard unseen.
func (t *turn) force() {
	s, h := t.s, &t.s.home
	c := t.above(&h.grip)
	switch h.pc {
	case forceStrict:
		t.noteEarly(c)
		s.strict |= 1 << c
		h.pc = forceFlag
	case forceFlag:
		s.flags |= flagStrict
		h.pc = forceWord
	case forceWord:
		s.word[c]--
		h.level++
		h.forced = true
		if int(h.level) <= t.virtualOf(h.conn).own {
			t.checkTaken(c)
		}
		t.reach()
	}
}

// noteEarly: a loop that has read c not to be strict goes on to its shard.
// It counts as having taken what is there before.
func (t *turn) noteEarly(c int) {
	for i := range t.loops {
		if p := &t.s.proc[i]; p.pc == takeToken && t.above(&p.grip) == c {
			p.early = true
		}
	}
}
