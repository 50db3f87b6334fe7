package scenario

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"penstock/bench/client"
	"penstock/bench/result"
	"penstock/bench/syn"
	"penstock/bench/tally"
)

// whole is a scenario with every directive in it.
const whole = `# Why this is here.
#
# What to look at.

about    all there is   # a comment
proxies  penstock haproxy-copy none
rounds   7
metric   conn/s more
metric   p99 ms
metric   p99 ms slow
goal     conn/s >= 1.1 haproxy-copy
goal     p99 ms slow <= 20 in 1k
goal     p99 ms <= 1.2 in 1k/100
vary     clients
let      flows=3 how=reset mode="serve 1s, stall 1s"
case     100 flows=100 copies=1
case     1k  flows=1000 copies=2 x=1000
# in between
server   a -then close -limit 4
server   b -does "$mode" -limit 5
client   x2 -work short -flows 10
client   slow x3 -work short -flows 20 -give-up $how
members  2
copies   ${copies}
loops    4
penstock -pool default,queue-fair=source/24
penstock -max-connections 5
haproxy  defaults timeout queue 1s
nginx    stream proxy_timeout 1m
every    200ms reload 4 8
memory   parked
warm     10ms
for      20ms
settle   30ms
allow    reset empty reset
ghosts   12
`

func TestParse(t *testing.T) {
	s, err := Parse("whole", whole)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "whole" || s.About != "all there is" || s.Why != "Why this is here.\n\nWhat to look at." || s.Rounds != 7 || s.Vary != "clients" {
		t.Errorf("%+v", s)
	}
	same(t, s.Proxies, []string{"penstock", "haproxy-copy", "none"})
	same(t, s.Metrics, []result.Metric{{Name: "conn/s", More: true}, {Name: "p99 ms"}, {Name: "p99 ms slow"}})
	same(t, s.Goals, []result.Goal{
		{Metric: "conn/s", Least: true, Value: 1.1, To: "haproxy-copy"},
		{Metric: "p99 ms slow", Case: "1k", Value: 20},
		{Metric: "p99 ms", Case: "1k", Over: "100", Value: 1.2},
	})
	if len(s.Cases) != 2 || s.Cases[0].X != 100 || s.Cases[1].X != 1000 || s.Cases[1].Name != "1k" || s.Cases[0].Copies != 1 {
		t.Fatalf("%+v", s.Cases)
	}
	c := s.Cases[1]
	if c.Copies != 2 || c.Members != 2 || c.Loops != 4 || c.Every != 200*time.Millisecond || c.Event != "reload" || c.Memory != "parked" ||
		c.Warm != 10*time.Millisecond || c.For != 20*time.Millisecond || c.Settle != 30*time.Millisecond || c.Ghosts != 12 {
		t.Errorf("%+v", c)
	}
	same(t, c.Limits, []int{4, 8})
	same(t, c.Allow, []tally.Outcome{tally.Reset, tally.Empty})
	same(t, c.More("penstock"), []string{"-pool default,queue-fair=source/24", "-max-connections 5"})
	same(t, c.More("haproxy-copy"), []string{"defaults timeout queue 1s"})
	same(t, c.More("none"), nil)
	same(t, c.Servers[1].Args, []string{"-does", "serve 1s, stall 1s", "-limit", "5"})
	if a, b := c.Clients[0], c.Clients[1]; a.Name != "" || a.Count != 2 || b.Name != "slow" || b.Count != 3 || b.Args[5] != "reset" {
		t.Errorf("%+v", c.Clients)
	}
	if c.Lines[0] != "about all there is" || c.Lines[len(c.Lines)-1] != "ghosts 12" || !strings.Contains(strings.Join(c.Lines, "\n"), "\ncopies 2\n") {
		t.Errorf("%q", c.Lines)
	}
}

