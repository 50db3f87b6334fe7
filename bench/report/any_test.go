package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"penstock/bench/report/plots"
	"penstock/bench/result"
	"penstock/bench/tally"
)

// anyNumber has what figures are, and what they should not be.
var anyNumber = rapid.OneOf(
	rapid.Float64Range(0, 1e6),
	rapid.SampledFrom([]float64{0, 1, -1, 1e-300, 1e300, -1e300, 5e-324, 0.1, 1e15}),
	rapid.Float64(),
)

// anyName is not long: nobody's are.
var anyName = rapid.OneOf(rapid.SampledFrom([]string{"penstock", "haproxy", "none", "", "p99 ms", "B/x", "a/s"}), rapid.StringN(0, 6, -1))

func anySeries(t *rapid.T) tally.Series {
	return tally.Series{
		From:   rapid.Int64Range(-1e12, 1e12).Draw(t, "from"),
		Every:  rapid.SampledFrom([]int64{0, 1, tally.SampleEvery}).Draw(t, "every"),
		Values: rapid.SliceOfN(rapid.Int64(), 0, 5).Draw(t, "values"),
	}
}

func anyHistogram(t *rapid.T) *tally.Histogram {
	if rapid.Bool().Draw(t, "no histogram") {
		return nil
	}
	h := tally.NewHistogram()
	for _, ns := range rapid.SliceOfN(rapid.Int64Range(-1, int64(2*time.Hour)), 0, 4).Draw(t, "times") {
		h.Record(ns)
	}
	return h
}

func anyRound(t *rapid.T, metrics []result.Metric) result.Round {
	r := result.Round{
		Figures: map[string]float64{}, Latency: anyHistogram(t), Handover: anyHistogram(t), Waiting: anySeries(t), InUse: anySeries(t),
		Lag99: anyNumber.Draw(t, "lag"), Cores: result.Cores{Proxy: anyNumber.Draw(t, "cores")},
	}
	r.Verdict.Lost = rapid.Int64Range(0, 2).Draw(t, "lost")
	for _, m := range metrics {
		if rapid.Bool().Draw(t, "measured") {
			r.Figures[m.Name] = anyNumber.Draw(t, "figure")
		}
	}
	return r
}

func anyDocument(t *rapid.T) *result.Document {
	d := &result.Document{Scenario: "any", About: anyName.Draw(t, "about"), Vary: anyName.Draw(t, "vary"), Rounds: 2}
	for range rapid.IntRange(0, 3).Draw(t, "metrics") {
		d.Metrics = append(d.Metrics, result.Metric{Name: anyName.Draw(t, "metric"), More: rapid.Bool().Draw(t, "more")})
	}
	for _, m := range d.Metrics {
		d.Goals = append(d.Goals, result.Goal{Metric: m.Name, Value: anyNumber.Draw(t, "goal"), To: anyName.Draw(t, "to")})
	}
	for range rapid.IntRange(1, 3).Draw(t, "cases") {
		c := result.Case{Name: anyName.Draw(t, "case"), X: anyNumber.Draw(t, "x")}
		for range rapid.IntRange(1, 3).Draw(t, "peers") {
			p := &result.Peer{Name: anyName.Draw(t, "peer"), Failure: anyName.Draw(t, "failure")}
			for range rapid.IntRange(0, 2).Draw(t, "rounds") {
				p.Rounds = append(p.Rounds, anyRound(t, d.Metrics))
			}
			c.Peers = append(c.Peers, p)
		}
		d.Cases = append(d.Cases, c)
	}
	return d
}

// Whatever is in a file, it is shown in each form, and pictures are XML without
// anything that is not a number.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDocument(t)
		if _, err := json.Marshal(d); err != nil {
			t.Skip("no file has that")
		}
		var page bytes.Buffer
		if err := HTML(&page, d); err != nil {
			t.Fatal(err)
		}
		if err := Text(io.Discard, d); err != nil {
			t.Fatal(err)
		}
		all := []*result.Document{d}
		_ = Section(d, nil) + Claims(all) + Machine(all) + Headroom(all)
		drawn, err := plots.Of(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range drawn {
			sound(t, p)
		}
	})
}

func sound(t *rapid.T, p plots.Plot) {
	if text := string(p.SVG); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Fatalf("%s: not a number: %s", p.Name, text)
	}
	for r := xml.NewDecoder(bytes.NewReader(p.SVG)); ; {
		if _, err := r.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
	}
}
