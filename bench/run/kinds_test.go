package run

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/bench/peer"
	"penstock/bench/proc"
	"penstock/bench/scenario"
	"penstock/bench/syn"
	"penstock/bench/tally"
)

// Holders that wait cost the proxy something, which is divided by those that
// wait: all but the one that is served.
func TestParkedMemory(t *testing.T) {
	c := played(t, options(t, `# for tests
about   clients wait
proxies penstock
rounds  1
server  -limit 1 -then stay
client  -work hold -flows 21 -request 0
memory  parked
ghosts  any
metric  fds/client
`, faulty{fault: weighty})).Cases[0].Peers[0]
	if c.Failure != "" {
		t.Fatal(c.Failure)
	}
	// 20 that wait, one descriptor each, and the served one's two.
	if got := c.Figures("fds/client"); len(got) != 1 || got[0] < 1 || got[0] > 1.3 {
		t.Errorf("fds/client %v", got)
	}
	if v := c.Verdict(); !v.Well() || !weighs(c.Rounds[0].Figures["B/client"], weight) {
		t.Errorf("%+v %v", v, c.Rounds[0].Figures)
	}
}

// Holders alone are held for the time.
func TestHoldersAlone(t *testing.T) {
	p := played(t, options(t, `# for tests
about   connections that do nothing
proxies none
rounds  1
server  -then stay
client  -work hold -flows 5
for     100ms
metric  served % more
`, direct(t))).Cases[0].Peers[0]
	if p.Failure != "" || !p.Verdict().Well() || p.Figures("served %")[0] != 100 {
		t.Errorf("%+v", p)
	}
}

