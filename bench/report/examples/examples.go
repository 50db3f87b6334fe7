package examples

import (
	"math"
	"math/rand/v2"
	"time"

	"penstock/bench/result"
	"penstock/bench/tally"
)

// maker draws figures that are the same each time.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 1))} }

// about is around x, by up to a tenth.
func (m maker) about(x float64) float64 { return x * (0.93 + 0.14*m.Float64()) }

// times has n spans around a median in µs, with a tail.
func (m maker) times(n int, micros, width float64) *tally.Histogram {
	h := tally.NewHistogram()
	for range n {
		x := micros * math.Exp(width*m.NormFloat64())
		if m.Float64() < 0.004 {
			x *= 3 + 10*m.Float64()
		}
		h.Record(int64(x * 1000))
	}
	return h
}

// series rises to a level, stays, and falls.
func (m maker) series(level float64) tally.Series {
	s := tally.Series{Every: tally.SampleEvery}
	const samples = 45
	for i := range samples {
		share := min(1, float64(i)/6, float64(samples-1-i)/5)
		s.Values = append(s.Values, int64(level*share*(0.97+0.06*m.Float64())))
	}
	return s
}

func blank(name, about string) *result.Document {
	return &result.Document{
		Scenario: name, About: about,
		Why:     "What a proxy costs is asked first.\nSixty-four at a time keep it busy.\n\nIn a second paragraph.",
		Command: "penbench run " + name + " -proxy penstock,haproxy,none -rounds 5",
		Date:    time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC),
		Machine: result.Machine{
			Kernel: "Linux 6.18.5", CPU: "Example CPU @ 2.00GHz", Cores: 2, Memory: 8 << 30,
			Network: "own network namespace, cubic", Load: "0.31",
			Versions: map[string]string{"penstock": "1f3c9ab", "haproxy": "2.6.12", "go": "go1.26.8"},
		},
		Lines:  []string{"server -then close", "client -work short -flows 64", "warm 500ms", "for 3s"},
		Rounds: 5, Seconds: 3,
	}
}

// Short is one case with rivals, a goal that is reached and one that is not.
func Short() *result.Document {
	m := newMaker(1)
	d := blank("short", "connect, request, response, close; 64 at a time")
	d.Metrics = []result.Metric{{Name: "conn/s", More: true}, {Name: "CPU µs/conn"}, {Name: "p99 ms"}}
	d.Goals = []result.Goal{
		{Metric: "conn/s", Least: true, Value: 1.1, To: "haproxy"},
		{Metric: "CPU µs/conn", Value: 0.9, To: "haproxy"},
	}
	c := result.Case{}
	for _, p := range []struct {
		name                   string
		rate, cpu, p99, median float64
		cores                  result.Cores
	}{
		{"penstock", 11800, 79, 11.8, 5200, result.Cores{Proxy: 0.95, Clients: 0.53, Servers: 0.38}},
		{"haproxy", 11100, 94, 12.2, 5600, result.Cores{Proxy: 1.04, Clients: 0.50, Servers: 0.37}},
		{"none", 23100, 0, 4.5, 2600, result.Cores{Clients: 0.98, Servers: 0.63}},
	} {
		peer := &result.Peer{Name: p.name}
		for range d.Rounds {
			r := result.Round{Figures: map[string]float64{"conn/s": m.about(p.rate), "p99 ms": m.about(p.p99)}, Cores: p.cores}
			if p.cpu > 0 {
				r.Figures["CPU µs/conn"] = m.about(p.cpu)
			}
			r.Latency = m.times(8000, p.median, 0.3)
			r.Outcomes[tally.Served] = uint64(p.rate * d.Seconds)
			r.InUse = m.series(60)
			peer.Rounds = append(peer.Rounds, r)
		}
		c.Peers = append(c.Peers, peer)
	}
	d.Cases = []result.Case{c}
	return d
}

