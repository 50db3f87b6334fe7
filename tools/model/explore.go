package main

import (
	"hash/maphash"
	"time"
)

// report is what an exploration found.
type report struct {
	sc     *scenario
	fault  fault
	states int
	moves  int // transitions
	depth  int
	took   time.Duration
	broken string // empty: no violation
	trace  []move
}

// tooMany states are the end of an exploration that has no other: a scenario
// that has more is too large to prove anything.
const tooMany = 6_000_000

// explorer visits all states breadth first. Of a state already met it keeps
// 64 bits of hash: among n states two are taken for one with a chance of
// about n*n/2^65, that is 1 in 4 million for 3 million states. The seed of
// the hash is another in every run.
type explorer struct {
	*scenario
	fault fault
	seed  maphash.Seed
	seen  map[uint64]uint32 // number of the state

	// By number: how the state was reached.
	parent []uint32
	by     []move

	// The states after state i are edges[first[i]:first[i+1]].
	first []uint32
	edges []uint32

	moves  []move // of the state being expanded
	report report
}

func explore(sc *scenario, f fault) report {
	began := time.Now()
	e := &explorer{scenario: sc, fault: f, seed: maphash.MakeSeed(), seen: map[uint64]uint32{}}
	e.report.sc, e.report.fault = sc, f
	e.run()
	e.report.states, e.report.moves = len(e.parent), len(e.edges)
	e.report.took = time.Since(began)
	return e.report
}

// run visits the states level by level: those after the same number of steps.
func (e *explorer) run() {
	level, after := []state{newState(e.scenario)}, []state{}
	e.number(&level[0], 0, move{})
	for len(level) > 0 && e.report.broken == "" {
		if len(e.parent) > tooMany {
			e.violation("too many states to be explored to the end", nil)
			return
		}
		after = after[:0]
		for i := range level {
			after = e.expand(&level[i], after)
		}
		level, after = after, level
		e.report.depth++
	}
	if e.report.broken == "" {
		e.first = append(e.first, uint32(len(e.edges)))
		e.checkCycles()
	}
}

// expand makes every move there is in s, the next state in the order of
// numbers, and appends the states not met before.
func (e *explorer) expand(s *state, after []state) []state {
	at := uint32(len(e.first))
	e.first = append(e.first, uint32(len(e.edges)))
	e.moves = e.scenario.moves(s, e.moves[:0])
	if len(e.moves) == 0 {
		e.checkEnd(s, at)
	}
	for _, m := range e.moves {
		next, broken := e.apply(*s, m)
		if broken != "" {
			e.violation(broken, append(e.path(at), m))
			break
		}
		n, fresh := e.number(&next, at, m)
		e.edges = append(e.edges, n)
		if fresh {
			after = append(after, next)
		}
	}
	return after
}

// apply makes a move in a copy of s and checks the state after it.
func (e *explorer) apply(s state, m move) (state, string) {
	t := turn{scenario: e.scenario, fault: e.fault, s: &s, id: int(m.proc)}
	t.make(m)
	t.check()
	return s, t.broken
}

// number gives a state its number, in the order of being met.
func (e *explorer) number(s *state, parent uint32, by move) (n uint32, fresh bool) {
	sum := maphash.Comparable(e.seed, *s)
	if n, ok := e.seen[sum]; ok {
		return n, false
	}
	n = uint32(len(e.parent))
	e.seen[sum] = n
	e.parent = append(e.parent, parent)
	e.by = append(e.by, by)
	return n, true
}

// checkEnd checks a state that nothing follows.
func (e *explorer) checkEnd(s *state, at uint32) {
	t := turn{scenario: e.scenario, s: s}
	t.checkEnd()
	if t.broken != "" {
		e.violation(t.broken, e.path(at))
	}
}

// violation notes the first one. A level is gone through to its end, so there
// may be others, with as many steps.
func (e *explorer) violation(broken string, trace []move) {
	if e.report.broken == "" {
		e.report.broken, e.report.trace = broken, trace
	}
}

// path is the moves from the first state to state n.
func (e *explorer) path(n uint32) []move {
	if n == 0 {
		return nil
	}
	return append(e.path(e.parent[n]), e.by[n])
}

// checkCycles: without a cycle every run comes to an end, so nothing that is
// to happen before the end can be put off for ever. It takes away states
// that nothing not yet taken away leads to; what is left lies on cycles, or
// behind them.
func (e *explorer) checkCycles() {
	in := make([]uint32, len(e.parent))
	for _, to := range e.edges {
		in[to]++
	}
	free := []uint32{0}
	left := len(in)
	for len(free) > 0 {
		n := free[len(free)-1]
		free = free[:len(free)-1]
		left--
		for _, to := range e.edges[e.first[n]:e.first[n+1]] {
			if in[to]--; in[to] == 0 {
				free = append(free, to)
			}
		}
	}
	if left == 0 {
		return
	}
	for n := range in {
		if in[n] > 0 {
			e.violation("this state comes again and again", e.path(uint32(n)))
			return
		}
	}
}
