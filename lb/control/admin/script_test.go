package admin

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.uber.org/goleak"

	"penstock/lb/dispatch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestScripts runs the stories in testdata; -rewrite regenerates the answers.
//
//	config                      flags: a place with nobody in it
//	do                          what happens, a line each:
//	    arrive VIRTUAL N [MEMBER]   clients come, persisted to member number MEMBER
//	    release N                   the oldest connections end
//	    fail N                      the oldest dials fail
//	    leave N                     the oldest waiters leave
//	    wait TIME
//	    offline NODE                node number NODE is taken offline
//	    drain
//	get PATH [method=M] [only=TEXT]   what is answered; only= lines with TEXT
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
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
	*fake
	clients uint32
}

func (s *script) command(d *datadriven.TestData) (out string, err error) {
	switch d.Cmd {
	case "config":
		s.fake, err = newFake(strings.Fields(d.Input))
		return "", err
	case "do":
		for line := range strings.Lines(d.Input) {
			if err := s.do(strings.Fields(line)); err != nil {
				return "", fmt.Errorf("%s: %w", line, err)
			}
		}
		return "", nil
	case "get":
		return s.get(d), nil
	}
	return "", fmt.Errorf("no such command")
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
		return s.arrivals(words[1:])
	case "release", "fail", "leave":
		for range n {
			map[string]func(){"release": s.release, "fail": s.fail, "leave": s.leave}[verb]()
		}
	case "wait":
		t, err := time.ParseDuration(arg)
		s.pass(t)
		return err
	case "offline":
		s.Loop(0).SetNodeState(s.now, dispatch.NodeID(n), dispatch.Offline)
	case "drain":
		s.draining = true
	default:
		return fmt.Errorf("no such word")
	}
	return nil
}

func (s *script) arrivals(words []string) error {
	for v := range s.c.Virtuals {
		if s.c.Virtuals[v].Name != words[0] {
			continue
		}
		n, member := 0, -1
		fmt.Sscan(words[1], &n)
		if len(words) > 2 {
			fmt.Sscan(words[2], &member)
		}
		for range n {
			s.clients++
			s.arrive(dispatch.VirtualID(v), dispatch.Sticky(member+1), s.clients)
		}
		return nil
	}
	return fmt.Errorf("no such virtual server")
}

func (s *script) get(d *datadriven.TestData) string {
	method, only := "GET", ""
	for _, a := range d.CmdArgs[1:] {
		switch a.Key {
		case "method":
			method = a.Vals[0]
		case "only":
			only = a.Vals[0]
		}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, d.CmdArgs[0].Key, nil)
	r.Host = "127.0.0.1:9000"
	guard(Handler(s.fake), true).ServeHTTP(w, r)
	var b strings.Builder
	if w.Code != 200 {
		fmt.Fprintln(&b, w.Code, strings.Join(w.Header()["Allow"], ""))
	}
	for line := range strings.Lines(w.Body.String()) {
		if strings.Contains(line, only) && (only == "" || line[0] != '#') {
			b.WriteString(line)
		}
	}
	return b.String()
}
