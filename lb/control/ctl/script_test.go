package ctl

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"penstock/lb/control/admin"
	"penstock/lb/control/config"
	"penstock/lb/control/stage"
)

// TestScripts runs the stories in testdata against a real admin interface;
// -rewrite regenerates what is printed.
//
//	config      flags: a place with nobody in it
//	do          what happens, a line each: see stage.Do
//	ctl         arguments; what is printed, errors too, and the exit code if it is not 0
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		s := &script{t: t}
		defer s.close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := s.command(d)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return out
		})
	})
}

// script is a stage, its admin interface and where that listens.
type script struct {
	*stage.Stage
	t      *testing.T
	server *admin.Server
	done   chan error
	dir    string
}

func (s *script) command(d *datadriven.TestData) (out string, err error) {
	switch d.Cmd {
	case "config":
		return "", s.open(strings.Fields(d.Input))
	case "do":
		for line := range strings.Lines(d.Input) {
			if err := s.Do(line); err != nil {
				return "", err
			}
		}
		return "", nil
	case "ctl":
		return s.ctl(strings.Fields(d.Input)), nil
	}
	d.Fatalf(s.t, "no such command")
	return "", nil
}

func (s *script) open(flags []string) (err error) {
	s.close()
	if s.Stage, err = stage.New(flags); err != nil {
		return err
	}
	// Where it is looked for by default, for this user.
	s.dir = s.t.TempDir()
	s.server, err = admin.Open(admin.Config{
		Address: "unix:" + filepath.Join(s.dir, "penstock", "admin.sock"), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	s.done = make(chan error, 1)
	go func() { s.done <- s.server.Serve(s.Stage, s.Stage) }()
	return nil
}

func (s *script) close() {
	if s.server != nil {
		s.server.Close()
		<-s.done
	}
}

func (s *script) ctl(args []string) string {
	var b bytes.Buffer
	if code := Run(args, &b, &b, config.Env{UID: 1000, RuntimeDir: s.dir}); code != 0 {
		b.WriteString("exit " + count(int64(code)) + "\n")
	}
	return b.String()
}
