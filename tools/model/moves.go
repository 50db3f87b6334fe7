package main

// move is one thing that can happen next: a process goes on with what it is
// doing, or, when idle, begins something.
type move struct {
	proc int8
	do   event
	conn int8
}

type event uint8

const (
	goOn event = iota
	arrives
	closes
	dialFails
	leaves
	takesOutcome
	resumes
	operates
	answered // the dial succeeded
	runs     // what it was armed for is due
	passes   // time
)

// moves appends all that can happen next in s.
func (sc *scenario) moves(s *state, to []move) []move {
	if sc.frozen(s) {
		return append(to, move{int8(sc.operator()), goOn, -1})
	}
	for id := range int8(sc.loops + 1) {
		switch p := &s.proc[id]; {
		case p.pc != idle:
			to = append(to, move{id, goOn, -1})
		case int(id) == sc.operator():
			to = sc.operatorMoves(s, to)
		default:
			to = sc.loopMoves(s, id, to)
		}
		if p := &s.proc[id]; p.pc == idle && p.resume {
			to = append(to, move{id, resumes, -1})
		}
		if p := &s.proc[id]; p.pc == idle && p.armed > 0 && p.armed <= s.time {
			to = append(to, move{id, runs, -1})
		}
	}
	if s.time < sc.clock || s.dueLater() {
		to = append(to, move{int8(sc.operator()), passes, -1})
	}
	return to
}

func (sc *scenario) operatorMoves(s *state, to []move) []move {
	op := sc.operator()
	if at := int(s.proc[op].op); at < len(sc.script) && (sc.anyTime(sc.script[at]) || s.stands(sc)) {
		to = append(to, move{int8(op), operates, -1})
	}
	return to
}

// anyTime says whether the change can be made while loops work.
func (sc *scenario) anyTime(c change) bool {
	switch c.do {
	case memberDown, memberUp, setState:
		return sc.anyMoment
	case limitBy:
		return sc.ramp == 0
	}
	return true
}

// frozen: the loops stand still while the operator tells the home of a change
// of members, and runs the pass.
func (sc *scenario) frozen(s *state) bool {
	p := &s.proc[sc.operator()]
	if p.op == 0 || sc.anyTime(sc.script[p.op-1]) {
		return false
	}
	return p.pc == kickLatch || p.pc == kickTry || p.pc == inPass || p.pc == letGo
}

// stands says whether all loops stand between two operations.
func (s *state) stands(sc *scenario) bool {
	for i := range sc.loops {
		if s.proc[i].pc != idle {
			return false
		}
	}
	return true
}

// loopMoves: a loop serves its events in any order, but its clients arrive
// in theirs.
func (sc *scenario) loopMoves(s *state, id int8, to []move) []move {
	arrived := false
	for i := range sc.clients {
		cl, c, conn := &sc.clients[i], &s.conn[i], int8(i)
		if cl.loop != int(id) {
			continue
		}
		switch {
		case c.phase == absent && !arrived:
			arrived = true
			to = append(to, move{id, arrives, conn})
		case c.phase == up && c.failed < cl.fails:
			to = append(to, move{id, dialFails, conn})
		case c.phase == up && c.dialling:
			to = append(to, move{id, answered, conn})
			if cl.leaves {
				to = append(to, move{id, closes, conn})
			}
		case c.phase == up:
			to = append(to, move{id, closes, conn})
		case c.phase == parked && cl.leaves && !c.dead:
			to = append(to, move{id, leaves, conn})
		}
		if c.inbox {
			to = append(to, move{id, takesOutcome, conn})
		}
	}
	return to
}

// make takes the first step of a move.
func (t *turn) make(m move) {
	if m.do == passes {
		t.s.time++
		return
	}
	if m.do != goOn {
		t.me().now = t.s.time
	}
	t.begins(m)
	if me := t.me(); me.pc == idle {
		me.now = 0
	}
}

func (t *turn) begins(m move) {
	switch m.do {
	case goOn:
		t.step()
	case arrives:
		t.arrive(m.conn)
	case closes:
		t.closes(m.conn)
	case dialFails:
		t.dialFails(m.conn)
	case leaves:
		t.leave(m.conn)
	case takesOutcome:
		t.outcome(m.conn)
	case resumes:
		t.me().resume = false
		t.tryBaton()
	case operates:
		t.operate()
	case answered:
		t.dialled(m.conn)
	case runs:
		t.runs()
	}
}
