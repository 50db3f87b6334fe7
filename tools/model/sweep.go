package main

// beginSweep: a debt may be paid by what came back to the word, so while
// there is one, every pass looks.
func (t *turn) beginSweep() {
	h := &t.s.home
	h.sweeps = h.bits&latchSweep != 0 || t.s.flags&flagStrict != 0
	if t.fault == sweepOnceOnly && t.s.flags&flagWaiting != 0 {
		h.sweeps = false
	}
	h.i = 0
	if h.sweeps || t.anyRamp() {
		t.nextLimit()
	} else {
		t.nextHead()
	}
}

// nextLimit finds the next counter whose limit may have been changed.
func (t *turn) nextLimit() {
	h := &t.s.home
	for int(h.i) < len(t.counters) {
		if t.counters[h.i].changes && t.fault != lowerWithoutBaton {
			h.pc = swapLimit
			return
		}
		h.i++
	}
	t.endRamps()
	if h.sweeps {
		t.sweep()
	} else {
		h.i = 0
		t.nextHead()
	}
}

// applyLimit makes a change of the limit. A debt is made only once everybody
// can see that the counter is strict, and the sweep after it leaves no shard
// to go on with.
func (t *turn) applyLimit() {
	s, h := t.s, &t.s.home
	switch h.pc {
	case swapLimit:
		h.hand = t.target(int(h.i), h.clock) - s.limit[h.i]
		if t.fault == changeSkipsRamp && h.bits&latchSweep != 0 && s.proc[t.operator()].op > 1 {
			h.hand = s.asked[h.i] - s.limit[h.i]
		}
		switch {
		case h.hand < 0:
			t.changed()
			h.sweeps = true
			h.pc = setStrict
			return
		case h.hand > 0:
			t.changed()
			h.pc = addLimit
			return
		}
	case setStrict:
		s.strict |= 1 << h.i
		h.pc = raiseStrictFlag
		return
	case raiseStrictFlag:
		s.flags |= flagStrict
		h.pc = addLimit
		return
	case addLimit:
		s.word[h.i] += h.hand
		s.limit[h.i] += h.hand
		if h.hand < 0 {
			s.lowering |= 1 << h.i
		}
		t.checkStep(h.hand)
		h.hand = 0
	}
	h.i++
	t.nextLimit()
}

// sweep begins to move all shards into the words.
func (t *turn) sweep() { t.s.home.i = 0; t.s.home.pc = swapShard }

// sweepOne empties a shard, then adds what was in it to the word.
func (t *turn) sweepOne() {
	s, h := t.s, &t.s.home
	c, loop := int(h.i)/t.loops, int(h.i)%t.loops
	if h.pc == swapShard && s.shard[c][loop] > 0 {
		h.hand, s.shard[c][loop] = s.shard[c][loop], 0
		h.pc = addWord
		return
	}
	s.word[c] += h.hand
	h.hand = 0
	h.pc = swapShard
	h.i++
	if int(h.i) == len(t.counters)*t.loops {
		if t.fault != lowerWithoutBaton {
			s.lowering = 0
		}
		h.i = 0
		t.payDebts()
	}
}

// payDebts ends strictness where the debt is paid. Only the holder lowers a
// limit, so a word that is not negative stays so.
func (t *turn) payDebts() {
	s, h := t.s, &t.s.home
	for c := range t.counters {
		if t.isStrict(c) && s.word[c] >= 0 {
			h.pc, h.i = clearStrict, uint8(c)
			return
		}
	}
	if s.flags&flagStrict != 0 && s.strict == 0 {
		h.pc = dropStrictFlag
		return
	}
	t.swept()
}

func (t *turn) swept() {
	h := &t.s.home
	if h.again {
		h.again = false
		h.blocked = 0
	}
	t.nextHead()
}
