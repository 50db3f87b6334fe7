package server

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os/signal"
	"sync"
	"syscall"

	"penstock/bench/tally"
	"penstock/bench/term"
)

// ErrFlags is returned by Command for bad flags, after it has said why.
var ErrFlags = errors.New("bad flags")

// Command is the server as a program. It prints, a line of JSON each, where it
// listens, the answers to the commands that come on stdin, and when ctx is done
// its tally.
//
//	count   count anew (Server.Count): {"counting":true}
//	pause   count no more of order, waits and handovers (Server.Pause): {"counting":false}
//	ask     {"open":3,"accepted":17}
//
// With -text, which is the default before a terminal, it prints words.
//
// The end of stdin means nothing, nor does a terminal that is not this job's to
// read: "penbench server ... &" in a shell goes on. The errors are flag.ErrHelp,
// ErrFlags, and those of Listen and Serve. A read of stdin may still be under way
// when it returns.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	text := term.Is(stdout)
	cfg, err := parse(args, &text, stderr)
	if err != nil {
		return err
	}
	srv, err := Listen(cfg)
	if err != nil {
		return err
	}
	out := &lines{to: stdout, text: text}
	out.print(listeningLine{srv.Addresses()})
	signal.Ignore(syscall.SIGTTIN) // which would stop it at its first look at stdin; reading fails instead
	go obey(srv, stdin, out, stderr)
	sum, err := srv.Serve(ctx)
	out.last(&sum)
	return err
}

// parse reads the arguments; text is its own default.
func parse(args []string, text *bool, stderr io.Writer) (cfg Config, err error) {
	fs := flag.NewFlagSet("server", flag.ContinueOnError)
	fs.SetOutput(stderr)
	cfg.Bind(fs)
	fs.BoolVar(text, "text", *text, "print words in place of JSON, before a terminal unless it is false")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return cfg, err
	} else if err != nil {
		return cfg, ErrFlags
	}
	if fs.NArg() > 0 {
		err = fmt.Errorf("unexpected %q: all arguments are flags", fs.Arg(0))
	}
	if err = errors.Join(err, cfg.complete()); err != nil {
		fmt.Fprintf(stderr, "penbench server: %v\n", err)
		return cfg, ErrFlags
	}
	return cfg, nil
}

// obey does what the lines of stdin say.
func obey(srv *Server, stdin io.Reader, out *lines, stderr io.Writer) {
	for in := bufio.NewScanner(stdin); in.Scan(); {
		switch in.Text() {
		case "count":
			srv.Count()
			out.print(countingLine{true})
		case "pause":
			srv.Pause()
			out.print(countingLine{false})
		case "ask":
			open, accepted := srv.Now()
			out.print(nowLine{open, accepted})
		default:
			fmt.Fprintf(stderr, "penbench server: command %.40q: count, pause or ask\n", in.Text())
		}
	}
}

// The lines that it prints besides its tally.
type (
	listeningLine struct {
		Listening []netip.AddrPort `json:"listening"`
	}
	countingLine struct {
		Counting bool `json:"counting"`
	}
	nowLine struct {
		Open     int64 `json:"open"`
		Accepted int64 `json:"accepted"`
	}
)

func (l listeningLine) Text(w io.Writer) {
	for _, ap := range l.Listening {
		fmt.Fprintf(w, "listening on %v\n", ap)
	}
}
func (l countingLine) Text(w io.Writer) {
	if l.Counting {
		fmt.Fprintln(w, "counting anew")
	} else {
		fmt.Fprintln(w, "counting no more")
	}
}
func (l nowLine) Text(w io.Writer) { fmt.Fprintf(w, "%d open, %d accepted\n", l.Open, l.Accepted) }

// lines prints whole lines, and none after the last.
type lines struct {
	// Constant after creation.
	to   io.Writer
	text bool

	mu   sync.Mutex // guards over, and that one at a time writes
	over bool
}

func (l *lines) print(what tally.Said) { l.write(what, false) }
func (l *lines) last(what tally.Said)  { l.write(what, true) }

func (l *lines) write(what tally.Said, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		tally.Say(l.to, l.text, what) // if nobody reads, ctx tells
	}
	l.over = last || l.over
}
