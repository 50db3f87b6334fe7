package main

import (
	"bytes"
	"context"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	for _, test := range []struct {
		xs   []float64
		want spread
	}{
		{nil, spread{}},
		{[]float64{3}, spread{3, 3, 3}},
		{[]float64{5, 1, 3}, spread{3, 1, 5}},
		{[]float64{4, 1, 9, 2}, spread{3, 1, 9}},
	} {
		before := slices.Clone(test.xs)
		if got := spreadOf(test.xs); got != test.want {
			t.Errorf("spreadOf(%v) = %+v, want %+v", test.xs, got, test.want)
		}
		if !slices.Equal(before, test.xs) {
			t.Errorf("%v became %v: the order is that of the rounds", before, test.xs)
		}
	}
}

// The median of ratios is not the ratio of medians: rounds stay together.
func TestRatiosAreByRound(t *testing.T) {
	got := ratios([]float64{10, 40, 90}, []float64{10, 20, 30})
	if want := []float64{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := ratios([]float64{1, 2}, []float64{0, 4, 8}); !slices.Equal(got, []float64{0.5}) {
		t.Errorf("zero and missing rounds: %v", got)
	}
}

func TestShort(t *testing.T) {
	for want, x := range map[string]float64{"0": 0, "12345": 12345.4, "12.3": 12.34, "1.23": 1.234, "0.012": 0.0123} {
		if got := short(x); got != want {
			t.Errorf("short(%v) = %s, want %s", x, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	all := works(options{})
	got, err := choose(all, "bulk-1,short")
	if err != nil || len(got) != 2 || got[0].name != "short" || got[1].name != "bulk-1" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := choose(all, "short,fast"); err == nil || !strings.Contains(err.Error(), "fast") {
		t.Errorf("error %v", err)
	}
}

func TestReport(t *testing.T) {
	w := work{name: "bulk-1", about: "server to client", metrics: []metric{
		{name: "Gb/s", more: true, goal: 1.2}, {name: "CPU s/GB", goal: 0.6}, {name: "B/pair", goal: 512, abs: true},
	}}
	rows := []*row{
		{Peer: "penstock", Figures: map[string][]float64{
			"Gb/s": {20, 30, 10}, "CPU s/GB": {0.1, 0.1, 0.2}, "B/pair": {300, 300, 300}, proxyCores: {1, 1, 1}, lostMetric: {0, 2, 0}}},
		{Peer: "haproxy", Figures: map[string][]float64{
			"Gb/s": {10, 10, 10}, "CPU s/GB": {0.1, 0.2, 0.1}, "B/pair": {3000, 3000, 3000}, proxyCores: {1, 1, 1}}},
		{Peer: "haproxy-copy", Failure: "no answer\n", Figures: map[string][]float64{"Gb/s": {20}, "CPU s/GB": {1}}},
		{Peer: "direct", Figures: map[string][]float64{"Gb/s": {99, 99, 99}, clientCores: {0.5}, serverCores: {0.25}}},
	}
	var out bytes.Buffer
	r := reportOn(w, rows)
	r.print(&out)
	const want = `bulk-1: server to client
                         Gb/s                 CPU s/GB             B/pair             lost  cores: proxy, client, server
  penstock               20.0 (10.0..30.0)    0.10 (0.10..0.20)    300 (300..300)     2     1.00
  haproxy                10.0 (10.0..10.0)    0.10 (0.10..0.20)    3000 (3000..3000)  0     1.00
  haproxy-copy           20.0 (20.0..20.0)    1.00 (1.00..1.00)    -                  0     
  direct                 99.0 (99.0..99.0)    -                    -                  0     0.50, 0.25
  ratio to haproxy       2.00 (1.00..3.00)    1.00 (0.50..2.00) *  0.10 (0.10..0.10) *
  ratio to haproxy-copy  1.00 (1.00..1.00) *  0.10 (0.10..0.10)    -
  goal                   >= 1.20x             <= 0.60x             B/pair <= 512
  haproxy-copy failed: no answer

`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !r.failed() {
		t.Error("a failure and losses, and all is well?")
	}
}

func TestCommands(t *testing.T) {
	s := setup{
		dir:    t.TempDir(),
		listen: netip.MustParseAddrPort("127.0.0.1:1"), server: netip.MustParseAddrPort("127.0.0.1:2"),
		limit: 3, connections: 400,
	}
	argv, err := penstock{"bin/penstock"}.Command(s)
	if got := strings.Join(argv, " "); err != nil || !strings.Contains(got, "-listen 127.0.0.1:1 -member 127.0.0.1:2,connection-limit=3 ") {
		t.Error(got, err)
	}
	for _, way := range ways {
		if _, err := (haproxy{"haproxy", way}).Command(s); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(filepath.Join(s.dir, "haproxy.cfg"))
		for _, line := range []string{"maxconn 500", "bind 127.0.0.1:1", "server s 127.0.0.1:2 maxconn 3", way.global + "defaults", way.defaults + "listen"} {
			if !strings.Contains(string(text), line) {
				t.Errorf("%s: no %q in\n%s", way.name, line, text)
			}
		}
	}
}

func TestChildSaysLastWordsAndEnds(t *testing.T) {
	c, err := start(t.Context(), "sh", "-c", `trap 'echo "\"bye\""; exit' TERM; echo 1; while :; do sleep 0.01; done`)
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	var n int
	if err := c.read(&n); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	c.stop()
	var word string
	if err := c.read(&word); err != nil || word != "bye" {
		t.Error(word, err)
	}
	c.end()
	if err := c.cmd.Process.Signal(os.Interrupt); err == nil {
		t.Error("it still runs")
	}
}

func TestChildThatFailsIsQuoted(t *testing.T) {
	c, err := start(t.Context(), "sh", "-c", "echo no such file >&2; exit 1")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := c.read(&n); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-work", "none"}, {"-rounds", "0"}, {"-seconds", "x"}, {"-nonsense"}} {
		if code := run(t.Context(), args, io.Discard, io.Discard); code != 2 {
			t.Errorf("%v: exit %d", args, code)
		}
	}
}

// builtBench is a bench with its load program, without a network of its own.
func builtBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{options: options{rounds: 1, seconds: 100 * time.Millisecond, idle: 50, parked: 50}, dir: t.TempDir(), port: 25000, progress: io.Discard}
	b.penbench = filepath.Join(b.dir, "penbench")
	if out, err := exec.Command("go", "build", "-o", b.dir+"/", "penstock/cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return b
}

// Every work runs, on the way without a proxy or, where a proxy is measured,
// with one.
func TestWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("half a second of warming for each")
	}
	b := builtBench(t)
	for _, w := range works(b.options) {
		var p peer = direct{}
		if w.limit > 0 || w.name == "idle" {
			p = penstock{filepath.Join(b.dir, "penstock")}
		}
		r := newRow(p)
		b.once(t.Context(), w, p, r)
		if r.Failure != "" || total(r.Figures[lostMetric]) > 0 || r.Figures[w.metrics[0].name][0] <= 0 {
			t.Errorf("%s: %+v", w.name, r)
		}
	}
}

// A proxy that cannot start is a failure with its words, and not the end.
func TestProxyThatFails(t *testing.T) {
	b := builtBench(t)
	bad := filepath.Join(b.dir, "bad")
	if err := os.WriteFile(bad, []byte("#!/bin/sh\necho unknown flag >&2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := newRow(direct{})
	b.once(ctx, works(b.options)[0], penstock{bad}, r)
	if !strings.Contains(r.Failure, "unknown flag") {
		t.Errorf("%q", r.Failure)
	}
}
