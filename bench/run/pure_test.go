package run

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/bench/arrival"
	"penstock/bench/client"
	"penstock/bench/proc"
	"penstock/bench/result"
	"penstock/bench/scenario"
	"penstock/bench/server"
	"penstock/bench/span"
	"penstock/bench/tally"
)

func TestStep(t *testing.T) {
	for want, s := range map[string]step{
		"short, round 2 of 5: haproxy":                 {"short", "", 2, 5, "haproxy"},
		"release-latency 1000, round 1 of 1: penstock": {"release-latency", "1000", 1, 1, "penstock"},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestETA(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"1 s": 600 * time.Millisecond, "99 s": 99 * time.Second, "2 min": 100 * time.Second,
		"59 min": 59*time.Minute + 20*time.Second, "2 h 05 min": 2*time.Hour + 5*time.Minute,
	} {
		if got := eta(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestLeft(t *testing.T) {
	for _, test := range []struct {
		elapsed, sinceDone, done, planned, want time.Duration
	}{
		{0, 0, 0, 60, 60},                      // the plan
		{10, 10, 0, 60, 50},                    // counts down
		{20, 0, 10, 60, 100},                   // all takes twice as long
		{25, 5, 10, 60, 95},                    // since then, down
		{90, 0, 60, 60, 1}, {70, 70, 0, 60, 1}, // never nothing
	} {
		got := left(test.elapsed*time.Second, test.sinceDone*time.Second, test.done*time.Second, test.planned*time.Second)
		if got != test.want*time.Second {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// The line says what is played and how long it takes, and goes away.
func TestProgressLine(t *testing.T) {
	now := time.Unix(0, 0)
	var out bytes.Buffer
	p := &progress{out: &out, now: func() time.Time { return now }, stop: make(chan struct{}), plan: 40 * time.Second, began: now, last: now}
	p.step(step{"short", "", 1, 2, "penstock"})
	now = now.Add(30 * time.Second)
	p.done(20 * time.Second)
	p.step(step{"short", "", 1, 2, "haproxy"})
	p.end()
	want := clear + "short, round 1 of 2: penstock; 40 s left" + clear + "short, round 1 of 2: haproxy; 30 s left" + clear
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	quiet := begin(nil, time.Now, time.Second)
	quiet.step(step{})
	quiet.end() // and nothing was written to nobody
}

func TestMaxMin(t *testing.T) {
	for _, test := range []struct {
		asked []float64
		of    float64
		want  []float64
	}{
		{[]float64{unbounded, unbounded}, 10, []float64{5, 5}},
		{[]float64{unbounded, 1, 2}, 10, []float64{7, 1, 2}},
		{[]float64{8, 1, 8}, 9, []float64{4, 1, 4}},
		{[]float64{1, 1}, 10, []float64{1, 1}},
		{nil, 1, []float64{}},
	} {
		if got := maxMin(test.asked, test.of); !slices.Equal(got, test.want) {
			t.Errorf("%v of %v: %v", test.asked, test.of, got)
		}
	}
}

func TestJain(t *testing.T) {
	for want, xs := range map[float64][]float64{1: {3, 3, 3}, 0.25: {0, 0, 9, 0}, 0.9: {2, 1}} {
		if got := jain(xs); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: %v", xs, got)
		}
	}
	if jain(nil) != 1 {
		t.Error("of nobody")
	}
}

// hist has one span of each so many ms.
func hist(ms ...int64) *tally.Histogram {
	h := tally.NewHistogram()
	for _, m := range ms {
		h.Record(m * 1e6)
	}
	return h
}

func outcomes(counts map[tally.Outcome]uint64) (o tally.Outcomes) {
	for k, n := range counts {
		o[k] = n
	}
	return o
}

// two clients, one of the open and one of the closed model, and two servers.
func two(t *testing.T) *seen {
	t.Helper()
	open, err := arrival.Parse("constant:100")
	if err != nil {
		t.Fatal(err)
	}
	lines := []scenario.Client{
		{Name: "light", Count: 1, Config: client.Config{Work: client.Short, Arrivals: open}},
		{Name: "heavy", Count: 1, Config: client.Config{Work: client.Short, Flows: 10}},
	}
	c := &scenario.Case{Copies: 1, Members: 2, Clients: lines, Allow: []tally.Outcome{tally.Reset},
		Servers: []scenario.Server{{Config: server.Config{Limit: 3, Fifo: time.Millisecond, Delay: span.Always(10 * time.Millisecond)}}}}
	series := func(from int64, values ...int64) tally.Series {
		return tally.Series{From: from, Every: 100, Values: values}
	}
	return &seen{
		c: c, proxied: true, span: measured{2, 1, 0.5, 3},
		clients: []clientSaw{
			{line: &lines[0], Client: tally.Client{Seconds: 2, CPU: 1, Received: 1e9, Latency: hist(10), Lag: hist(2), Open: series(100, 5, 6), Late: 1,
				Outcomes: outcomes(map[tally.Outcome]uint64{tally.Served: 100, tally.GaveUp: 60, tally.Reset: 40})}},
			{line: &lines[1], Client: tally.Client{Seconds: 2, CPU: 2, Latency: hist(30), Open: series(200, 7, 8), Late: 2,
				Outcomes: outcomes(map[tally.Outcome]uint64{tally.Served: 300, tally.Empty: 7, tally.Overdue: 5})}},
		},
		servers: []tally.Server{
			{Wait: hist(5), Handover: hist(1), Open: series(200, 3, 20),
				Members: []tally.Member{{Ghosts: 1, Overshoots: 2, First: []tally.Overshoot{{At: 1, Open: 4}}}, {}},
				Order:   tally.Order{Tokens: 300, Overtaken: 30, Far: 3, Places: 9, Behind: 2e6}},
			{Members: []tally.Member{{Ghosts: 2}}, Order: tally.Order{Tokens: 100, Overtaken: 1, Far: 1, Places: 2, Behind: 5e6}},
		},
		left: 4,
	}
}

func TestRound(t *testing.T) {
	r, err := two(t).round()
	if err != nil {
		t.Fatal(err)
	}
	if want := (result.Verdict{Overshoots: 2, Stranded: 5 + 4, Lost: 7, Ghosts: 3, Overtaken: 4, Late: 3}); r.Verdict != want {
		t.Errorf("verdict %+v, want %+v", r.Verdict, want)
	}
	if want := (tally.Order{Tokens: 400, Overtaken: 31, Far: 4, Places: 9, Behind: 5e6}); r.Order != want {
		t.Errorf("order %+v, want %+v", r.Order, want)
	}
	if want := (result.Cores{Proxy: 0.5, Clients: 1.5, Servers: 0.25, Machine: 1.5}); r.Cores != want {
		t.Errorf("cores %+v, want %+v", r.Cores, want)
	}
	for name, want := range map[string]float64{
		"conn/s": 200, "CPU µs/conn": 2500, "Gb/s": 4, "CPU s/GB": 1, "machine µs/conn": 7500, "machine s/GB": 3, "of capacity %": 100 * 200 / 600.0,
		"p50 ms": 10, "p99 ms": 30, "p99 ms light": 10, "p99 ms heavy": 30, "wait p50 ms": 5, "handover p99 µs": 1000, "lag p99 µs": 2000,
		"served %": 100 * 400 / 512.0, "gave up %": 100 * 60 / 512.0, "overtaken %": 1, "behind ms": 5, "ghosts": 3,
		"fairness": jain([]float64{100 / 200.0, 300 / 200.0}),
	} {
		if got, ok := r.Figures[name]; !ok || math.Abs(got-want) > want/500 { // three digits are kept
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := r.Waiting.Values; !slices.Equal(got, []int64{5, 10, 0}) {
		t.Errorf("waiting %v", got)
	}
	if got := r.InUse.Values; !slices.Equal(got, []int64{0, 3, 20}) || r.InUse.From != 0 {
		t.Errorf("in use %v", got)
	}
	if len(r.First) != 1 || r.Lag99 < 1990 {
		t.Errorf("%+v", r.First)
	}
}

// Without a proxy there are no figures of one; nobody is blamed for ghosts that
// the scenario expects, or for an order that it does not ask for.
func TestRoundWithout(t *testing.T) {
	s := two(t)
	s.proxied, s.c.Ghosts, s.c.Memory, s.c.Servers[0].Config.Fifo = false, 3, "parked", 0
	r, err := s.round()
	if err != nil || r.Verdict.Ghosts != 0 || r.Verdict.Overtaken != 0 || r.Figures["ghosts"] != 3 {
		t.Errorf("%v %+v", err, r.Verdict)
	}
	for _, name := range []string{"CPU µs/conn", "CPU s/GB", "B/client"} {
		if x, ok := r.Figures[name]; ok {
			t.Errorf("%s is %v", name, x)
		}
	}
}

func TestSizes(t *testing.T) {
	s := two(t)
	s.grown = proc.Size{Memory: 9400, Descriptors: 188}
	for i := range s.clients {
		s.clients[i].line.Config = client.Config{Work: client.Hold, Flows: 80} // 30 were refused
		s.clients[i].Outcomes = outcomes(map[tally.Outcome]uint64{tally.Served: 50, tally.Empty: 30})
	}
	for memory, n := range map[string]float64{"parked": 94, "pairs": 100} {
		s.c.Memory = memory
		r, err := s.round()
		if err != nil {
			t.Fatal(err)
		}
		who := map[string]string{"parked": "client", "pairs": "pair"}[memory]
		if r.Figures["B/"+who] != 9400/n || r.Figures["fds/"+who] != 188/n {
			t.Errorf("%s: %v", memory, r.Figures)
		}
	}
}

// What clients or servers can't do is not the proxy's fault, and no figure.
func TestFaultsOfOurOwn(t *testing.T) {
	for want, spoil := range map[string]func(*seen){
		"no port left": func(s *seen) { s.clients[1].Outcomes[tally.Local] = 2; s.clients[1].Cause = "no port left" },
		"accept":       func(s *seen) { s.servers[1].Members[0].Starved = 1 },
		"nothing": func(s *seen) {
			for i := range s.clients {
				s.clients[i].Client = tally.Client{Seconds: 2}
			}
		},
	} {
		s := two(t)
		spoil(s)
		if _, err := s.round(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Holders that stand beside others are not served work, but their losses count.
func TestHoldersBesideOthers(t *testing.T) {
	s := two(t)
	s.clients[1].line.Config = client.Config{Work: client.Hold, Flows: 50}
	r, err := s.round()
	if err != nil || r.Outcomes[tally.Served] != 100 || r.Verdict.Lost != 7 {
		t.Errorf("%v %v %+v", err, r.Outcomes, r.Verdict)
	}
}

func TestLines(t *testing.T) {
	cases := []scenario.Case{{Name: "a", Lines: []string{"about x", "client 1"}}, {Name: "b", Lines: []string{"about x", "client 2"}}}
	want := []string{"about x", "client 1", "", "# case b", "client 2"}
	if got := lines(cases); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