func direct(t *testing.T) peer.Peer {
	t.Helper()
	p, err := peer.Find("none", peer.Paths{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reloading notes what it is told to reload with.
type reloading struct {
	faulty
	limits *[]int
}

func (r reloading) Reload(s peer.Setup, pid int) error {
	*r.limits = append(*r.limits, s.Members[0].Limit)
	return nil
}

// Events happen in the measured time, with the limits in turn: many more than are
// looked for, and twice as many as have room in it are too many.
func TestReloads(t *testing.T) {
	var limits []int
	text := strings.NewReplacer("warm    0s", "warm 0s\nevery 20ms reload 1 2", "for     500ms", "for 2s").Replace(overload)
	p := played(t, options(t, text, reloading{faulty{fault: right}, &limits})).Cases[0].Peers[0]
	if p.Failure != "" || len(limits) < 2 || len(limits) > 200 || !slices.Equal(limits[:2], []int{1, 2}) {
		t.Errorf("%v %+v", limits, p.Failure)
	}
}

// Several proxies at a time have servers and clients of their own, and are added
// up; each client process of them connects from elsewhere.
func TestCopies(t *testing.T) {
	p := played(t, options(t, `# for tests
about   two of all
proxies none
rounds  1
copies  2
members 2
server  -then close
client  a x2 -work short -flows 2
client  b -work keep -flows 1
warm    0s
for     500ms
metric  conn/s more
`, direct(t))).Cases[0].Peers[0]
	if p.Failure != "" {
		t.Fatal(p.Failure)
	}
	if r := p.Rounds[0]; r.Figures["req/s"] == 0 || r.Cores.Servers == 0 || r.Cores.Clients == 0 || r.Cores.Proxy != 0 {
		t.Errorf("%+v", r.Cores)
	}
}

// Once keeps what a scenario is about and makes it small: the flows of all
// processes of a line together, but not of those that arrivals decide about.
func TestSmall(t *testing.T) {
	s := parsed(t, `# for tests
about   large
proxies none
rounds  9
server  -then close -fifo 100ms -limit 7
network link
syn     many -work hold -flows 1000000
syn     few -work short -flows 1000
syn     none -work flood
client  a x4 -work short -flows 1000
client  b -work short -arrivals constant:10 -drain 2s -late 1s
client  c -work keep -flows 3
client  d -work short -arrivals constant:10 -drain 2s -sustain
every   10s reload
warm    2s
for     9s
metric  conn/s more
`)
	s.Cases[0].Copies = 7
	c := small(s.Cases[0])
	if c.Copies != 1 || c.Warm != smallWarm || c.For != smallFor || c.Every != smallEvery {
		t.Errorf("%+v", c)
	}
	for i, want := range []int{5000, 1000, 0, 50, 0, 3, 0} {
		if got := c.Clients[i].Config.Flows; got != want {
			t.Errorf("client %d: %d flows, want %d", i, got, want)
		}
	}
	for i, want := range map[int]string{
		3: "-flows 1000 -flows 50 -drain 1m0s", 4: "-late 1s -late 5s -drain 1m0s", 6: "-drain 2s -sustain",
	} {
		if args := strings.Join(c.Clients[i].Args, " "); !strings.HasSuffix(args, want) {
			t.Errorf("%s, want %s in the end", args, want)
		}
	}
	if args := strings.Join(c.Servers[0].Args, " "); !strings.HasSuffix(args, "-limit 7 -fifo 5s") || c.Settle != time.Minute || c.Ghosts != 7 {
		t.Error(args, c.Settle, c.Ghosts)
	}
	if was := s.Cases[0]; was.Clients[3].Config.Flows != 1000 || was.Servers[0].Config.Fifo != 100*time.Millisecond || len(was.Clients[5].Args) != 4 {
		t.Error("the scenario is changed")
	}
}

// What a generator made, and the proxy has counted of it.
func TestSyns(t *testing.T) {
	release, first := hist(3), hist(9)
	s := &seen{
		c: &scenario.Case{Copies: 1, Members: 1, Memory: "parked"}, proxied: true, span: measured{seconds: 2, proxies: 1}, grown: proc.Size{Memory: 95_000_000},
		clients: []clientSaw{{line: &scenario.Client{Syn: &syn.Config{Work: syn.Flood}}, Client: tally.Client{Seconds: 2, Handshakes: &tally.Handshakes{
			Sent: 1_000_000, Counted: 400_000, Release: release, First: first,
		}}}},
		known: &peer.Handshakes{Begun: 990_000, Parked: 950_000},
	}
	r, err := s.round()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"SYN/s": 198_000, "lost %": 1, "CPU µs/SYN": 0.5e6 / 198_000, "B/client": 100, "SYN-ACK p50 µs": 3000, "SYN-ACK p99.9 µs": 3000, "first byte p99 µs": 9000,
	} {
		if got := r.Figures[name]; math.Abs(got/want-1) > 0.01 {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	s.clients[0].Handshakes.Missed = 1
	if _, err := s.round(); err != nil {
		t.Error("who floods need not hear: ", err)
	}
	s.clients[0].line.Syn.Work = syn.Short
	if _, err := s.round(); err == nil {
		t.Error("a generator that is too slow is no fault")
	}
}

// The clients of one play differ in where they come from and what they draw; a
// scenario's own words come last.
func TestRoles(t *testing.T) {
	line := &scenario.Client{Args: []string{"-seed", "7"}}
	p := &play{series: &series{c: &scenario.Case{Warm: time.Second, For: 2 * time.Second}}, round: 1}
	first, second := p.role(new(site), line, 1), p.role(new(site), line, 2)
	for _, want := range []string{"-source 127.0.2.2", "-seed 2001", "-warm 1s", "-for 2s"} {
		if !strings.Contains(strings.Join(first, " "), want) {
			t.Errorf("no %q in %q", want, first)
		}
	}
	if slices.Equal(first, second) || first[len(first)-1] != "7" {
		t.Errorf("%q %q", first, second)
	}
}

// A generator that keeps connections, and one that waits behind them, cost the
// proxy memory apart; each packet of the first is a packet of the proxy's.
func TestKept(t *testing.T) {
	keep := &scenario.Client{Syn: &syn.Config{Work: syn.Keep}}
	keep.Config.Work = "keep"
	wait := &scenario.Client{Syn: &syn.Config{Work: syn.Hold}}
	wait.Config.Work = "hold"
	h := tally.NewHistogram
	s := &seen{
		c: &scenario.Case{Copies: 1, Members: 1, Memory: "pairs", Later: "parked"}, proxied: true,
		span: measured{seconds: 2, proxies: 1.5}, grown: proc.Size{Memory: 128_000}, later: proc.Size{Memory: 160_000},
		clients: []clientSaw{
			{line: keep, Client: tally.Client{Seconds: 2, Latency: h(), Lag: h(), Outcomes: tally.Outcomes{tally.Served: 2000}, Handshakes: &tally.Handshakes{
				Sent: 1000, Answered: 1000, Stood: 1000, Carried: 900, Segments: 6000,
			}}},
			{line: wait, late: true, Client: tally.Client{Outcomes: tally.Outcomes{tally.Served: 2100}, Handshakes: &tally.Handshakes{Sent: 2100}}},
		},
		known: &peer.Handshakes{Begun: 3000, Parked: 2000},
	}
	r, err := s.round()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"B/pair": 128, "B/client": 80, "carried %": 90, "CPU µs/packet": 250, "req/s": 1000, "lost %": 100 * 100. / 3100,
	} {
		if got := r.Figures[name]; math.Abs(got/want-1) > 0.01 {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	s.clients[0].Handshakes.Bad = 1
	if _, err := s.round(); err == nil {
		t.Error("a wrong checksum is no fault")
	}
}
