package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
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
// The error is flag.ErrHelp if help was asked for and ErrFlags if the arguments
// are bad. Ended early by ctx it writes what it has.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var cfg Config
	fs := flag.NewFlagSet("penbench client", flag.ContinueOnError)
	fs.SetOutput(stderr)
	cfg.Bind(fs)
	wait := fs.Bool("wait", false, `write {"ready":true}, and begin when a line comes on standard input`)
	if err := parse(fs, args, &cfg); err != nil {
		return err
	}
	out := &lines{json: json.NewEncoder(stdout)}
	if *wait {
		out.write(map[string]bool{"ready": true})
		if err := line(ctx, stdin); err != nil {
			return err
		}
	}
	result, err := Run(ctx, cfg, Events{
		Standing: func(n int) { out.write(map[string]int{"standing": n}) },
		Counting: func() { out.write(map[string]bool{"counting": true}) },
	})
	if err != nil {
		return err
	}
	out.write(result)
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

// lines writes values, a line each, up to the first error.
type lines struct {
	json *json.Encoder
	err  error
}

func (l *lines) write(v any) {
	if l.err == nil {
		l.err = l.json.Encode(v)
	}
}

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
