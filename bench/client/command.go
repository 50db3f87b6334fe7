package client

import (
	"context"
	"io"

	"penstock/bench/flags"
	"penstock/bench/tally"
)

// Command is `penbench client`: it runs what the arguments say and writes lines
// of JSON to stdout, the last of them a tally.Client:
//
//	{"ready":true}     with -wait; goes on when a line comes on stdin
//	{"standing":N}     hold: so many connections stand
//	{"counting":true}  the measured time has begun
//
// With -text, which is the default before a terminal, all of them are words.
//
// The error is flag.ErrHelp if help was asked for and flags.ErrBad if the
// arguments are bad. Ended early by ctx it writes what it has.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var cfg Config
	fs, text := flags.New("client", stdout, stderr)
	cfg.Bind(fs)
	wait := fs.Bool("wait", false, `write {"ready":true}, and begin when a line comes on standard input`)
	if err := flags.Parse(fs, args, cfg.complaint); err != nil {
		return err
	}
	out := &tally.Lines{To: stdout, Text: *text}
	if *wait {
		out.Write(tally.Ready{Ready: true})
		if err := tally.Wait(ctx, stdin); err != nil {
			return err
		}
	}
	result, err := Run(ctx, cfg, Events{
		Standing: func(n int) { out.Write(tally.Standing{Standing: n}) },
		Counting: func() { out.Write(tally.Counting{Counting: true}) },
	})
	if err != nil {
		return err
	}
	out.Write(&result)
	return out.Err
}
