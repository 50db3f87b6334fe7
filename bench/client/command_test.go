package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net"
	"strings"
	"testing"

	"penstock/bench/flags"
	"penstock/bench/server"
	"penstock/bench/tally"
)

// command runs it with arguments and tells what it wrote.
func command(t *testing.T, stdin io.Reader, args string) (stdout, stderr string, err error) {
	t.Helper()
	var out, bad bytes.Buffer
	err = Command(t.Context(), strings.Fields(args), stdin, &out, &bad)
	return out.String(), bad.String(), err
}

func TestCommand(t *testing.T) {
	addr, _ := serve(t, server.Config{Request: 64, Response: 256, Then: server.Close})
	stdout, stderr, err := command(t, strings.NewReader(""), "-total 20 -target "+addr.String())
	if err != nil || stderr != "" {
		t.Fatal(err, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var r tally.Client
	if len(lines) != 2 || lines[0] != `{"counting":true}` || json.Unmarshal([]byte(lines[1]), &r) != nil {
		t.Fatal(stdout)
	}
	exactly(t, r, tally.Served, 20)
	if r.Latency.Count() != 20 {
		t.Errorf("latency of %d", r.Latency.Count())
	}
}

// Words are for who sits before it.
func TestCommandText(t *testing.T) {
	addr, _ := serve(t, server.Config{Request: 64, Response: 256, Then: server.Close})
	stdout, stderr, err := command(t, strings.NewReader("begin\n"), "-text -wait -total 20 -target "+addr.String())
	if err != nil || stderr != "" || !strings.HasPrefix(stdout, "ready: a line begins it\ncounting\n20 counted in ") || !strings.Contains(stdout, "\n  served  20  100.00 %  ") {
		t.Error(err, stderr, stdout)
	}
	if strings.Contains(stdout, "{") {
		t.Error("there is JSON in it:", stdout)
	}
}

func TestCommandWaits(t *testing.T) {
	addr, _ := serve(t, server.Config{Request: 64, Response: 256, Then: server.Close})
	in, out := io.Pipe()
	stdin, begin := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Command(t.Context(), []string{"-wait", "-total", "3", "-target", addr.String()}, stdin, out, io.Discard)
		out.Close()
	}()
	lines := json.NewDecoder(in)
	var ready struct{ Ready bool }
	if err := lines.Decode(&ready); err != nil || !ready.Ready {
		t.Fatal(ready, err)
	}
	begin.Write([]byte("begin\n"))
	rest, _ := io.ReadAll(io.MultiReader(lines.Buffered(), in))
	if err := <-done; err != nil || !strings.Contains(string(rest), `"served":3`) {
		t.Error(err, string(rest))
	}
}

// Who waits for a line that never comes ends with an error, or with its context.
func TestCommandWaitsInVain(t *testing.T) {
	if stdout, _, err := command(t, strings.NewReader(""), "-wait -target 127.0.0.1:1"); !errors.Is(err, io.EOF) || stdout != `{"ready":true}`+"\n" {
		t.Error(stdout, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stdin, end := io.Pipe()
	defer end.Close()
	var out bytes.Buffer
	err := Command(ctx, []string{"-wait", "-target", "127.0.0.1:1"}, stdin, &out, io.Discard)
	if err != nil || !strings.Contains(out.String(), `"outcomes":{}`) || strings.Contains(out.String(), "counting") {
		t.Error(out.String(), err)
	}
}

func TestCommandHolds(t *testing.T) {
	addr := accepting(t, func(*net.TCPConn) {})
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	go func() {
		Command(ctx, strings.Fields("-work hold -request 0 -flows 5 -target "+addr.String()), nil, out, io.Discard)
		out.Close()
	}()
	lines := json.NewDecoder(in)
	var standing struct{ Standing int }
	if err := lines.Decode(&standing); err != nil || standing.Standing != 5 {
		t.Error(standing, err)
	}
	cancel()
	rest, _ := io.ReadAll(io.MultiReader(lines.Buffered(), in))
	if !strings.Contains(string(rest), `"served":5`) {
		t.Error(string(rest))
	}
}

func TestCommandMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"":                                     "-target is missing",
		"-target 127.0.0.1:1 -wrok short":      "flag provided but not defined: -wrok",
		"-target 127.0.0.1:1 x":                `unexpected argument "x"`,
		"-target 127.0.0.1:1 -work x -rate -1": "-rate -1",
	} {
		stdout, stderr, err := command(t, nil, args)
		if !errors.Is(err, flags.ErrBad) || !strings.Contains(stderr, want) || stdout != "" {
			t.Errorf("%s: %v, %q, %q", args, err, stdout, stderr)
		}
	}
	if _, stderr, err := command(t, nil, "-h"); !errors.Is(err, flag.ErrHelp) || !strings.Contains(stderr, "-patience SPAN") {
		t.Error(err, stderr)
	}
}