func same[T any](t *testing.T, got, want []T) {
	t.Helper()
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// least is the smallest scenario, without its first line's number.
const least = `# Why.
about    a
proxies  penstock
metric   conn/s more
server   -then close
client   -work short
`

func TestDefaults(t *testing.T) {
	s, err := Parse("least", least)
	if err != nil {
		t.Fatal(err)
	}
	want := Case{Copies: 1, Members: 1, Loops: 2, Warm: 500 * time.Millisecond, For: 3 * time.Second, Settle: 5 * time.Second}
	want.Servers, want.Clients, want.Lines = s.Cases[0].Servers, s.Cases[0].Clients, s.Cases[0].Lines
	if !reflect.DeepEqual(s.Cases, []Case{want}) || s.Rounds != 3 {
		t.Errorf("%+v", s)
	}
	s, err = Parse("least", least+"ghosts any")
	if err != nil || s.Cases[0].Ghosts != math.MaxInt {
		t.Errorf("%+v %v", s, err)
	}
}

// TestGiven sets variables from outside.
func TestGiven(t *testing.T) {
	text := least + "let w=1s f=2s\ncase a w=3s\ncase b w=4s\nwarm $w\nfor ${f}\n"
	s, err := Parse("v", text, Variable{"w", "5s"})
	if err != nil || s.Cases[0].Warm != 5*time.Second || s.Cases[1].Warm != 5*time.Second || s.Cases[1].For != 2*time.Second {
		t.Errorf("%+v %v", s, err)
	}
	if _, err := Parse("v", text, Variable{"u", "1"}); err == nil || err.Error() != `v.bench: "u": is not a variable (known: $f, $w)` {
		t.Error(err)
	}
}

func TestXIsTheFirstValue(t *testing.T) {
	s, err := Parse("v", least+"case a n=12 m=5\ncase b n=fast m=6\ncase c\ncase d n=5 x=-1.5\nlet n=1\n", Variable{"m", "7"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{12, 0, 0, -1.5} {
		if s.Cases[i].X != want {
			t.Errorf("case %s: x %v, want %v", s.Cases[i].Name, s.Cases[i].X, want)
		}
	}
}

func TestProgram(t *testing.T) {
	s, err := Parse("core", "# Why.\nabout a\nprogram core -waiting $n\nlet n=5\nmetric admissions/s more\ngoal admissions/s >= 1\n")
	if err != nil {
		t.Fatal(err)
	}
	same(t, s.Cases[0].Program, []string{"core", "-waiting", "5"})
}

// TestNewlines reads files of other systems alike.
func TestNewlines(t *testing.T) {
	a, err := Parse("least", least)
	b, err2 := Parse("least", strings.ReplaceAll(least, "\n", "\r\n"))
	if err != nil || err2 != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%v %v\n%+v\n%+v", err, err2, a, b)
	}
}

// A generator is a client with a link before it.
func TestGenerator(t *testing.T) {
	s, err := Parse("g", `# Why.
about    a
proxies  penstock
metric   conn/s more
server   -then close
syn      crowd -work hold -flows 1000000 -rate 60000 -again old -request 0
syn      -work flood -rate 200000
network  link
penstock -virtual default,syn-proof=off
`)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Cases[0]
	hold, flood := c.Clients[0], c.Clients[1]
	if !c.Link || hold.Name != "crowd" || hold.Count != 1 || hold.Syn.Again != syn.Old || hold.Config.Work != client.Hold || hold.Config.Flows != 1_000_000 || hold.Config.Rate != 60_000 {
		t.Errorf("%+v %+v", hold, hold.Syn)
	}
	if flood.Syn.Work != syn.Flood || flood.Config.Work != client.Short || flood.Config.Flows != 0 || flood.Config.Open() {
		t.Errorf("%+v %+v", flood, flood.Syn)
	}
}

// Clients that are kept, and who waits behind them, before a server of frames.
func TestReflect(t *testing.T) {
	s, err := Parse("r", `# Why.
about    a
proxies  penstock
metric   B/pair
reflect  -limit 1000 -request 64 -response 256
syn      first -work hold -flows 5 -request 0
syn      kept -work keep -flows 1000 -asks 500
syn      last -work hold -flows 2000 -request 0
memory   pairs parked
network  links
`)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Cases[0]
	if r := c.Servers[0]; !c.Link || !c.Links || r.Reflect.Limit != 1000 || r.Config.Limit != 1000 || r.Config.Response != 256 || r.Config.Then != "stay" {
		t.Errorf("%+v", r)
	}
	if c.Memory != "pairs" || c.Later != "parked" || c.Late(0) || c.Late(1) || !c.Late(2) {
		t.Errorf("%+v", c)
	}
	if kept := c.Clients[1]; !kept.Keeps() || !kept.Stays() || kept.Holds() || kept.Config.Work != client.Keep || kept.Config.Flows != 1000 {
		t.Errorf("%+v", kept)
	}
	if _, err := Parse("r", "# w\nabout a\nproxies penstock none\nmetric B/pair\nreflect a\nsyn -work hold\nnetwork links\n"); err == nil ||
		err.Error() != `r.bench: reflect: "none": must not be one of the proxies: a reflector is behind one` {
		t.Error(err)
	}
}
