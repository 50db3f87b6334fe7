package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"penstock/bench/client"
	"penstock/bench/flags"
	"penstock/bench/reflect"
	"penstock/bench/server"
	"penstock/bench/syn"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := start(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `usage: penbench COMMAND FLAGS
  list               the scenarios there are
  show SCENARIO      the file of one
  run SCENARIO...    play them with each proxy; all: every one
  report FILE...     tables and pages of what runs have written; adds up lines of clients and servers
  tables             fill the tables of BENCHMARKS.md
  client             connect to a target and measure
  server             answer, and check who asks
  syn                open handshakes by the million, without a socket, on a link of one's own
  reflect            answer them, in the same way
  core               measure the queue, without a socket
Each explains its flags with -h.
`

// command is one of them. It returns flags.ErrBad or errFailed when it has
// said why on stderr.
type command func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error

// silent is a command that asks nothing.
func silent(f func(context.Context, []string, io.Writer, io.Writer) error) command {
	return func(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) error {
		return f(ctx, args, stdout, stderr)
	}
}

var commands = map[string]command{
	"list":    silent(list),
	"show":    silent(show),
	"run":     silent(play),
	"report":  silent(reports),
	"tables":  silent(tables),
	"client":  client.Command,
	"server":  server.Command,
	"syn":     syn.Command,
	"reflect": reflect.Command,
	"core":    silent(core),
}

// start is the program: 0 when all went well, 1 when not, 2 for bad arguments.
func start(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 || commands[args[0]] == nil {
		fmt.Fprint(stderr, usage)
		return 2
	}
	err := commands[args[0]](ctx, args[1:], stdin, stdout, stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, flags.ErrBad):
		return 2
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintf(stderr, "penbench %s: interrupted\n", args[0])
	case !errors.Is(err, errFailed):
		fmt.Fprintf(stderr, "penbench %s: %v\n", args[0], err)
	}
	return 1
}

// errFailed is an error of which stderr or the output has told already.
var errFailed = errors.New("not all is well")

// parse reads flags, after which nothing may follow.
func parse(fs *flag.FlagSet, args []string, stderr io.Writer) error {
	words, err := mixed(fs, args, stderr)
	if err == nil && len(words) > 0 {
		return mistake(fs, stderr, fmt.Errorf("unexpected %q", words[0]))
	}
	return err
}

// mixed reads flags and other words, in any order.
func mixed(fs *flag.FlagSet, args []string, stderr io.Writer) (words []string, err error) {
	fs.SetOutput(stderr)
	for {
		if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, flags.ErrBad // the flag package has said why
		}
		if fs.NArg() == 0 {
			return words, nil
		}
		words = append(words, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

func mistake(fs *flag.FlagSet, stderr io.Writer, err error) error {
	fmt.Fprintf(stderr, "penbench %s: %v\n", fs.Name(), err)
	return flags.ErrBad
}
