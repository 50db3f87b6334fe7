package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The main thread is kept for good: children die with the thread that started
// them, and a network namespace belongs to a thread.
func init() { runtime.LockOSThread() }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags.
type options struct {
	works              string
	rounds             int
	seconds            time.Duration
	penstock, haproxy  string
	parked, idle       int
	congestion, report string
}

func bind(fs *flag.FlagSet) *options {
	var o options
	fs.StringVar(&o.works, "work", "short,keepalive,bulk-1,bulk-16,parked,idle", "what to measure, comma separated")
	fs.IntVar(&o.rounds, "rounds", 5, "rounds of each work")
	fs.Func("seconds", "time that a round counts (default 3)", func(text string) (err error) {
		o.seconds, err = time.ParseDuration(text + "s")
		return err
	})
	o.seconds = 3 * time.Second
	fs.StringVar(&o.penstock, "penstock", "bin/penstock", "`path` of penstock")
	fs.StringVar(&o.haproxy, "haproxy", "/usr/sbin/haproxy", "`path` of HAProxy")
	fs.IntVar(&o.parked, "parked", 10000, "clients that wait; needs as many descriptors in the proxy")
	fs.IntVar(&o.idle, "idle", 7000, "idle pairs; need twice as many")
	fs.StringVar(&o.congestion, "congestion", "cubic", "congestion control, as root; empty: the machine's")
	fs.StringVar(&o.report, "json", "", "write every figure to this `file` too")
	return &o
}

// run is the program: 0, 1 if something failed or was lost, 2 for bad arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("versus", flag.ContinueOnError)
	fs.SetOutput(stderr)
	o := bind(fs)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	chosen, err := choose(works(*o), o.works)
	if err == nil && (o.rounds < 1 || o.seconds <= 0 || o.parked < 1 || o.idle < 1) {
		err = errors.New("rounds, seconds, parked and idle must be above 0")
	}
	if err != nil {
		fmt.Fprintf(stderr, "versus: %v\n", err)
		return 2
	}
	b := &bench{options: *o, port: 20000, progress: io.Discard}
	if terminal(stderr) {
		b.progress = stderr
	}
	ok, err := b.all(ctx, chosen, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "versus: %v\n", err)
	}
	if err != nil || !ok {
		return 1
	}
	return 0
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// choose picks works by name, in their own order.
func choose(all []work, names string) (chosen []work, err error) {
	wanted := strings.Split(names, ",")
	for _, w := range all {
		if i := slices.Index(wanted, w.name); i >= 0 {
			chosen = append(chosen, w)
			wanted = slices.Delete(wanted, i, i+1)
		}
	}
	if len(wanted) > 0 {
		return nil, fmt.Errorf("no such work: %s", strings.Join(wanted, ","))
	}
	return chosen, nil
}

// all prepares, does the works and prints. It says whether all went well.
func (b *bench) all(ctx context.Context, ws []work, stdout io.Writer) (ok bool, err error) {
	if b.dir, err = os.MkdirTemp("", "versus"); err != nil {
		return false, err
	}
	defer os.RemoveAll(b.dir)
	if err := b.build(ctx); err != nil {
		return false, err
	}
	network := b.enter()
	fmt.Fprintf(stdout, "%s; %d rounds of %v, median (least..most)\n\n", network, b.rounds, b.seconds)
	var reports []report
	ok = true
	for _, w := range ws {
		r := reportOn(w, b.run(ctx, w))
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		r.print(stdout)
		reports = append(reports, r)
		ok = ok && !r.failed()
	}
	return ok, b.save(network, reports)
}

// build makes the load program, before the network is left behind.
func (b *bench) build(ctx context.Context) error {
	b.penbench = filepath.Join(b.dir, "penbench")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", b.penbench, "penstock/cmd/penbench")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build penbench: %w\n%s", err, out)
	}
	for _, path := range []string{b.penstock, b.haproxy} {
		if _, err := exec.LookPath(path); err != nil {
			return err
		}
	}
	return nil
}

// enter goes to a network of its own if it may, and says where it is.
func (b *bench) enter() string {
	where := "own network namespace"
	if err := private(b.congestion); err != nil {
		where = fmt.Sprintf("the machine's network (%v)", err)
	}
	congestion, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	average, _ := os.ReadFile("/proc/loadavg")
	others, _, _ := strings.Cut(string(average), " ")
	return fmt.Sprintf("%s, %s, %d cores; load average before: %s",
		where, strings.TrimSpace(string(congestion)), runtime.NumCPU(), others)
}

// save writes the reports with every round's figures.
func (b *bench) save(network string, reports []report) error {
	if b.report == "" {
		return nil
	}
	text, err := json.MarshalIndent(map[string]any{
		"network": network, "rounds": b.rounds, "seconds": b.seconds.Seconds(), "works": reports,
	}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(b.report, append(text, '\n'), 0o644)
}
