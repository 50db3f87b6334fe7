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
)

// moves appends all that can happen next in s.
func (sc *scenario) moves(s *state, to []move) []move {
	for id := range int8(sc.loops + 1) {
		switch p := &s.proc[id]; {
		case p.pc != idle:
			to = append(to, move{id, goOn, -1})
		case int(id) == sc.operator():
			to = sc.operatorMoves(p, to)
		default:
			to = sc.loopMoves(s, id, to)
		}
		if p := &s.proc[id]; p.pc == idle && p.resume {
			to = append(to, move{id, resumes, -1})
		}
	}
	return to
}

func (sc *scenario) operatorMoves(p *proc, to []move) []move {
	if int(p.op) < len(sc.script) {
		to = append(to, move{int8(sc.operator()), operates, -1})
	}
	return to
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
	}
}
