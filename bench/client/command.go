package client

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"penstock/bench/tally"
	"penstock/bench/term"
)

// ErrFlags says that the arguments are bad. What is wrong with them has been
// written.
var ErrFlags = errors.New("bad arguments")

// Command is `penbench client`: it runs what the arguments say and writes lines
// of JSON to stdout, the last of them a tally.Client:
//
//	{"ready":true}     with -wait; goes on when a line comes on stdin
//	{"standing":N}     hold: so many connections stand
//	{"counting":true}  the measured time has begun
//
// With -text, which is the default before a terminal, all of them are words.
//
// The error is flag.ErrHelp if help was asked for and ErrFlags if the arguments
// are bad. Ended early by ctx it writes what it has.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var cfg Config
	fs := flag.NewFlagSet("penbench client", flag.ContinueOnError)
	fs.SetOutput(stderr)
	cfg.Bind(fs)
	wait := fs.Bool("wait", false, `write {"ready":true}, and begin when a line comes on standard input`)
	text := fs.Bool("text", term.Is(stdout), "write words in place of JSON, before a terminal unless it is false")
	if err := parse(fs, args, &cfg); err != nil {
		return err
	}
	out := &lines{to: stdout, text: *text}
	if *wait {
		out.write(readyLine{true})
		if err := line(ctx, stdin); err != nil {
			return err
		}
	}
	result, err := Run(ctx, cfg, Events{
		Standing: func(n int) { out.write(standingLine{n}) },
		Counting: func() { out.write(countingLine{true}) },
	})
	if err != nil {
		return err
	}
	out.write(&result)
	return out.err
}

// parse reads the arguments into cfg, and writes what is wrong.
func parse(fs *flag.FlagSet, args []string, cfg *Config) error {
	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err != nil {
		return ErrFlags // the flag package has said why
	}
	if err = cfg.complaint(); fs.NArg() > 0 {
		err = errors.Join(fmt.Errorf("unexpected argument %q", fs.Arg(0)), err)
	}
	if err != nil {
		fmt.Fprintf(fs.Output(), "%s: %v\n", fs.Name(), err)
		return ErrFlags
	}
	return nil
}

// lines writes what is said, up to the first error.
type lines struct {
	to   io.Writer
	text bool
	err  error
}

func (l *lines) write(what tally.Said) {
	if l.err == nil {
		l.err = tally.Say(l.to, l.text, what)
	}
}

// The lines that it writes before its tally.
type (
	readyLine struct {
		Ready bool `json:"ready"`
	}
	standingLine struct {
		Standing int `json:"standing"`
	}
	countingLine struct {
		Counting bool `json:"counting"`
	}
)

func (readyLine) Text(w io.Writer)      { fmt.Fprintln(w, "ready: a line begins it") }
func (l standingLine) Text(w io.Writer) { fmt.Fprintf(w, "standing: %d\n", l.Standing) }
func (countingLine) Text(w io.Writer)   { fmt.Fprintln(w, "counting") }

// line waits for a line. The end of ctx is no error: the run that follows ends
// at once.
func line(ctx context.Context, from io.Reader) error {
	came := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(from).ReadString('\n')
		came <- err
	}()
	select {
	case err := <-came:
		if err != nil {
			return fmt.Errorf("waiting for a line to begin: %w", err)
		}
	case <-ctx.Done():
	}
	return nil
}
