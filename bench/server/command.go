package server

import (
	"context"
	"io"

	"penstock/bench/attend"
	"penstock/bench/flags"
)

// Command is the server as a program. It prints, a line of JSON each, where it
// listens, the answers to the commands that come on stdin (package attend), and
// when ctx is done its tally. With -text, which is the default before a terminal,
// it prints words.
//
// The errors are flag.ErrHelp, flags.ErrBad, and those of Listen and Serve. A read of
// stdin may still be under way when it returns.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var cfg Config
	fs, text := flags.New("server", stdout, stderr)
	cfg.Bind(fs)
	if err := flags.Parse(fs, args, cfg.complete); err != nil {
		return err
	}
	srv, err := Listen(cfg)
	if err != nil {
		return err
	}
	a := attend.Asked{Name: fs.Name(), Text: *text, Words: stdin, Answers: stdout, Mistakes: stderr}
	return a.Serve(ctx, srv)
}
