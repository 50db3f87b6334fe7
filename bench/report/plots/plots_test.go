package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"penstock/bench/report/examples"
	"penstock/bench/result"
	"penstock/bench/tally"
)

// What there is data for is drawn, in this order, and nothing else.
func TestWhatIsDrawn(t *testing.T) {
	want := []string{
		"short: ratio latency in-use",
		"overload-10x: ratio latency wait handover waiting in-use",
		"release-latency: handover-p50-us handover-p99-us ratio handover-100 waiting-100 in-use-100 handover-1000 waiting-1000 in-use-1000 " +
			"handover-10000 waiting-10000 in-use-10000 handover-100000 waiting-100000 in-use-100000",
		"churn-with-aborts: ratio latency-reset latency-silence",
		"parked-memory: ratio",
		"queue-cost: admissions-a-second b-per-waiter",
		"odd: p99-ms-b",
	}
	for i, d := range examples.All() {
		all, err := Of(d)
		if err != nil {
			t.Fatal(d.Scenario, err)
		}
		names := []string{}
		for _, p := range all {
			names = append(names, p.Name)
			if dir := os.Getenv("PLOTS"); dir != "" { // to look at them
				os.WriteFile(dir+"/"+d.Scenario+"-"+p.Name+".svg", p.SVG, 0o644)
			}
		}
		if got := d.Scenario + ": " + strings.Join(names, " "); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}

// The same data gives the same bytes, which are XML, small, and name no font
// or file that a page would have to load.
func TestSVG(t *testing.T) {
	for _, d := range examples.All() {
		first, err := Of(d)
		if err != nil {
			t.Fatal(err)
		}
		second, _ := Of(d)
		for i, p := range first {
			if !bytes.Equal(p.SVG, second[i].SVG) {
				t.Errorf("%s %s: drawn twice, it differs", d.Scenario, p.Name)
			}
			if len(p.SVG) > 60_000 {
				t.Errorf("%s %s: %d bytes", d.Scenario, p.Name, len(p.SVG))
			}
			if bytes.Contains(p.SVG, []byte("href")) || bytes.Contains(p.SVG, []byte("url(")) || bytes.Contains(p.SVG, []byte("NaN")) {
				t.Errorf("%s %s refers to something, or has no number where one should be", d.Scenario, p.Name)
			}
			wellFormed(t, d.Scenario+" "+p.Name, p.SVG)
		}
	}
}

func wellFormed(t *testing.T, name string, text []byte) {
	t.Helper()
	for r := xml.NewDecoder(bytes.NewReader(text)); ; {
		_, err := r.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
}

func labels(ticks []plot.Tick) (names []string) {
	for _, tick := range ticks {
		if !tick.IsMinor() {
			names = append(names, tick.Label)
		}
	}
	return names
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		got  []plot.Tick
		want string
	}{
		{logTicks{micros}.Ticks(90, 2e6), "100 µs,1 ms,10 ms,100 ms,1 s"},
		{logTicks{micros}.Ticks(900, 11e3), "1 ms,2 ms,3 ms,5 ms,10 ms"},
		{logTicks{number}.Ticks(0.07, 1.3), "0.1,0.2,0.3,0.5,1"},
		{logTicks{number}.Ticks(100, 1e7), "100,1k,10k,100k,1M,10M"},
		{evenTicks{number, 5}.Ticks(0, 50e3), "0,10k,20k,30k,40k,50k"},
		{evenTicks{number, 7}.Ticks(0.93, 1.22), "0.95,1,1.05,1.1,1.15,1.2"},
		{tailTicks{}.Ticks(0, 3), "0 %,50 %,90 %,99 %,99.9 %"},
	} {
		if got := strings.Join(labels(c.got), ","); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestAxisNames(t *testing.T) {
	for metric, want := range map[string]string{
		"conn/s":          "connections a second",
		"p99.9 ms":        "latency that 99.9 % don't exceed, ms",
		"handover p99 µs": "handover that 99 % don't exceed, µs",
		"p99 ms light":    "light latency that 99 % don't exceed, ms",
		"x/y":             "x/y",
	} {
		if got := axisName(metric); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
}

// A million spans make a few hundred points; where they stand is exact.
func TestCurve(t *testing.T) {
	h := tally.NewHistogram()
	for i := range int64(1000) {
		h.Record((i + 1) * 100_000)
	}
	points := curve(h)
	at := slices.IndexFunc(points, func(p plotter.XY) bool { return p.Y > tail(0.8999) })
	if p := points[at]; p.X < 90_000 || p.X > 90_100 {
		t.Errorf("90 %% don't exceed %v µs, want 90 ms", p.X)
	}
	few := thin(points, 100, 1e6, 3)
	if len(few) > 600 || few[0] != points[0] || few[len(few)-1] != points[len(points)-1] {
		t.Errorf("%d of %d points are left, from %v to %v", len(few), len(points), few[0], few[len(few)-1])
	}
}

func TestHighest(t *testing.T) {
	for n, want := range map[int]float64{1: 1, 100: 1, 1000: 2, 10_000: 3, 99_999: 3} {
		h := tally.NewHistogram()
		for range n {
			h.Record(5000)
		}
		if got := highest(h); got != want {
			t.Errorf("of %d: %v nines, want %v", n, got, want)
		}
	}
}

// A round that goes on longer than the others is not their median.
func TestBandEndsWithTheMost(t *testing.T) {
	p := &result.Peer{}
	for _, n := range []int{3, 4, 9} {
		p.Rounds = append(p.Rounds, result.Round{InUse: tally.Series{Every: tally.SampleEvery, Values: make([]int64, n)}})
	}
	if b := bandOf(p, func(r result.Round) tally.Series { return r.InUse }); len(b.middle) != 4 || len(b.upper) != 4 {
		t.Errorf("%d samples, want 4", len(b.middle))
	}
}

// What can't be drawn is told: zeros alone have no plot, a ratio of 0 a note.
func TestZeros(t *testing.T) {
	d := examples.Release()
	for i := range d.Cases {
		for _, p := range d.Cases[i].Peers {
			for j := range p.Rounds {
				p.Rounds[j].Figures["handover p99 µs"] = 0
			}
		}
	}
	d.Cases[0].Peers[0].Rounds[0].Figures["handover p50 µs"] = 0
	if all := against(d); len(all) != 1 || all[0].name != "handover-p50-us" {
		t.Errorf("%d plots", len(all))
	}
	if note := ratios(d).note; !strings.Contains(note, "A ratio of 0 is beyond a log scale") {
		t.Error(note)
	}
}
