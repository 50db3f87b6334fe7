package span

import (
	"flag"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var _ flag.Value = new(Dist)

func must(t *testing.T, text string) Dist {
	t.Helper()
	d, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParse(t *testing.T) {
	for text, mean := range map[string]time.Duration{
		"0s": 0, "5ms": 5 * time.Millisecond, "1h0m0s": time.Hour,
		"exp:20ms": 20 * time.Millisecond, "uniform:1ms..9ms": 5 * time.Millisecond, "uniform:0s..0s": 0,
	} {
		d := must(t, text)
		if d.String() != text || d.Mean() != mean || d.Zero() != (mean == 0) {
			t.Errorf("%s: %v, mean %v, zero %v", text, d, d.Mean(), d.Zero())
		}
	}
	if (Dist{}).String() != "0s" || (Dist{}) != must(t, "0") || Always(time.Second) != must(t, "1s") {
		t.Error("the zero value is not 0s, or Always is not Parse")
	}
}

func TestMistakes(t *testing.T) {
	for _, text := range []string{
		"", "5", "ms", "-1ms", "2h", "exp:", "exp:-1s", "exp:2h", "uniform:", "uniform:1ms", "uniform:..", "uniform:2ms..1ms",
		"uniform:-1ms..1ms", "uniform:1ms..2h", "uniform:1ms..2ms..3ms", "normal:1ms", "exp:exp:1ms", "NaN", "9999999h",
	} {
		if d, err := Parse(text); err == nil || d != (Dist{}) || !strings.Contains(err.Error(), "exp:MEAN") {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
}

// moments returns mean and standard deviation of n draws, and the extremes.
func moments(d Dist, n int) (mean, deviation float64, least, most int64) {
	r := rand.New(rand.NewPCG(1, 2))
	least = math.MaxInt64
	var sum, squares float64
	for range n {
		v := d.Next(r)
		least, most = min(least, v), max(most, v)
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	mean = sum / float64(n)
	return mean, math.Sqrt(squares/float64(n) - mean*mean), least, most
}

func near(got, want float64) bool { return math.Abs(got-want) <= want/100 }

func TestDraws(t *testing.T) {
	const ms = float64(time.Millisecond)
	mean, deviation, least, most := moments(must(t, "exp:5ms"), 100_000)
	if !near(mean, 5*ms) || !near(deviation, 5*ms) || least < 0 {
		t.Error("exponential:", mean, deviation, least)
	}
	mean, deviation, least, most = moments(must(t, "uniform:1ms..9ms"), 100_000)
	if !near(mean, 5*ms) || !near(deviation, 8*ms/math.Sqrt(12)) || least < 1e6 || most > 9e6 {
		t.Error("uniform:", mean, deviation, least, most)
	}
	if mean, deviation, _, _ = moments(must(t, "5ms"), 100); mean != 5*ms || deviation > 1 {
		t.Error("always:", mean, deviation)
	}
	if _, _, least, most = moments(must(t, "uniform:3ns..4ns"), 100); least != 3 || most != 4 {
		t.Error("both bounds come:", least, most)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "5ms", "exp:5ms", "uniform:1ms..9ms", "uniform:..", "exp:uniform:1s", "-0s", "1h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		if again := must(t, d.String()); again != d {
			t.Errorf("%q is %v, and that is %v", text, d, again)
		}
		if v := d.Next(rand.New(rand.NewPCG(1, 2))); v < 0 || v > 100*int64(Most) {
			t.Errorf("%q: %d", text, v)
		}
	})
}
