package reflect

import (
	"context"
	"io"

	"penstock/bench/attend"
	"penstock/bench/flags"
)

// Command is `penbench reflect`: a server as package attend has it. The error is
// flag.ErrHelp if help was asked for, flags.ErrBad, or one of Listen and Serve.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var cfg Config
	fs, text := flags.New("reflect", stdout, stderr)
	cfg.Bind(fs)
	if err := flags.Parse(fs, args, cfg.complaint); err != nil {
		return err
	}
	r, err := Listen(cfg)
	if err != nil {
		return err
	}
	a := attend.Asked{Name: fs.Name(), Text: *text, Words: stdin, Answers: stdout, Mistakes: stderr}
	return a.Serve(ctx, r)
}
