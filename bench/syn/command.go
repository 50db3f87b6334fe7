package syn

import (
	"context"
	"encoding/json"
	"io"

	"penstock/bench/flags"
	"penstock/bench/tally"
)

// Command is `penbench syn`: it runs what the arguments say and writes the lines
// that package client writes, the last of them a tally.Client with Handshakes.
// With -sink it measures itself, and writes
//
//	{"figures":{"SYN/s":...,...}}
//
// The error is flag.ErrHelp if help was asked for and flags.ErrBad if the
// arguments are bad.
func Command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var cfg Config
	fs, text := flags.New("syn", stdout, stderr)
	cfg.Bind(fs)
	wait := fs.Bool("wait", false, `write {"ready":true}, and begin when a line comes on standard input; keep: ask when another one comes after {"standing":...}`)
	sink := fs.String("sink", "", "measure this program itself, against a `DEVICE` that it makes: veth, whose other end drops all, or tap, which it reads")
	complaint := func() error {
		if *sink != "" {
			return cfg.Check() // where to is its own
		}
		return cfg.complaint()
	}
	if err := flags.Parse(fs, args, complaint); err != nil {
		return err
	}
	if *sink != "" {
		figures, err := cfg.measure(ctx, *sink)
		if err != nil {
			return err
		}
		return json.NewEncoder(stdout).Encode(map[string]map[string]float64{"figures": figures})
	}
	out := &tally.Lines{To: stdout, Text: *text}
	asks := make(chan struct{})
	result, err := Run(ctx, cfg, Events{
		Ready: func() error {
			if !*wait {
				return nil
			}
			out.Write(tally.Ready{Ready: true})
			return tally.Wait(ctx, stdin)
		},
		Standing: func(n int) {
			out.Write(tally.Standing{Standing: n})
			if cfg.Work == Keep && *wait {
				go func() {
					tally.Wait(ctx, stdin) // who can't say more has said all
					close(asks)
				}()
			} else if cfg.Work == Keep {
				close(asks)
			}
		},
		Counting: func() { out.Write(tally.Counting{Counting: true}) },
		Asks:     asks,
	})
	if err != nil {
		return err
	}
	out.Write(&result)
	return out.Err
}
