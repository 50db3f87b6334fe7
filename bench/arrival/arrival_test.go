package arrival

import (
	"flag"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

var _ flag.Value = new(Schedule)

func must(t testing.TB, text string) Schedule {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// times are the arrivals of a schedule, the first most of them.
func times(s Schedule, seed uint64, i, n, most int) (all []int64) {
	for a := s.Arrivals(seed, i, n); len(all) < most; {
		at, ok := a.Next()
		if !ok {
			break
		}
		all = append(all, at)
	}
	return all
}

func TestExactTimes(t *testing.T) {
	const ms = int64(time.Millisecond)
	for text, want := range map[string][]int64{
		"constant:1000/5ms":   {0, ms, 2 * ms, 3 * ms, 4 * ms},
		"constant:1000/5.1ms": {0, ms, 2 * ms, 3 * ms, 4 * ms, 5 * ms},
		"constant:3/1s":       {0, 333_333_333, 666_666_666},
		"constant:0.5/6s":     {0, 2000 * ms, 4000 * ms},
		"burst:2@10ms/25ms":   {0, 0, 10 * ms, 10 * ms, 20 * ms, 20 * ms},
		"burst:3@1s/1ns":      {0, 0, 0},
		"ramp:0..2/4s":        {0, 2000 * ms, 2828_427_124, 3464_101_615}, // t²/4 = n
		"ramp:2..0/4s":        {0, 535_898_384, 1171_572_875, 2000 * ms},  // 2t - t²/4 = n
		"ramp:2..2/2s":        {0, 500 * ms, 1000 * ms, 1500 * ms},
		"constant:10/100ms":   {0},
		"constant:100/20ms,burst:2@1s/1s,constant:2/1s": {0, 10 * ms, 20 * ms, 20 * ms, 1020 * ms, 1520 * ms},
	} {
		if got := times(must(t, text), 1, 0, 1, 100); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %d\nwant %d", text, got, want)
		}
	}
}

func TestExactCounts(t *testing.T) {
	for text, want := range map[string]int{
		"constant:12345/7s":              7 * 12345,
		"ramp:1000..3000/2s":             2 * 2000,
		"ramp:3000..1000/2s":             2 * 2000,
		"burst:100@7ms/700ms":            100 * 100,
		"constant:1000/1s,ramp:0..10/1s": 1000 + 5,
	} {
		if got := len(times(must(t, text), 1, 0, 1, 1<<20)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	if got := times(must(t, "constant:1000"), 1, 0, 1, 100_001); got[100_000] != int64(100*time.Second) {
		t.Error("it goes on for ever and does not drift:", got[100_000])
	}
	if got := times(Schedule{}, 1, 0, 1, 5); len(got) != 0 {
		t.Error("the zero schedule:", got)
	}
}

func TestPoisson(t *testing.T) {
	const rate, n = 1000, 200_000
	at := times(must(t, "poisson:1000"), 42, 0, 1, n)
	var sum, squares float64
	for i := 1; i < n; i++ {
		gap := float64(at[i]-at[i-1]) / 1e9
		sum += gap
		squares += gap * gap
	}
	mean := sum / (n - 1)
	variance := squares/(n-1) - mean*mean
	if math.Abs(mean*rate-1) > 0.01 || math.Abs(variance*rate*rate-1) > 0.02 {
		t.Errorf("gaps: mean %v s, variance %v s²", mean, variance)
	}
	counts := make([]float64, n/rate) // by second: mean and variance of a Poisson count are the same
	for _, ns := range at {
		if second := int(ns / 1e9); second < len(counts) {
			counts[second]++
		}
	}
	var off float64
	for _, c := range counts[:len(counts)-5] {
		off += (c - rate) * (c - rate)
	}
	if ratio := off / float64(len(counts)-5) / rate; ratio < 0.7 || ratio > 1.3 {
		t.Errorf("variance of the counts is %v of the mean", ratio)
	}
}

func TestSameBySeed(t *testing.T) {
	s := must(t, "poisson:1000/1s,constant:50/1s,poisson:10")
	a, b, c := times(s, 1, 0, 1, 2000), times(s, 1, 0, 1, 2000), times(s, 2, 0, 1, 2000)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("one seed, one schedule; another seed, another")
	}
	if !slices.IsSorted(a) {
		t.Error("not in order")
	}
}

// What the loops have together is what one would have.
func TestSharedByLoops(t *testing.T) {
	for _, text := range []string{"poisson:5000/100ms,burst:7@10ms/50ms,ramp:10..1000/200ms", "constant:3/1s"} {
		want := times(must(t, text), 9, 0, 1, 1<<20)
		for _, n := range []int{1, 2, 3, 7} {
			var got []int64
			for i := range n {
				got = append(got, times(must(t, text), 9, i, n, 1<<20)...)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s over %d loops: %d arrivals, want %d", text, n, len(got), len(want))
			}
		}
	}
}

func TestString(t *testing.T) {
	const text = "constant:100/2s,poisson:0.5/1m0s,burst:3@250ms/1s,ramp:0..500.25/5s,poisson:7"
	if s := must(t, text); s.String() != text || s.Phases() != 5 {
		t.Errorf("%v, %d phases", s, s.Phases())
	}
}

func TestMistakes(t *testing.T) {
	for text, why := range map[string]string{
		"":                      "a phase is",
		"100":                   "a phase is",
		"steady:100":            "a phase is",
		"constant:":             "a rate is",
		"constant:0":            "a rate is",
		"poisson:-1":            "a rate is",
		"poisson:NaN":           "a rate is",
		"poisson:1e99":          "a rate is",
		"constant:1/":           "a duration is",
		"constant:1/0s":         "a duration is",
		"constant:1/25h":        "a duration is",
		"burst:10":              "a burst is",
		"burst:0@1s":            "a burst is",
		"burst:1@0s":            "a burst is",
		"burst:1.5@1s":          "a burst is",
		"ramp:1..2":             "a ramp is",
		"ramp:1/1s":             "a ramp is",
		"ramp:0..0/1s":          "a ramp is",
		"ramp:0..x/1s":          "a rate is",
		"constant:1,constant:2": "only the last",
		"constant:1/1s,":        "a phase is",
	} {
		s, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), why) || s.Phases() != 0 {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "constant:100/2s,poisson:500", "burst:10@100ms/1s", "ramp:100..500/5s", "ramp:0..1e6/1h,burst:1@1us", "constant:0.001"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		if again := must(t, s.String()); again.String() != s.String() {
			t.Errorf("%q is %v, and that is %v", text, s, again)
		}
		if at := times(s, 1, 1, 2, 100); !slices.IsSorted(at) || len(at) > 0 && at[0] < 0 {
			t.Errorf("%q: %d", text, at)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	a := must(t, "poisson:1000").Arrivals(1, 0, 2)
	if n := testing.AllocsPerRun(1000, func() { a.Next() }); n > 0 {
		t.Errorf("%v allocations an arrival", n)
	}
}
