package result

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		want string
	}{
		{nil, "-"},
		{[]float64{math.NaN(), 1}, "-"},
		{[]float64{12345.6}, "12346"},
		{[]float64{5_710_552}, "5.71M"},
		{[]float64{2, 2}, "2.00"},
		{[]float64{math.Inf(1)}, "+Inf"},
		{[]float64{999e6, 1e15}, "500000500M (999M..1e+15)"},
		{[]float64{3, 1, 2}, "2.00 (1.00..3.00)"},
		{[]float64{4, 1, 2, 3}, "2.50 (1.00..4.00)"},
		{[]float64{0, 0.0421, 99.96}, "0.042 (0..100.0)"},
	} {
		if got := SpreadOf(c.xs).String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.xs, got, c.want)
		}
	}
	xs := []float64{3, 1}
	if SpreadOf(xs); xs[0] != 3 {
		t.Error("the figures were put in order in place")
	}
}

func rounds(metric string, xs ...float64) (rs []Round) {
	for _, x := range xs {
		rs = append(rs, Round{Figures: map[string]float64{metric: x}})
	}
	return rs
}

// Ratios are of one round each; one that is missing takes no other's place.
func TestRatios(t *testing.T) {
	c := Case{Peers: []*Peer{
		{Name: Subject, Rounds: rounds("conn/s", 10, 20, 30, 40)},
		{Name: "haproxy", Rounds: []Round{rounds("conn/s", 20)[0], {}, rounds("conn/s", 15)[0]}},
		{Name: "nginx", Rounds: rounds("conn/s", 0)},
		{Name: Without, Rounds: rounds("conn/s", 99)},
	}}
	if got := c.Ratios("conn/s", c.Peers[1]); !slices.Equal(got, []float64{0.5, 2}) {
		t.Error("ratios", got)
	}
	if got := c.Ratios("conn/s", c.Peers[2]); len(got) > 0 {
		t.Error("ratios to nothing", got)
	}
	if got := c.Hardest(Metric{"conn/s", true}); got.Name != "haproxy" {
		t.Error("hardest to beat in more:", got.Name)
	}
	if got := c.Hardest(Metric{"conn/s", false}); got.Name != "nginx" {
		t.Error("hardest to beat in less:", got.Name)
	}
	if got := c.Hardest(Metric{"p99 ms", false}); got != nil {
		t.Error("hardest of none:", got.Name)
	}
}

func TestJudge(t *testing.T) {
	d := Document{
		Goals: []Goal{
			{Metric: "conn/s", Least: true, Value: 1.1, To: "haproxy"},
			{Metric: "conn/s", Value: 15, Case: "few"},
			{Metric: "conn/s", Least: true, Value: 1.1, To: "nginx", Case: "few"},
			{Metric: "conn/s", Value: 1.2, Case: "few", Over: "many"},
			{Metric: "conn/s", Value: 1.2, Case: "few", Over: "others"},
		},
		Cases: []Case{
			{Name: "few", Peers: []*Peer{{Name: Subject, Rounds: rounds("conn/s", 10, 12)}, {Name: "haproxy", Rounds: rounds("conn/s", 10, 10)}}},
			{Name: "many", Peers: []*Peer{{Name: Subject, Rounds: rounds("conn/s", 10)}, {Name: "haproxy", Rounds: rounds("conn/s", 10)}}},
			{Name: "others", Peers: []*Peer{{Name: "haproxy"}}},
		},
	}
	var got []string
	for _, j := range d.Judge() {
		reached := " not reached"
		if j.Reached {
			reached = " reached"
		}
		got = append(got, j.Case.Name+" "+j.Goal.Text()+": "+j.Measured.String()+reached)
	}
	want := []string{
		"few >= 1.1x haproxy: 1.10 (1.00..1.20) reached",
		"many >= 1.1x haproxy: 1.00 not reached",
		"few <= 15: 11.0 (10.0..12.0) reached",
		"few >= 1.1x nginx: - not reached",
		"few <= 1.2x many: 1.00 reached",
		"few <= 1.2x others: - not reached",
	}
	if !slices.Equal(got, want) {
		t.Errorf("judged %q", got)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "short.json")
	d := Document{Scenario: "short", Cases: []Case{{Peers: []*Peer{{Name: Subject, Rounds: rounds("conn/s", 10)}}}}}
	if err := d.Write(path); err != nil {
		t.Fatal(err)
	}
	back, err := Read(path)
	if err != nil || back.Cases[0].Peers[0].Rounds[0].Figures["conn/s"] != 10 {
		t.Error(back, err)
	}
	for _, text := range []string{"", "{}", `{"scenario":"x","cases":[]}`, `{"scenario":"x","cases":[{"peers":[]}]}`, `{"scenario":"x","cases":[{"peers":[null]}]}`} {
		os.WriteFile(path, []byte(text), 0o600)
		if _, err := Read(path); err == nil {
			t.Errorf("%q was read as a document", text)
		}
	}
}