// Overload is one case with all that can be drawn, a rival that does what must
// not happen, and one that failed after a round.
func Overload() *result.Document {
	m := newMaker(2)
	d := blank("overload-10x", "ten times what the servers can do is asked for; clients give up after a time")
	d.Lines = []string{"server -limit 100 -fifo 100ms -then close", "client -work short -arrivals poisson:40000 -late 1s", "warm 500ms", "for 3s", "allow reset"}
	d.Why += "\nThe other answer:\n  penbench run overload-10x -set rule=codel\n  penbench run overload-10x -set rule=lifo"
	d.Command = "penbench run overload-10x -proxy penstock,haproxy,nginx -rounds 5"
	d.Metrics = []result.Metric{{Name: "of capacity %", More: true}, {Name: "wait p99 ms"}, {Name: "handover p99 µs"}, {Name: "gave up %"}}
	d.Goals = []result.Goal{{Metric: "of capacity %", Least: true, Value: 99}}
	c := result.Case{}
	for i, p := range []struct {
		name                    string
		capacity, wait, handing float64
	}{{"penstock", 99.4, 480, 420}, {"haproxy", 97.1, 505, 610}, {"nginx", 92, 700, 1800}} {
		peer := &result.Peer{Name: p.name}
		for round := range d.Rounds {
			if i == 2 && round == 1 {
				peer.Failure = "exit status 1: nginx: [emerg] \"worker_connections\" <64> are not enough | really\nat line 3"
				break
			}
			r := result.Round{
				Figures: map[string]float64{
					"of capacity %": min(m.about(p.capacity), 100), "wait p99 ms": m.about(p.wait),
					"handover p99 µs": m.about(p.handing), "gave up %": m.about(89),
				},
				Latency: m.times(9000, p.wait*400, 0.5), Wait: m.times(9000, p.wait*380, 0.5), Handover: m.times(9000, p.handing/3, 0.6),
				Waiting: m.series(4000 + 600*float64(i)), InUse: m.series(float64(100 - 3*i)),
				Cores: result.Cores{Proxy: 0.41, Clients: 0.62, Servers: 0.22}, Lag99: m.about(240),
			}
			r.Outcomes[tally.Served], r.Outcomes[tally.GaveUp] = 9000, 81000
			if i == 1 && round == 2 {
				r.Verdict = result.Verdict{Overshoots: 2, Lost: 7, Overtaken: 31}
				r.Outcomes[tally.Reset] = 7
				r.First = []tally.Overshoot{{At: 1_204_000_000, Open: 101}, {At: 1_404_000_000, Open: 101}}
			}
			peer.Rounds = append(peer.Rounds, r)
		}
		c.Peers = append(c.Peers, peer)
	}
	d.Cases = []result.Case{c}
	return d
}

// Release has several cases over three decades.
func Release() *result.Document {
	m := newMaker(3)
	d := blank("release-latency", "from a freed slot to the next connection at the server")
	d.Command = "penbench run release-latency -proxy penstock,haproxy -rounds 3"
	d.Rounds, d.Vary = 3, "clients waiting"
	d.Metrics = []result.Metric{{Name: "handover p50 µs"}, {Name: "handover p99 µs"}}
	d.Goals = []result.Goal{{Metric: "handover p99 µs", Value: 1, To: "haproxy"}, {Metric: "handover p99 µs", Value: 1000, Case: "100000"}}
	for _, x := range []float64{100, 1000, 10000, 100000} {
		c := result.Case{Name: result.Short(x), X: x}
		for i, name := range []string{"penstock", "haproxy"} {
			peer := &result.Peer{Name: name}
			for range d.Rounds {
				median := 170 * (1 + float64(i)*0.4*math.Log10(x))
				r := result.Round{Figures: map[string]float64{"handover p50 µs": m.about(median), "handover p99 µs": m.about(4 * median)}}
				r.Handover = m.times(3000, median, 0.4)
				r.Waiting, r.InUse = m.series(x), m.series(1)
				r.Cores = result.Cores{Proxy: 0.3, Clients: 0.2, Servers: 0.1}
				r.Outcomes[tally.Served] = 3000
				peer.Rounds = append(peer.Rounds, r)
			}
			c.Peers = append(c.Peers, peer)
		}
		d.Cases = append(d.Cases, c)
	}
	return d
}

