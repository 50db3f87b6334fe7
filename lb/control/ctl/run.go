package ctl

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"penstock/lb/control/config"
)

// Exit codes.
const (
	exitOK      = 0
	exitRefused = 1 // by the proxy, or it can't be reached
	exitUsage   = 2 // the command line is wrong
)

// misuse is a mistake in the command line.
type misuse struct{ what string }

// Error is for people.
func (m *misuse) Error() string { return m.what }

func misused(format string, args ...any) error { return &misuse{fmt.Sprintf(format, args...)} }

// options are the flags. They may stand anywhere.
type options struct {
	admin     string
	tokenFile string
	output    string
	help      bool
}

// Run does what the arguments behind "penstock ctl" say and returns the exit
// code.
func Run(args []string, stdout, stderr io.Writer, env config.Env) int {
	o, words, err := parse(args)
	var c *command
	if err == nil {
		c, err = choose(o, words)
	}
	if err == nil && (c == nil || o.help || words[0] == "help") {
		help(stdout, c)
		return exitOK
	}
	if err == nil {
		err = do(c, words[1:], o, stdout, env)
	}
	return report(err, c, stderr)
}

// choose finds the command; nil if help on all of them is asked for.
func choose(o options, words []string) (*command, error) {
	switch {
	case len(words) == 0 && o.help, len(words) == 1 && words[0] == "help":
		return nil, nil
	case len(words) == 0:
		return nil, misused("no command; allowed are %s", strings.Join(commandNames(), ", "))
	case words[0] == "help":
		words = words[1:]
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == words[0] })
	if i < 0 {
		return nil, misused("no command %q; allowed are %s", words[0], strings.Join(commandNames(), ", "))
	}
	return &commands[i], nil
}

func do(c *command, words []string, o options, stdout io.Writer, env config.Env) error {
	r, err := c.parse(words)
	if err != nil {
		return err
	}
	s, err := connect(o, env)
	if err != nil {
		return err
	}
	defer s.close()
	s.out, s.json = stdout, o.output == "json"
	return r(s)
}

// report says what went wrong.
func report(err error, c *command, stderr io.Writer) int {
	var m *misuse
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &m):
		fmt.Fprintf(stderr, "penstock ctl: %v\n", err)
		if c != nil {
			fmt.Fprintf(stderr, "usage:\n%s", c.usage())
		} else {
			fmt.Fprintln(stderr, "penstock ctl help shows how it is used")
		}
		return exitUsage
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "penstock ctl: %s\n", strings.TrimSuffix(line, "\n"))
	}
	return exitRefused
}

// parse tells flags from words.
func parse(args []string) (o options, words []string, err error) {
	f := flag.NewFlagSet("ctl", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.admin, "admin", "", "")
	f.StringVar(&o.tokenFile, "token-file", "", "")
	f.StringVar(&o.output, "o", "text", "")
	for {
		err := f.Parse(args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			o.help = true
		case err != nil:
			return o, nil, misused("%v; allowed flags are -admin, -token-file, -o, -h", err)
		}
		if f.NArg() == 0 {
			break
		}
		words, args = append(words, f.Arg(0)), f.Args()[1:]
	}
	if o.output != "text" && o.output != "json" {
		return o, nil, misused("-o %q: allowed is text|json", o.output)
	}
	return o, words, nil
}
