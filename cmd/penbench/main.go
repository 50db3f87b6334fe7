package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"penstock/bench/load"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `usage: penbench client|server FLAGS
  client   connect to a target and measure
  server   answer
Each explains its flags with -h.
`

// run is the program: 0 when all went well, 1 when not, 2 for bad arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	commands := map[string]func(context.Context, []string, io.Writer, io.Writer) error{
		"client": client,
		"server": server,
	}
	if len(args) == 0 || commands[args[0]] == nil {
		fmt.Fprint(stderr, usage)
		return 2
	}
	err := commands[args[0]](ctx, args[1:], stdout, stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errFlags):
		return 2 // the flag package has said why
	}
	fmt.Fprintf(stderr, "penbench %s: %v\n", args[0], err)
	return 1
}

var errFlags = errors.New("bad flags")

func parse(fs *flag.FlagSet, args []string, stderr io.Writer) error {
	fs.SetOutput(stderr)
	err := fs.Parse(args)
	if err == nil && fs.NArg() > 0 {
		fmt.Fprintf(stderr, "penbench %s: unexpected %q\n", fs.Name(), fs.Arg(0))
		return errFlags
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return errFlags
	}
	return err
}

// client runs the client and prints its result.
func client(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var cfg load.Config
	fs := flag.NewFlagSet("client", flag.ContinueOnError)
	fs.TextVar(&cfg.Target, "target", netip.AddrPort{}, "`ADDR` to connect to")
	work := fs.String("work", string(load.Short), "short, keep, bulk or hold")
	sources := fs.Int("sources", 8, "connect from this many addresses, from 127.0.0.2 on; 0: the kernel's choice")
	watch := fs.String("watch", "", "process `IDS`, comma separated, whose CPU time to take too")
	fs.IntVar(&cfg.Flows, "flows", 64, "connections at a time")
	fs.IntVar(&cfg.Loops, "loops", 1, "event loops, a thread each")
	fs.IntVar(&cfg.Request, "request", 64, "bytes of a request; hold: 0 asks nothing")
	fs.IntVar(&cfg.Response, "response", 256, "bytes of a response")
	fs.DurationVar(&cfg.Warm, "warm", 500*time.Millisecond, "time before counting")
	fs.DurationVar(&cfg.For, "for", 3*time.Second, "time to count")
	fs.IntVar(&cfg.Total, "total", 0, "end after so many, instead of a time")
	fs.IntVar(&cfg.Rate, "rate", 5000, "hold: connections opened a second")
	fs.DurationVar(&cfg.ConnectTimeout, "connect-timeout", 5*time.Second, "give up a connect after this time")
	if err := parse(fs, args, stderr); err != nil {
		return err
	}
	cfg.Work = load.Work(*work)
	cfg.Sources = loopback(*sources)
	pids, err := numbers(*watch)
	if err != nil {
		return fmt.Errorf("-watch: %w", err)
	}
	cfg.Watch = pids

	out := json.NewEncoder(stdout)
	var res load.Result
	if cfg.Work == load.Idle {
		res, err = load.Hold(ctx, cfg, func(n int) { out.Encode(standing{n}) })
	} else {
		res, err = load.Run(ctx, cfg)
	}
	if err != nil {
		return err
	}
	return out.Encode(res)
}

// standing is the line that says that hold has all that it will have.
type standing struct {
	Standing int `json:"standing"`
}

// loopback returns n addresses of this machine besides 127.0.0.1.
func loopback(n int) (ips []netip.Addr) {
	for ip := netip.AddrFrom4([4]byte{127, 0, 0, 2}); len(ips) < n; ip = ip.Next() {
		ips = append(ips, ip)
	}
	return ips
}

func numbers(list string) (ns []int, err error) {
	for word := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		ns = append(ns, n)
	}
	return ns, nil
}

// server runs the server until ctx is done and prints its counts.
func server(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var cfg load.ServerConfig
	fs := flag.NewFlagSet("server", flag.ContinueOnError)
	fs.TextVar(&cfg.Listen, "listen", netip.AddrPort{}, "`ADDR` to listen on")
	then := fs.String("then", string(load.Stay), "after a response: stay, close, or stream for ever instead of one")
	fs.IntVar(&cfg.Loops, "loops", 1, "event loops, a thread each")
	fs.IntVar(&cfg.Request, "request", 64, "bytes of a request")
	fs.IntVar(&cfg.Response, "response", 256, "bytes of a response")
	if err := parse(fs, args, stderr); err != nil {
		return err
	}
	cfg.Then = load.Then(*then)
	srv, err := load.Listen(cfg)
	if err != nil {
		return err
	}
	out := json.NewEncoder(stdout)
	out.Encode(listening{srv.Address()})
	counts, err := srv.Serve(ctx)
	out.Encode(counts)
	return err
}

// listening is the line that says that the server can be connected to.
type listening struct {
	Listening netip.AddrPort `json:"listening"`
}
