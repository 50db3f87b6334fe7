package admin_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"penstock/lb/control/admin"
	"penstock/lb/control/stage"
)

// TestScripts runs the stories in testdata; -rewrite regenerates the answers.
//
//	config                      flags: a place with nobody in it
//	do                          what happens, a line each: see stage.Do
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

type script struct{ *stage.Stage }

func (s *script) command(d *datadriven.TestData) (out string, err error) {
	switch d.Cmd {
	case "config":
		s.Stage, err = stage.New(strings.Fields(d.Input))
		return "", err
	case "do":
		for line := range strings.Lines(d.Input) {
			if err := s.Do(line); err != nil {
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
