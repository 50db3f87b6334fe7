package pass

import "testing"

// The steps of Put and Take that others can see, one at a time, in all orders in
// which two writers with two frames each and a taker can make them. Nobody may
// sleep on while there are frames for it, and each fault that could be made here
// must show.

type fault int

const (
	none      fault = iota
	asksFirst       // Put looks at asleep, then publishes
	noLook          // Take sets asleep and does not look again
	setsLast        // Take looks again, then sets asleep
)

const writers, frames = 2, 2

// moment is a state of all. What the code has in atomics comes first.
type moment struct {
	tail, head [writers]uint8
	asleep     bool
	bell       bool // a wake that was not answered yet

	writer [writers]writer
	taker  taker
}

type writer struct {
	at   step
	left uint8
	seen bool // asleep, for the fault
}

type taker struct {
	at         step
	turn, idle uint8
	turns      uint8 // Take is called for other reasons so often
}

type step uint8

const (
	publish step = iota // the writer's
	look
	clear_
	ring_
	late  // publish, for the fault
	begin // the taker's
	scan
	set
	recheck0
	recheck1
	rise
	sleep
)

// explore makes all steps from a moment on, and returns one in which all came to
// rest with frames left.
func explore(f fault) (stuck *moment, n int) {
	first := moment{asleep: true, taker: taker{at: begin, turns: 2}}
	for w := range first.writer {
		first.writer[w].left = frames
	}
	seen, open := map[moment]bool{first: true}, []moment{first}
	for len(open) > 0 {
		m := open[len(open)-1]
		open = open[:len(open)-1]
		next := m.steps(f)
		if len(next) == 0 && m.head != m.tail {
			return &m, len(seen)
		}
		for _, s := range next {
			if !seen[s] {
				seen[s] = true
				open = append(open, s)
			}
		}
	}
	return nil, len(seen)
}

func (m *moment) steps(f fault) (next []moment) {
	for w := range m.writer {
		if m.writer[w].left > 0 {
			s := *m
			s.write(w, f)
			next = append(next, s)
		}
	}
	if m.taker.at != sleep || m.bell {
		s := *m
		s.take(f)
		next = append(next, s)
	} else if m.taker.turns > 0 {
		s := *m
		s.taker.turns--
		s.taker.at = begin
		next = append(next, s)
	}
	return next
}

func (m *moment) write(w int, f fault) {
	p := &m.writer[w]
	done := func() { *p = writer{left: p.left - 1} }
	switch p.at {
	case publish:
		if f == asksFirst {
			p.at, p.seen = late, m.asleep
			return
		}
		m.tail[w]++
		p.at = look
	case late:
		m.tail[w]++
		if p.at = clear_; !p.seen {
			done()
		}
	case look:
		if p.at = clear_; !m.asleep {
			done()
		}
	case clear_:
		if p.at = ring_; !m.asleep {
			done()
		}
		m.asleep = false
	case ring_:
		m.bell = true
		done()
	}
}

func (m *moment) take(f fault) {
	t := &m.taker
	switch t.at {
	case sleep:
		m.bell = false
		t.at = begin
	case begin:
		if t.at = scan; m.asleep {
			t.at = sleep
		}
	case scan:
		w := t.turn
		t.turn = (w + 1) % writers
		t.idle++
		if m.head[w] != m.tail[w] {
			m.head[w], t.idle = m.tail[w], 0
		}
		if t.idle == writers {
			t.at, t.idle = set, 0
			if f == setsLast {
				t.at = recheck0
			}
		}
	case set:
		m.asleep = true
		if t.at = recheck0; f == noLook || f == setsLast {
			t.at = sleep
		}
	case recheck0, recheck1:
		w := t.at - recheck0
		switch {
		case m.head[w] != m.tail[w]:
			if t.at = rise; f == setsLast {
				t.at = scan
			}
		case w+1 < writers:
			t.at++
		default:
			if t.at = sleep; f == setsLast {
				t.at = set
			}
		}
	case rise:
		m.asleep = false
		t.at = scan
	}
}

func TestNobodySleepsOn(t *testing.T) {
	if stuck, n := explore(none); stuck != nil {
		t.Errorf("stuck: %+v", *stuck)
	} else {
		t.Logf("%d moments", n)
	}
	for _, f := range []fault{asksFirst, noLook, setsLast} {
		if stuck, _ := explore(f); stuck == nil {
			t.Errorf("fault %d does not show", f)
		}
	}
}
