package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"sync"
)

// ErrFlags is returned by Command for bad flags, after it has said why.
var ErrFlags = errors.New("bad flags")

// Command is the server as a program. It prints, a line of JSON each, where it
// listens, the answers to the commands that come on stdin, and when ctx is done
// its tally.
//
//	count   count anew (Server.Count): {"counting":true}
//	ask     {"open":3,"accepted":17}
//
// The end of stdin means nothing. The errors are flag.ErrHelp, ErrFlags, and
// those of Listen and Serve. A read of stdin may still be under way when it
// returns.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	cfg, err := parse(args, stderr)
	if err != nil {
		return err
	}
	srv, err := Listen(cfg)
	if err != nil {
		return err
	}
	out := &lines{to: json.NewEncoder(stdout)}
	out.print(listeningLine{srv.Addresses()})
	go obey(srv, stdin, out, stderr)
	tally, err := srv.Serve(ctx)
	out.last(tally)
	return err
}

func parse(args []string, stderr io.Writer) (cfg Config, err error) {
	fs := flag.NewFlagSet("server", flag.ContinueOnError)
	fs.SetOutput(stderr)
	cfg.Bind(fs)
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
		case "ask":
			open, accepted := srv.Now()
			out.print(nowLine{open, accepted})
		default:
			fmt.Fprintf(stderr, "penbench server: command %.40q: count or ask\n", in.Text())
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

// lines prints whole lines, and none after the last.
type lines struct {
	mu   sync.Mutex
	to   *json.Encoder
	over bool
}

func (l *lines) print(v any) { l.write(v, false) }
func (l *lines) last(v any)  { l.write(v, true) }

func (l *lines) write(v any, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.to.Encode(v) // if nobody reads, ctx tells
	}
	l.over = last || l.over
}
