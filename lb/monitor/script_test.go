package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs the stories in testdata; -rewrite regenerates the answers.
//
//	member interval=1s timeout=4s [seed=0]   a new member, at the story's time
//	run until=30s [ends=(good,refused)] [took=1ms] [show]
//	                          checks end like this, in turn; show: each of them
//	hold until=30s            no check can begin: the monitor has no room
//	change interval=2s timeout=7s
//	state
//
// An end is good, missed, or the reason of a failure.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			s.command(t, d)
			return s.out.String()
		})
	})
}

type script struct {
	m   *Member
	now time.Duration
	out strings.Builder
}

func (s *script) command(t *testing.T, d *datadriven.TestData) {
	switch d.Cmd {
	case "member":
		var seed uint64
		d.MaybeScanArgs(t, "seed", &seed)
		s.m = New(rule(t, d), s.now, seed)
		fmt.Fprintf(&s.out, "first check at %v\n", s.m.Wake())
	case "run":
		s.run(t, d)
	case "hold":
		until := duration(t, d, "until", 0)
		for s.m.Wake() < until && !s.due(s.m.Wake()) {
		}
		s.due(until)
	case "change":
		s.m.Change(rule(t, d), s.now)
	case "state":
		fmt.Fprintf(&s.out, "%+v at %v, check may take %v, doubtful %v\n", s.m.State(), s.now, s.m.Limit(), s.m.Doubtful())
	default:
		d.Fatalf(t, "unknown command")
	}
}

// run lets checks begin and end until a time.
func (s *script) run(t *testing.T, d *datadriven.TestData) {
	until, took := duration(t, d, "until", 0), duration(t, d, "took", time.Millisecond)
	ends := []string{"good"}
	if d.HasArg("ends") {
		for _, a := range d.CmdArgs {
			if a.Key == "ends" {
				ends = a.Vals
			}
		}
	}
	n := 0
	for {
		at := s.m.Wake()
		if s.m.checking {
			at = min(at, s.m.begun+took)
		}
		if at = max(at, s.now); at > until {
			break
		}
		if s.m.checking && at >= s.m.begun+took {
			s.now = at
			s.end(ends[n%len(ends)])
			n++
		} else if s.due(at) {
			if d.HasArg("show") {
				fmt.Fprintf(&s.out, "%v check\n", at)
			}
			s.m.Begin(at)
		}
	}
	s.now = until
	fmt.Fprintf(&s.out, "%d checks ended\n", n)
}

func (s *script) due(at time.Duration) bool {
	s.now = at
	due, changed := s.m.Tick(at)
	s.say(changed)
	return due
}

func (s *script) end(how string) {
	switch how {
	case "good":
		s.say(s.m.Good(s.now))
	case "missed":
		s.m.Missed(s.now)
	default:
		s.say(s.m.Failed(s.now, how))
	}
}

func (s *script) say(changed bool) {
	switch st := s.m.State(); {
	case changed && st.Up:
		fmt.Fprintf(&s.out, "%v up\n", s.now)
	case changed:
		fmt.Fprintf(&s.out, "%v down: %s\n", s.now, st.Reason)
	}
}

func rule(t *testing.T, d *datadriven.TestData) Rule {
	return Rule{Interval: duration(t, d, "interval", 0), Timeout: duration(t, d, "timeout", 0)}
}

func duration(t *testing.T, d *datadriven.TestData, key string, without time.Duration) time.Duration {
	s := ""
	d.MaybeScanArgs(t, key, &s)
	if s == "" {
		return without
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		d.Fatalf(t, "%s: %v", key, err)
	}
	return v
}
