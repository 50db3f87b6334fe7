package track

import (
	"fmt"
	"strings"
	"testing"

	"penstock/stack/tap/frame"
)

// A script is a connection told line by line: who (c, s), flags, sequence number, and
// if given acknowledgement and payload, then what is expected of the segment.
//
//	c SA 0 1 10 w=500 ws=7 -> replied drop =answered
//
// Numbers count from each side's first number; w is the window (1000), ws the shift
// that a SYN offers (none). Behind the arrow: the event (none), whether it is dropped
// (no), and the state afterwards, if it is of interest. "force" ends it by the proxy.
type script struct {
	rule  string
	lines string
}

// bases are first numbers of both sides: also where numbers wrap.
var bases = [][2]uint32{{0, 0}, {1000, 5000}, {1<<32 - 1, 1<<32 - 1}, {1<<32 - 2, 1<<32 - 101}, {1<<31 - 50, 1 << 31}, {1<<32 - 600, 7}}

func (s *script) run(t *testing.T) {
	for _, base := range bases {
		t.Run(fmt.Sprintf("%x", base), func(t *testing.T) {
			var c Conn
			s.from(t, &c, base)
		})
	}
}

func (s *script) from(t *testing.T, c *Conn, base [2]uint32) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(s.lines), "\n") {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		play(t, c, line, base)
	}
}

// told is a connection of which a script has told, with first numbers of zero.
func told(t *testing.T, lines string) *Conn {
	t.Helper()
	var c Conn
	(&script{lines: lines}).from(t, &c, [2]uint32{})
	return &c
}

func play(t *testing.T, c *Conn, line string, base [2]uint32) {
	t.Helper()
	do, want, _ := strings.Cut(line, "->")
	words := strings.Fields(do)
	e, drop := None, false
	switch {
	case len(words) == 0:
		return
	case words[0] == "force":
		c.ForceReset()
	default:
		from, s := parse(t, words, base)
		if c.state == 0 {
			c.Open(&s)
		} else {
			e, drop = c.Segment(from, &s)
		}
	}
	expect(t, c, line, strings.Fields(want), e, drop)
}

func expect(t *testing.T, c *Conn, line string, want []string, e Event, drop bool) {
	t.Helper()
	event, dropped := "none", false
	for _, w := range want {
		switch {
		case w == "drop":
			dropped = true
		case w[0] == '=':
			if c.State().String() != w[1:] {
				t.Errorf("%q: is %v", line, c.State())
			}
		default:
			event = w
		}
	}
	if e.String() != event || drop != dropped {
		t.Errorf("%q: %v, dropped %v (%v)", line, e, drop, c.State())
	}
}

func parse(t *testing.T, words []string, base [2]uint32) (from Side, s Segment) {
	t.Helper()
	if words[0] == "s" {
		from = Server
	}
	s = Segment{Window: 1000, WS: -1, Seq: base[from], Ack: base[1-from]}
	for _, f := range words[1] {
		s.Flags |= map[rune]uint8{'S': frame.SYN, 'A': frame.ACK, 'F': frame.FIN, 'R': frame.RST, 'P': frame.PSH, '-': 0}[f]
	}
	for i, w := range words[2:] {
		var n int64
		switch {
		case strings.HasPrefix(w, "w="):
			fmt.Sscan(w[2:], &s.Window)
			continue
		case strings.HasPrefix(w, "ws="):
			fmt.Sscan(w[3:], &s.WS)
			continue
		}
		if _, err := fmt.Sscan(w, &n); err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		switch i {
		case 0:
			s.Seq += uint32(n)
		case 1:
			s.Ack += uint32(n)
		case 2:
			s.Len = uint32(n)
		}
	}
	return from, s
}

func runScripts(t *testing.T, scripts []script) {
	for _, s := range scripts {
		t.Run(s.rule, s.run)
	}
}

// Beginnings of scripts.
const (
	shaken = `
		c S 0
		s SA 0 1 -> replied =answered
		c A 1 1  -> completed =established
		`
	talked = shaken + `
		c A 1 1 100
		s A 1 101 200
		c A 101 201
		`
	closed = talked + `
		c FA 101 201 -> finishing =closing
		s A 201 102
		s FA 201 102
		c A 102 202  -> ended =closed
		`
)
