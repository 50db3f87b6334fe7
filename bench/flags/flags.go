// Package flags reads what the commands of penbench are told that nothing but flags
// may follow:
//
//	fs, text := flags.New("client", stdout, stderr)
//	cfg.Bind(fs)
//	err := flags.Parse(fs, args, cfg.complaint)
package flags

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"penstock/bench/term"
)

// ErrBad says that the arguments are bad. What is wrong with them has been written.
var ErrBad = errors.New("bad arguments")

// New makes the flags of `penbench NAME`, which writes lines of JSON, or words with
// -text.
func New(name string, stdout, stderr io.Writer) (fs *flag.FlagSet, text *bool) {
	fs = flag.NewFlagSet("penbench "+name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	text = fs.Bool("text", term.Is(stdout), "write words in place of JSON, before a terminal unless it is false")
	return fs, text
}

// Parse reads the arguments, and writes what is wrong with them, or with what they
// come to, if complaint has something to say. The error is flag.ErrHelp if help was
// asked for, or ErrBad.
func Parse(fs *flag.FlagSet, args []string, complaint func() error) error {
	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err != nil {
		return ErrBad // the flag package has said why
	}
	if err = complaint(); fs.NArg() > 0 {
		err = errors.Join(fmt.Errorf("unexpected argument %q", fs.Arg(0)), err)
	}
	if err != nil {
		fmt.Fprintf(fs.Output(), "%s: %v\n", fs.Name(), err)
		return ErrBad
	}
	return nil
}
