package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/netip"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"penstock/bench/flags"
	"penstock/bench/tally"
)

// program runs Command. Its commands go in, its lines come out.
type program struct {
	t      *testing.T
	stdin  io.WriteCloser
	stdout *bufio.Scanner
	stderr *bytes.Buffer
	stop   context.CancelFunc
	done   chan error
}

func startProgram(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	p := &program{t, stdin, bufio.NewScanner(stdout), new(bytes.Buffer), stop, make(chan error, 1)}
	go func() {
		err := Command(ctx, args, in, out, p.stderr)
		in.Close()
		out.Close()
		p.done <- err
	}()
	t.Cleanup(func() { stop(); stdin.Close(); stdout.Close() })
	return p
}

// line reads one into v.
func (p *program) line(v any) {
	p.t.Helper()
	if !p.stdout.Scan() {
		p.t.Fatalf("no line: %v", p.stdout.Err())
	}
	if err := json.Unmarshal(p.stdout.Bytes(), v); err != nil {
		p.t.Fatalf("%s: %v", p.stdout.Text(), err)
	}
}

func (p *program) say(line string) { io.WriteString(p.stdin, line+"\n") }

func TestProgram(t *testing.T) {
	p := startProgram(t, "-listen", "127.0.0.1:0", "-listen", "127.0.0.1:0", "-request", "8", "-response", "8")
	var began answer
	if p.line(&began); len(began.Listening) != 2 {
		t.Fatalf("%+v", began)
	}
	ask := func(token int64) {
		c, err := net.Dial("tcp", began.Listening[1].String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		send(t, c, request(8, token))
		response(t, c, 8, token)
	}
	ask(1)
	p.say("count")
	var counting answer
	if p.line(&counting); !counting.Counting {
		t.Error("not counting")
	}
	ask(3)
	ask(2)
	p.say("what?")
	p.say("ask")
	var now answer
	if p.line(&now); now.Open != 3 || now.Accepted != 3 {
		t.Errorf("%+v", now)
	}
	p.say("pause")
	if p.line(&counting); counting.Counting {
		t.Error("still counting")
	}
	p.stdin.Close() // means nothing
	ask(4)
	p.stop()
	var sum tally.Server
	p.line(&sum)
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	if sum.Members[0].Accepted != 0 || sum.Members[1].Accepted != 4 || sum.Requests != 4 || sum.Order.Tokens != 2 || sum.Order.Inversions != 1 || sum.Wait.Count() != 2 {
		t.Errorf("%+v", sum)
	}
	if p.stdout.Scan() {
		t.Errorf("one more line: %s", p.stdout.Text())
	}
	if said := p.stderr.String(); !strings.Contains(said, `"what?": count, pause or ask`) {
		t.Errorf("said %q", said)
	}
}

// answer is what a program says before its tally.
type answer struct {
	Listening      []netip.AddrPort
	Counting       bool
	Open, Accepted int64
}

// Words are for who sits before it.
func TestProgramText(t *testing.T) {
	p := startProgram(t, "-text", "-listen", "127.0.0.1:0")
	next := func() string {
		if !p.stdout.Scan() {
			t.Fatal("no line", p.stdout.Err())
		}
		return p.stdout.Text()
	}
	address, found := strings.CutPrefix(next(), "listening on ")
	if _, err := netip.ParseAddrPort(address); err != nil || !found {
		t.Error(err)
	}
	if !signal.Ignored(syscall.SIGTTIN) {
		t.Error("as a job in the background it would be stopped")
	}
	p.say("count")
	if got := next(); got != "counting anew" {
		t.Error(got)
	}
	p.say("ask")
	if got := next(); got != "0 open, 0 accepted" {
		t.Error(got)
	}
	p.stop()
	if got := next(); !strings.HasPrefix(got, "member ") {
		t.Error(got)
	}
	if got := next(); !strings.HasPrefix(got, address+"  none   0 ") {
		t.Error(got)
	}
	for p.stdout.Scan() { // the rest is package tally's
	}
}

// Who is never told to count has counted from the start.
func TestProgramWithoutCount(t *testing.T) {
	p := startProgram(t, "-listen=127.0.0.1:0", "-request=8", "-response=8", "-limit=1", "-then=close")
	var began answer
	p.line(&began)
	for range 3 {
		c, err := net.Dial("tcp", began.Listening[0].String())
		if err != nil {
			t.Fatal(err)
		}
		send(t, c, request(8, 5))
		response(t, c, 8, 5)
		over(t, c)
		c.Close()
	}
	p.stop()
	var sum tally.Server
	if p.line(&sum); sum.Requests != 3 || sum.Order.Tokens != 3 || sum.Wait.Count() != 3 {
		t.Errorf("%+v", sum)
	}
}

func TestProgramFails(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	p := startProgram(t, "-listen", busy.Addr().String())
	if err := <-p.done; err == nil || err == flags.ErrBad || !strings.Contains(err.Error(), busy.Addr().String()) {
		t.Error(err)
	}
}
