package main

import (
	"fmt"
	"io"
	"strings"
)

var waitNames = [...]string{"none", "waiting", "granted", "expired", "gone"}

var placeNames = [...]string{"nowhere", "in its ring", "in the return ring", "queued"}

var operNames = [...]string{"enabled", "disabled", "offline"}

var phaseNames = [...]string{"absent", "arriving", "parked", "up", "over"}

var pcNames = [...]string{
	"idle", "read flags", "read strict", "take", "put rest of lease into shard", "read flags", "read strict", "give",
	"look at flags", "push", "push to return ring", "latch", "try baton", "pass", "let go of baton",
	"lower: set strict", "lower: set flag", "change word", "lower: sweep",
	"read the pool's flag", "make record", "ask member", "claim probe", "end probe",
	"own sweep: swap shard", "own sweep: add to word", "clear due time",
}

var passNames = [...]string{
	"drain ring", "check head", "swap change of limit", "set strict", "set STRICT", "change word",
	"swap shard", "add to word", "clear strict", "clear STRICT", "take", "return", "grant: CAS",
	"grant: post", "expire: post", "expire: store", "set pool's flag", "set WAITING",
	"clear pool's flag", "clear WAITING", "budget used up",
	"ask member", "claim probe", "end probe", "look source up", "make record", "move to another queue",
	"force: set strict", "force: set STRICT", "force: take", "publish what is due",
}

var eventNames = [...]string{
	"", "arrives", "closes", "dial fails", "leaves", "outcome from inbox", "resumes", "",
	"is answered by the server", "runs what is due", "time passes",
}

// printTrace replays moves and prints, for each, what it changed.
func printTrace(w io.Writer, r report) {
	e := &explorer{scenario: r.sc, fault: r.fault}
	s := newState(r.sc)
	fmt.Fprintf(w, "%s: %s\n", r.sc.name, r.broken)
	for i, m := range r.trace {
		after, _ := e.apply(s, m)
		fmt.Fprintf(w, "%4d  %-60s %s\n", i+1, r.sc.describe(&s, m), r.sc.changes(&s, &after))
		s = after
	}
	fmt.Fprintf(w, "      %s\n", r.broken)
}

// describe says what a move in s is about to do.
func (sc *scenario) describe(s *state, m move) string {
	who := fmt.Sprintf("loop %d", m.proc)
	if int(m.proc) == sc.operator() {
		who = "operator"
	}
	p := &s.proc[m.proc]
	switch {
	case m.do == operates:
		line := sc.script[p.op]
		return fmt.Sprintf("%s: %s", who, line)
	case m.conn >= 0:
		return fmt.Sprintf("%s: connection %d %s", who, m.conn, eventNames[m.do])
	case m.do == passes:
		return eventNames[passes]
	case m.do == resumes || m.do == runs:
		return who + " " + eventNames[m.do]
	case p.pc == inPass:
		return fmt.Sprintf("%s: pass: %s%s", who, passNames[s.home.pc], about(sc, &s.home.grip, s.home.pc == takeWord))
	}
	return fmt.Sprintf("%s: %s%s", who, pcNames[p.pc], about(sc, &p.grip, p.pc == takeStrict || p.pc == takeToken))
}

// about names the connection and the counter a step is about.
func about(sc *scenario, g *grip, taking bool) string {
	if g.conn < 0 {
		return ""
	}
	text := fmt.Sprintf(" (connection %d", g.conn)
	switch {
	case taking:
		text += ", " + sc.counters[sc.counterAt(g.conn, g.member, g.level)].name
	case g.level > 0:
		text += ", " + sc.counters[sc.counterAt(g.conn, g.member, g.level-1)].name
	}
	return text + ")"
}

func (c change) String() string {
	switch c.do {
	case limitBy:
		return fmt.Sprintf("changes limit %d by %+d", c.arg, c.by)
	case memberUp:
		return fmt.Sprintf("has member %d up", c.arg)
	case memberDown:
		return fmt.Sprintf("has member %d down", c.arg)
	case setState:
		return fmt.Sprintf("has member %d %s", c.arg, operNames[c.by])
	case overstay:
		return "time at a member is over"
	}
	return "time passes"
}

// changes lists what others can see that differs between two states.
func (sc *scenario) changes(a, b *state) string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for c := range sc.counters {
		name := sc.counters[c].name
		if a.word[c] != b.word[c] {
			note("%s word %d", name, b.word[c])
		}
		for l := range sc.loops {
			if a.shard[c][l] != b.shard[c][l] {
				note("%s shard[%d] %d", name, l, b.shard[c][l])
			}
		}
	}
	if a.flags != b.flags || a.waiting != b.waiting || a.strict != b.strict {
		note("flags %b pools %b strict %b", b.flags, b.waiting, b.strict)
	}
	if a.latch != b.latch {
		note("baton %s", latchString(b.latch))
	}
	if a.time != b.time || a.due != b.due {
		note("time %d due %d", b.time, b.due)
	}
	if a.health != b.health || a.record != b.record || a.depth != b.depth || a.limit != b.limit {
		note("health %v records %v depths %v limits %v", b.health, b.record, b.depth, b.limit)
	}
	if a.home.blocked != b.home.blocked {
		note("blocked %b", b.home.blocked)
	}
	for i := range sc.clients {
		if x, y := describeConn(&a.conn[i]), describeConn(&b.conn[i]); x != y {
			note("%d: %s", i, y)
		}
	}
	return strings.Join(out, "; ")
}

func describeConn(c *conn) string {
	if c.phase != parked {
		return phaseNames[c.phase]
	}
	text := waitNames[c.wait]
	if c.place != nowhere {
		text += ", " + placeNames[c.place]
	}
	if c.sticky > 0 {
		text += fmt.Sprintf(", for member %d", c.sticky-1)
	}
	if c.inbox {
		text += ", in inbox"
	}
	if c.dead {
		text += ", client left"
	}
	return text
}

func latchString(latch uint8) string {
	var names []string
	for i, name := range [...]string{"ARRIVED", "CAPACITY", "SWEEP", "HELD"} {
		if latch&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "0"
	}
	return strings.Join(names, "|")
}
