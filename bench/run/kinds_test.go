package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/bench/peer"
	"penstock/bench/scenario"
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
`, faulty{fault: right})).Cases[0].Peers[0]
	if c.Failure != "" {
		t.Fatal(c.Failure)
	}
	// 20 that wait, one descriptor each, and the served one's two.
	if got := c.Figures("fds/client"); len(got) != 1 || got[0] < 1 || got[0] > 1.3 {
		t.Errorf("fds/client %v", got)
	}
	if v := c.Verdict(); !v.Well() || c.Rounds[0].Figures["B/client"] == 0 {
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

// Events happen in the measured time, with the limits in turn.
func TestReloads(t *testing.T) {
	var limits []int
	text := strings.Replace(overload, "warm    0s", "warm 0s\nevery 100ms reload 1 2", 1)
	p := played(t, options(t, text, reloading{faulty{fault: right}, &limits})).Cases[0].Peers[0]
	if p.Failure != "" || len(limits) < 2 || len(limits) > 5 || !slices.Equal(limits[:2], []int{1, 2}) {
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
for     100ms
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
copies  7
server  -then close
client  a x4 -work short -flows 1000
client  b -work short -arrivals constant:10
client  c -work keep -flows 3
every   10s reload
warm    2s
for     9s
metric  conn/s more
`)
	c := small(s.Cases[0])
	if c.Copies != 1 || c.Warm != smallWarm || c.For != smallFor || c.Every != smallEvery {
		t.Errorf("%+v", c)
	}
	for i, want := range []int{50, 0, 3} {
		if got := c.Clients[i].Config.Flows; got != want {
			t.Errorf("client %d: %d flows, want %d", i, got, want)
		}
	}
	if args := strings.Join(c.Clients[0].Args, " "); !strings.HasSuffix(args, "-flows 1000 -flows 50") {
		t.Error(args)
	}
	if s.Cases[0].Clients[0].Config.Flows != 1000 {
		t.Error("the scenario is changed")
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
