package main

// A pool that does not queue has no home that sweeps for it. Its loops do so
// themselves before they refuse somebody: a free token may lie in the shard
// of another one.

// lastTry sweeps, looks, and takes once more.
func (t *turn) lastTry() {
	me := t.me()
	if me.last {
		t.refuse()
		return
	}
	me.last = true
	if t.fault == noOwnSweep {
		t.takeAgain()
		return
	}
	me.pc = ownSwap
}

// sweepOwn empties a shard, then adds what was in it to the word.
func (t *turn) sweepOwn() {
	me := t.me()
	swept := t.virtualOf(me.conn).swept
	c, loop := swept[int(me.shard)/t.loops], int(me.shard)%t.loops
	if me.pc == ownSwap && t.s.shard[c][loop] > 0 {
		me.hand, t.s.shard[c][loop] = t.s.shard[c][loop], 0
		me.pc = ownAdd
		return
	}
	t.s.word[c] += me.hand
	me.hand = 0
	me.pc = ownSwap
	me.shard++
	if int(me.shard) < len(swept)*t.loops {
		return
	}
	me.shard = 0
	me.then = thenTakeAgain
	me.sharded = true
	t.lookOr(t.fault != noLookAfterOwnSweep)
}

func (t *turn) takeAgain() {
	me := t.me()
	me.grip = grip{conn: me.conn, member: -1}
	me.pc = flagsToTake
}

// refuse is right if at some moment since it arrived, or since its dial
// failed, there was no whole path for it.
func (t *turn) refuse() {
	me := t.me()
	if !me.full {
		t.fail("connection %d is refused, and a whole path was free for it all the time", me.conn)
	}
	t.end(me.conn)
	t.rest()
}

// watchPaths notes for those who may be refused that no path is free.
func (t *turn) watchPaths() {
	for i := range t.loops {
		p := &t.s.proc[i]
		if p.conn < 0 || !t.virtualOf(p.conn).noQueue || t.s.conn[p.conn].phase != arriving {
			continue
		}
		p.full = p.full || !t.pathFree(p.conn, p)
	}
}
