package admin_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"penstock/lb/control/admin"
	"penstock/lb/control/stage"
)

// TestScripts runs the stories in testdata; -rewrite regenerates the answers.
//
//	config                      flags: a place with nobody in it
//	do                          what happens, a line each:
//	    arrive VIRTUAL N [CLIENT]   clients come, from 192.0.2.N or all from 192.0.2.CLIENT
//	    release N                   the oldest connections end
//	    fail N                      the oldest dials fail
//	    leave N                     the oldest waiters leave
//	    wait TIME
//	    monitor MEMBER up|down TEXT member number MEMBER's monitor says so
//	    conflict N                  another change comes first, N times
//	    drain
//	get PATH [only=TEXT|...]    what is answered; only= lines with one of the texts
//	ask [only=TEXT|...]         METHOD PATH [Content-Type], and a body in the next lines
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := s.command(d)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return out
		})
	})
}

type script struct {
	*stage.Stage
	clients int
}

func (s *script) command(d *datadriven.TestData) (out string, err error) {
	switch d.Cmd {
	case "config":
		s.clients = 0
		s.Stage, err = stage.New(strings.Fields(d.Input))
		return "", err
	case "do":
		for line := range strings.Lines(d.Input) {
			if err := s.do(strings.Fields(line)); err != nil {
				return "", fmt.Errorf("%s: %w", line, err)
			}
		}
		return "", nil
	case "get":
		return s.ask("GET", d.CmdArgs[0].Key, "", "", only(d)), nil
	case "ask":
		line, body, _ := strings.Cut(d.Input, "\n")
		words := append(strings.Fields(line), "application/json")
		return s.ask(words[0], words[1], body, words[2], only(d)), nil
	}
	return "", fmt.Errorf("no such command")
}

func only(d *datadriven.TestData) string {
	for _, a := range d.CmdArgs {
		if a.Key == "only" {
			return a.Vals[0]
		}
	}
	return ""
}

func (s *script) do(words []string) error {
	verb, arg := words[0], ""
	if len(words) > 1 {
		arg = words[1]
	}
	n := 0
	fmt.Sscan(arg, &n)
	switch verb {
	case "arrive":
		s.arrivals(words[1:])
	case "release", "fail", "leave":
		for range n {
			map[string]func(){"release": s.Release, "fail": s.Fail, "leave": s.Leave}[verb]()
		}
	case "wait":
		t, err := time.ParseDuration(arg)
		s.Pass(t)
		return err
	case "monitor":
		s.Monitor(n, words[2] == "up", strings.Join(words[3:], " "))
	case "conflict":
		s.conflict(n)
	case "drain":
		s.Drain()
	default:
		return fmt.Errorf("no such word")
	}
	return nil
}

func (s *script) arrivals(words []string) {
	n, from := 0, 0
	fmt.Sscan(words[1], &n)
	if len(words) > 2 {
		fmt.Sscan(words[2], &from)
	}
	for range n {
		s.clients++
		if from == 0 {
			s.Arrive(words[0], stage.Client(s.clients))
		} else {
			s.Arrive(words[0], stage.Client(from))
		}
	}
}

// conflict lets n changes come between a change and what it is based on.
func (s *script) conflict(n int) {
	s.Before = func() {
		if n == 0 {
			return
		}
		n--
		before := s.Before
		s.Before = nil
		c := s.Config()
		s.Apply(c, c.Clone())
		s.Before = before
	}
}

func (s *script) ask(method, path, body, kind, only string) string {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	admin.Handler(s.Stage, s.Stage).ServeHTTP(w, r)
	var b strings.Builder
	if w.Code != 200 {
		fmt.Fprintln(&b, w.Code, w.Header().Get("Allow")+w.Header().Get("Location"))
	}
	for line := range strings.Lines(w.Body.String()) {
		if line[0] != '#' && slices.ContainsFunc(strings.Split(only, "|"), func(s string) bool { return strings.Contains(line, s) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}