// Aborts has cases that are of a kind each, not of a number.
func Aborts() *result.Document {
	m := newMaker(6)
	d := blank("churn-with-aborts", "clients leave while they wait")
	d.Command = "penbench run churn-with-aborts -proxy penstock,haproxy -rounds 3"
	d.Rounds = 3
	d.Metrics = []result.Metric{{Name: "of capacity %", More: true}, {Name: "ghosts"}}
	d.Goals = []result.Goal{{Metric: "of capacity %", Least: true, Value: 90, Case: "reset"}}
	for _, name := range []string{"reset", "silence"} {
		c := result.Case{Name: name}
		for i, proxy := range []string{"penstock", "haproxy"} {
			peer := &result.Peer{Name: proxy}
			for range d.Rounds {
				r := result.Round{Figures: map[string]float64{"of capacity %": m.about(92 - 40*float64(i)), "ghosts": float64(300 * i)}}
				r.Latency = m.times(2000, 3e5, 0.4)
				r.Cores = result.Cores{Proxy: 0.3, Clients: 0.2, Servers: 0.1}
				peer.Rounds = append(peer.Rounds, r)
			}
			c.Peers = append(c.Peers, peer)
		}
		d.Cases = append(d.Cases, c)
	}
	return d
}

// Memory is of what a proxy keeps, without times or cores.
func Memory() *result.Document {
	m := newMaker(4)
	d := blank("parked-memory", "10,000 clients wait behind a limit of 1")
	d.Command = "penbench run parked-memory -proxy penstock,haproxy -rounds 5"
	d.Metrics = []result.Metric{{Name: "B/client"}, {Name: "fds/client"}}
	d.Goals = []result.Goal{{Metric: "B/client", Value: 256}, {Metric: "fds/client", Value: 1}}
	c := result.Case{}
	for _, name := range []string{"penstock", "haproxy"} {
		peer := &result.Peer{Name: name}
		for range d.Rounds {
			bytes := 200.0
			if name == "haproxy" {
				bytes = 2594
			}
			peer.Rounds = append(peer.Rounds, result.Round{Figures: map[string]float64{"B/client": m.about(bytes), "fds/client": 1}})
		}
		c.Peers = append(c.Peers, peer)
	}
	d.Cases = []result.Case{c}
	return d
}

// Core is of one program without rivals, as in-process work is.
func Core() *result.Document {
	m := newMaker(5)
	d := blank("queue-cost", "the core alone, with many waiting")
	d.Command = "penbench run queue-cost -rounds 3"
	d.Rounds, d.Vary = 3, "clients waiting"
	d.Lines = []string{"program core -waiting $waiting"}
	d.Metrics = []result.Metric{{Name: "admissions/s", More: true}, {Name: "B/waiter"}}
	for _, x := range []float64{1e3, 1e5, 1e7} {
		peer := &result.Peer{Name: "penstock"}
		for range d.Rounds {
			peer.Rounds = append(peer.Rounds, result.Round{Figures: map[string]float64{"admissions/s": m.about(7e6 - 4e5*math.Log10(x)), "B/waiter": m.about(96)}})
		}
		d.Cases = append(d.Cases, result.Case{Name: result.Short(x), X: x, Peers: []*result.Peer{peer}})
	}
	return d
}

// Hostile is without figures, and full of what would break a page.
func Hostile() *result.Document {
	d := blank("odd", `about <script>alert("x")</script> & | pipes`)
	d.Why, d.Command = "</style><b>why</b>", "penbench run odd -set 'x=<y>' | `tee`"
	d.Lines = []string{"about </pre><img src=x onerror=alert(1)>"}
	d.Machine.Versions["<i>proxy</i>"] = "1 & 2"
	d.Metrics = []result.Metric{{Name: "p99 ms <b>"}}
	d.Goals = []result.Goal{{Metric: "p99 ms <b>", Value: 2, To: "<i>proxy</i>"}}
	d.Vary = "<u>x</u>"
	d.Cases = []result.Case{
		{Name: "<a>", Peers: []*result.Peer{{Name: "penstock", Failure: "<script>alert(2)</script>"}, {Name: "<i>proxy</i>"}}},
		{Name: "b", X: 1, Peers: []*result.Peer{
			{Name: "penstock", Rounds: []result.Round{{Figures: map[string]float64{"p99 ms <b>": 3}}}},
			{Name: "<i>proxy</i>", Rounds: []result.Round{{Figures: map[string]float64{"p99 ms <b>": 0}}}},
		}},
	}
	return d
}

// All are one of each.
func All() []*result.Document {
	return []*result.Document{Short(), Overload(), Release(), Aborts(), Memory(), Core(), Hostile()}
}
