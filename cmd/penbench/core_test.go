package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/bench/flags"
)

// smallest is a crowd that has everything and takes no time.
var smallest = coreConfig{waiting: leastWaiting, loops: 1, limit: 3, steady: leastSteady}

// untilServed runs the crowd's loops until so many clients were served.
func untilServed(t *testing.T, c *crowd, n int64) {
	t.Helper()
	for served := int64(0); served < n; {
		got, _, err := c.serve(t.Context(), func(ctx context.Context) { wait(ctx, time.Millisecond) })
		if err != nil {
			t.Fatal(err)
		}
		served += got
	}
}

// The crowd is served many times over, in order (each lane checks whose turn it
// is), by one loop and several, with rules and without; as many wait as before.
// In the end nobody is left.
func TestCoreKeepsTheBooks(t *testing.T) {
	for _, loops := range []int{1, 3} {
		for _, rules := range []rules{{}, {fair: true}, {classes: true}, {fair: true, classes: true}} {
			t.Run(fmt.Sprintf("loops=%d,%v", loops, &rules), func(t *testing.T) {
				cfg := smallest
				cfg.loops, cfg.rules = loops, rules
				c := newCrowd(cfg)
				step := func(do func(context.Context, figures) error) {
					t.Helper()
					if err := do(t.Context(), figures{}); err != nil {
						t.Fatal(err)
					}
				}
				step(c.weigh)
				untilServed(t, c, 3*leastWaiting)
				if m := c.d.Member(0); m.InUse != 3 || m.Most != 3 {
					t.Errorf("%+v, want 3 in use, and never more", m)
				}
				step(c.expire)
				step(c.leave)
				q := c.d.PoolQueue(0)
				if e, a := q.Expired.Load(), q.Abandoned.Load(); e != leastWaiting || a != leastWaiting {
					t.Errorf("%d expired and %d left, want %d each", e, a, leastWaiting)
				}
				step(c.end)
			})
		}
	}
}

// Who is served before somebody who came first is named.
func TestCoreSeesWhoIsOutOfTurn(t *testing.T) {
	l := newLane(newCrowd(smallest).d.Loop(0), false)
	err := errors.Join(l.inTurn(0), l.inTurn(1), l.inTurn(3))
	if err == nil || err.Error() != "out of order: client 3 before client 2" {
		t.Error(err)
	}
	l = newLane(newCrowd(smallest).d.Loop(0), true)
	if err := errors.Join(l.inTurn(5), l.inTurn(0), l.inTurn(5+senders)); err != nil {
		t.Errorf("senders may overtake each other: %v", err)
	}
	if l.inTurn(5+3*senders) == nil {
		t.Error("a sender's third client may overtake its second")
	}
}

// The books do not balance if somebody else has taken a slot, or left.
func TestCoreSeesWrongCounts(t *testing.T) {
	c := newCrowd(smallest)
	if err := c.weigh(t.Context(), figures{}); err != nil {
		t.Fatal(err)
	}
	if err := c.expect(3, leastWaiting+1); err == nil || !strings.Contains(err.Error(), "1000 waiting, want 3 and 1001") {
		t.Error(err)
	}
	c.lanes[0].held = c.lanes[0].held[1:]
	if err := c.rest(leastWaiting); err == nil || err.Error() != "2 slots are held, want 3" {
		t.Error(err)
	}
}

func TestCorePrintsFigures(t *testing.T) {
	var out bytes.Buffer
	if err := core(t.Context(), strings.Fields("-waiting 1000 -loops 2 -limit 1 -for 300ms"), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d lines: %s", n, &out)
	}
	var printed struct{ Figures map[string]float64 }
	if err := json.Unmarshal(out.Bytes(), &printed); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"B/waiter", "GC cycle ms", "GC pause p99 µs", "RSS B/waiter", "admissions/s", "allocs/admission", "expiry ns", "leave ns",
	}
	if got := slices.Sorted(maps.Keys(printed.Figures)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, name := range []string{"B/waiter", "GC cycle ms", "GC pause p99 µs", "admissions/s", "expiry ns", "leave ns"} {
		if printed.Figures[name] <= 0 {
			t.Errorf("%s: %v", name, printed.Figures[name])
		}
	}
}

func TestCoreMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"-waiting 999":        "-waiting 999: must be 1000 to 10000000",
		"-waiting 10000001":   "-waiting 10000001: must be 1000 to 10000000",
		"-loops 0":            "-loops 0: must be 1 to 64",
		"-limit -1":           "-limit -1: must be 1 to 100000",
		"-for 9ms":            "-for 9ms: must be 10ms to 10m0s",
		"-loops 65 -limit 0":  "-limit 0: must be", // all mistakes, not the first
		"-rules class,codel":  `"codel": must be queue-fair, class, both, or nothing`,
		"-waiting many":       `"many"`,
		"-waiting 1000 extra": `unexpected "extra"`,
	} {
		var errs bytes.Buffer
		err := core(t.Context(), strings.Fields(args), io.Discard, &errs)
		if !errors.Is(err, flags.ErrBad) || !strings.Contains(errs.String(), want) {
			t.Errorf("core %s: %v: %s, want %s", args, err, &errs, want)
		}
	}
}

func TestCoreRules(t *testing.T) {
	var r rules
	for text, want := range map[string]rules{
		"":                 {},
		"class":            {classes: true},
		"queue-fair":       {fair: true},
		"class,queue-fair": {fair: true, classes: true},
		"queue-fair class": {fair: true, classes: true},
	} {
		if err := r.Set(text); err != nil || r != want {
			t.Errorf("%q: %+v %v, want %+v", text, r, err, want)
		}
	}
	if s := r.String(); r.Set(s) != nil || r.String() != s {
		t.Errorf("%q is not read again", s)
	}
}

// Each step ends when it is told to, and says so.
func TestCoreEndsEarly(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for name, step := range map[string]func(*crowd, context.Context, figures) error{
		"weigh": (*crowd).weigh, "admit": (*crowd).admit, "collect": (*crowd).collect, "expire": (*crowd).expire, "leave": (*crowd).leave,
	} {
		c := newCrowd(smallest) // what a step that ended early leaves is of no use to another
		if name != "weigh" {
			if err := c.weigh(t.Context(), figures{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := step(c, ctx, figures{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var out bytes.Buffer
	if err := core(ctx, []string{"-waiting", "1000"}, &out, io.Discard); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("%v, printed %q", err, &out)
	}
}

func TestQuantile(t *testing.T) {
	of := func(counts ...uint64) *metrics.Float64Histogram {
		return &metrics.Float64Histogram{Counts: counts, Buckets: []float64{0, 1, 2, 3}}
	}
	before, after := of(90, 5, 0), of(90, 104, 1) // 99 in the second, 1 in the third
	for q, want := range map[float64]float64{0: 2, 0.5: 2, 0.99: 2, 1: 3} {
		if got := quantile(before, after, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if got := quantile(after, after, 0.99); got != 0 {
		t.Errorf("%v of nothing", got)
	}
}
