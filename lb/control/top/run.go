package top

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"penstock/lb/control/config"
	"penstock/lb/control/ctl"
)

// Exit codes, as ctl's.
const (
	exitOK    = 0
	exitError = 1 // the proxy is not to be reached, or the screen is gone
	exitUsage = 2 // the command line is wrong
)

const usage = `Shows a proxy that runs, live.

  penstock top [-admin ADDR] [-token-file FILE] [-interval 1s] [-once]

  -admin ADDR       where the proxy's admin interface listens: unix:PATH or
                    IP:PORT (default: where it listens by default)
  -token-file FILE  the proxy's token, for an interface that asks for one
  -interval TIME    how often it asks: 100ms or more (default 1s)
  -once             prints one frame of plain text and ends; it takes one
                    interval, since what happens per second needs two looks

Keys
  up, down, 1 to 9  choose the pool whose members and waiters are shown
  p                 pause: the frame stands still until p again
  q, Ctrl-C         quit

Where the output is no terminal, frames of plain text follow each other.
NO_COLOR=1 takes the colours away; states can be told apart without them.
`

// options are the flags.
type options struct {
	admin, tokenFile string
	interval         time.Duration
	once             bool
}

const shortestInterval = 100 * time.Millisecond

// Run does what the arguments behind "penstock top" say and returns the exit
// code.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, env config.Env) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(stdout, usage)
		return exitOK
	}
	if err == nil {
		err = show(o, stdin, stdout, env)
	}
	var m *ctl.Misuse
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &m):
		fmt.Fprintf(stderr, "penstock top: %v\npenstock top -h shows how it is used\n", err)
		return exitUsage
	}
	fmt.Fprintln(stderr, "penstock top:", plain(err.Error()))
	return exitError
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("top", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.admin, "admin", "", "")
	f.StringVar(&o.tokenFile, "token-file", "", "")
	f.DurationVar(&o.interval, "interval", time.Second, "")
	f.BoolVar(&o.once, "once", false, "")
	err = f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return o, err
	case err != nil:
		return o, misused("%v; allowed flags are -admin, -token-file, -interval, -once, -h", err)
	case f.NArg() > 0:
		return o, misused("%q: allowed are flags only", f.Arg(0))
	case o.interval < shortestInterval:
		return o, misused("-interval %v: allowed is %v or more", o.interval, shortestInterval)
	}
	return o, nil
}

func misused(format string, args ...any) error { return ctl.Misused(format, args...) }

// show watches until somebody ends it.
func show(o options, stdin io.Reader, stdout io.Writer, env config.Env) error {
	c, err := ctl.Connect(o.admin, o.tokenFile, env)
	if err != nil {
		return err
	}
	defer c.Close()
	w := newWatch(c, o)
	// Before the first question, since the proxy may let us wait for an answer.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, ends...)
	defer signal.Stop(signals)
	w.signals = signals
	if t := terminalOf(stdin, stdout); t != nil && !o.once {
		return w.live(t)
	}
	w.screen = &paper{stdout}
	return w.run()
}
