package scenarios

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/bench/peer"
	"penstock/bench/scenario"
)

// all are the scenarios, which must parse.
func all(t *testing.T) []*scenario.Scenario {
	t.Helper()
	list, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAllAreListed finds files that order has forgotten, and the other way
// round.
func TestAllAreListed(t *testing.T) {
	files, err := filepath.Glob("*" + suffix)
	if err != nil {
		t.Fatal(err)
	}
	if names := Names(); len(files) != len(order) || !slices.Equal(names, order) {
		t.Errorf("order is %q, there are files for %q", order, names)
	}
	if _, err := Text("nothing"); err == nil || !strings.HasPrefix(err.Error(), `scenario "nothing" is not one of short, `) {
		t.Error(err)
	}
}

// TestWords holds that each says what it is, in a line, and why.
func TestWords(t *testing.T) {
	for _, s := range all(t) {
		if len(s.About) > 80 || strings.Contains(s.About, "$") {
			t.Errorf("%s: about must be a line for a list: %q", s.Name, s.About)
		}
		if len(s.Why) < 200 {
			t.Errorf("%s: why it is there is hardly said: %q", s.Name, s.Why)
		}
		if s.Vary != "" != (len(s.Cases) > 1 && s.Cases[1].X != s.Cases[0].X) {
			t.Errorf("%s: varies %q in %d cases, from %v on", s.Name, s.Vary, len(s.Cases), s.Cases[0].X)
		}
	}
}

// TestJudged holds each to be judged: by a goal, and by what servers and
// clients check.
func TestJudged(t *testing.T) {
	for _, s := range all(t) {
		if len(s.Goals) == 0 {
			t.Errorf("%s has no goal", s.Name)
		}
		for _, c := range s.Cases {
			if len(c.Program) == 0 {
				judged(t, s.Name+" "+c.Name, c)
			}
		}
	}
}

func judged(t *testing.T, name string, c scenario.Case) {
	t.Helper()
	open := true
	for _, cl := range c.Clients {
		open = open && cl.Config.Open()
		if s := c.Servers[0].Config; cl.Config.Request != s.Request && cl.Config.Request > 0 || s.Then == "close" && cl.Config.Response != s.Response {
			t.Errorf("%s: client and server differ in sizes", name)
		}
	}
	for _, s := range c.Servers {
		for _, limit := range c.Limits {
			if limit > s.Config.Limit {
				t.Errorf("%s: a reload allows %d, the server %d", name, limit, s.Config.Limit)
			}
		}
		if s.Config.Limit > 0 && c.Memory == "" && len(c.Clients) == 1 && c.Clients[0].Config.Patience.Zero() && s.Config.Fifo == 0 {
			t.Errorf("%s: clients wait, and their order is not judged", name)
		}
	}
	if open && c.Ghosts > 20 {
		t.Errorf("%s: an open model ends in order, and %d ghosts are allowed", name, c.Ghosts)
	}
}

// TestFits holds that no process needs more descriptors than 20,000, an
// ordinary limit.
func TestFits(t *testing.T) {
	const most = 20_000 - 200
	for _, s := range all(t) {
		for _, c := range s.Cases {
			flows, served := 0, 0
			for _, cl := range c.Clients {
				if cl.Syn != nil && !answers(s, &c) {
					continue // who waits has no descriptor
				}
				flows += cl.Config.Flows * cl.Count
			}
			for _, srv := range c.Servers {
				if srv.Config.Limit == 0 {
					served = flows
				}
				served += srv.Config.Limit * c.Members
			}
			if flows+min(served, flows) > most {
				t.Errorf("%s %s: a proxy needs %d descriptors", s.Name, c.Name, flows+min(served, flows))
			}
		}
	}
}

// answers says that a proxy takes part which answers who waits.
func answers(s *scenario.Scenario, c *scenario.Case) bool {
	return slices.ContainsFunc(s.Proxies, func(name string) bool { return name != "penstock" && !slices.Contains(c.Without, name) })
}

// TestTime holds that a scenario is no longer than one waits for it, and all
// together no longer than 27 minutes. Starting and ending count with
// a second a case, opening with the rate of clients.
func TestTime(t *testing.T) {
	var sum time.Duration
	for _, s := range all(t) {
		var one time.Duration
		for _, c := range s.Cases {
			one += play(&c) * time.Duration(s.Rounds*max(len(s.Proxies)-len(c.Without), 1))
		}
		if one > 3*time.Minute {
			t.Errorf("%s takes %v", s.Name, one)
		}
		t.Logf("%-20s %v", s.Name, one.Round(time.Second))
		sum += one
	}
	if t.Logf("all: %v", sum.Round(time.Second)); sum > 27*time.Minute {
		t.Errorf("all take %v", sum)
	}
}

// play is how long one round of one proxy takes.
func play(c *scenario.Case) time.Duration {
	one := time.Second
	if c.Memory == "" {
		one += c.Warm + c.For
	}
	const fast = 100_000 // a second, of those that come as fast as they can
	for _, cl := range c.Clients {
		rate := cl.Config.Rate
		if rate == 0 {
			rate = fast
		}
		one += time.Duration(cl.Config.Flows) * time.Second / time.Duration(rate)
	}
	return one
}

// TestShortIsShort holds that the first look of a new user takes less than a
// minute: two proxies.
func TestShortIsShort(t *testing.T) {
	s := all(t)[0]
	if c := s.Cases[0]; s.Name != "short" || time.Duration(2*s.Rounds)*(c.Warm+c.For+1500*time.Millisecond) >= time.Minute {
		t.Errorf("%s with two proxies: %d rounds of %v", s.Name, s.Rounds, c.For)
	}
}

// TestAccepted asks each program that is here whether it takes the lines that
// scenarios have for it.
func TestAccepted(t *testing.T) {
	paths := peer.Paths{Penstock: filepath.Join(t.TempDir(), "penstock")}
	if out, err := exec.Command("go", "build", "-o", paths.Penstock, "penstock/cmd/penstock").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, s := range all(t) {
		for _, name := range s.Proxies {
			t.Run(s.Name+"/"+name, func(t *testing.T) {
				p, err := peer.Find(name, paths)
				if err != nil {
					t.Skip(err)
				}
				for _, c := range s.Cases {
					if !slices.Contains(c.Without, name) {
						accepted(t, p, c)
					}
				}
			})
		}
	}
}

func accepted(t *testing.T, p peer.Peer, c scenario.Case) {
	t.Helper()
	set := peer.Setup{
		Dir: t.TempDir(), Listen: netip.MustParseAddrPort("127.0.0.1:8080"),
		Connections: 15_000, Loops: c.Loops, Reloads: c.Every > 0, More: c.More(p.Name()),
	}
	if _, tapped := p.(peer.Tapped); tapped && c.Link {
		set.Listen, set.Tap = netip.MustParseAddrPort("198.18.0.100:80"), &peer.Tap{Device: "tap0", Address: netip.MustParsePrefix("198.18.0.100/15")}
	}
	server := "127.0.0.1"
	if c.Links {
		server = "10.18.0.2"
		if set.Tap != nil {
			set.Tap.Servers, set.Tap.Behind = "tap1", netip.MustParsePrefix("10.18.0.1/24")
		}
	}
	for i, s := range c.Servers {
		for j := range c.Members {
			set.Members = append(set.Members, peer.Member{Address: netip.MustParseAddrPort(fmt.Sprintf("%s:%d", server, 9000+100*i+j)), Limit: s.Config.Limit})
		}
	}
	argv, err := p.Command(set)
	if errors.Is(err, peer.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if check := p.Check(set); check != nil {
		if out, err := exec.Command(check[0], check[1:]...).CombinedOutput(); err != nil {
			text, _ := os.ReadFile(argv[len(argv)-1])
			t.Errorf("%q: %v\n%s\n%s", check, err, out, text)
		}
	}
}
