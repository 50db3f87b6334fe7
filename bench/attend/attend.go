package attend

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os/signal"
	"sync"
	"syscall"

	"penstock/bench/tally"
)

// Server is who is asked. All but Serve may be called at any time, by any
// goroutine.
type Server interface {
	Addresses() []netip.AddrPort
	Count()
	Pause()
	Now() (open, accepted int64)

	// Serve works until ctx is done, and tells what was seen.
	Serve(ctx context.Context) (tally.Server, error)
}

// Asked is where the words come from, and where the answers go.
type Asked struct {
	Name     string // of the program, for mistakes
	Text     bool   // answers are words, in place of JSON
	Words    io.Reader
	Answers  io.Writer
	Mistakes io.Writer
}

// Serve serves until ctx is done. The end of the words means nothing, nor does a
// terminal that is not this job's to read: a server in the background of a shell
// goes on. A read of a word may still be under way when it returns.
func (a Asked) Serve(ctx context.Context, s Server) error {
	out := &lines{to: a.Answers, text: a.Text}
	out.print(listeningLine{s.Addresses()})
	signal.Ignore(syscall.SIGTTIN) // which would stop it at its first look at a word; reading fails instead
	go a.obey(s, out)
	sum, err := s.Serve(ctx)
	out.last(&sum)
	return err
}

// obey does what the lines say.
func (a Asked) obey(s Server, out *lines) {
	for in := bufio.NewScanner(a.Words); in.Scan(); {
		switch in.Text() {
		case "count":
			s.Count()
			out.print(countingLine{true})
		case "pause":
			s.Pause()
			out.print(countingLine{false})
		case "ask":
			open, accepted := s.Now()
			out.print(nowLine{open, accepted})
		default:
			fmt.Fprintf(a.Mistakes, "%s: command %.40q: count, pause or ask\n", a.Name, in.Text())
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
