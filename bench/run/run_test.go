package run

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/bench/peer"
	"penstock/bench/proc"
	"penstock/bench/result"
	"penstock/bench/scenario"
	"penstock/bench/stage"
)

// overload brings more than the server takes for a moment, so that there is a
// queue to be right or wrong about.
const overload = `# for tests
about   twice what the server takes for a moment, then little
proxies penstock
server  -then close -limit 2 -delay 2ms -fifo 100ms
client  -work short -arrivals constant:1600/200ms,constant:50 -drain 1m -late 20s
warm    0s
for     500ms
rounds  1
settle  1m
metric  conn/s more
`

// changes are those of overload for a fault that would not be seen else, or not soon.
// Who waits, or is late, has less time: in the others a machine that stands still may
// take so much. Who came last is next only when there are more to come no longer, and
// servers must count by then.
var changes = map[fault][]string{
	newest: {"constant:1600/200ms", "burst:1@1h/1s,constant:1600/200ms", "for     500ms", "for 2s", "-fifo 100ms", "-fifo 5ms"},
	drops:  {"-drain 1m", "-drain 2s"},
	late:   {"-late 20s", "-late 2s"},
}

func parsed(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// options are for a stage of the test's own.
func options(t *testing.T, text string, peers ...peer.Peer) Options {
	t.Helper()
	place, err := stage.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { place.Close() })
	return Options{Scenario: parsed(t, text), Peers: peers, Stage: place, Penbench: []string{os.Args[0]}}
}

func played(t *testing.T, o Options) *result.Document {
	t.Helper()
	doc, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Each fault is seen, and nothing is seen that there is not.
func TestFaultsAreReported(t *testing.T) {
	fields := map[string]func(result.Verdict) int64{
		"overshoots": func(v result.Verdict) int64 { return v.Overshoots },
		"stranded":   func(v result.Verdict) int64 { return v.Stranded },
		"lost":       func(v result.Verdict) int64 { return v.Lost },
		"ghosts":     func(v result.Verdict) int64 { return v.Ghosts },
		"overtaken":  func(v result.Verdict) int64 { return v.Overtaken },
		"late":       func(v result.Verdict) int64 { return v.Late },
	}
	wants := map[fault][]string{
		right: nil, greedy: {"overshoots"}, newest: {"overtaken"},
		drops: {"lost", "stranded"}, late: {"late"}, haunted: {"ghosts"},
	}
	for f, want := range wants {
		text := strings.NewReplacer(changes[f]...).Replace(overload)
		p := played(t, options(t, text, faulty{fault: f})).Cases[0].Peers[0]
		if p.Failure != "" {
			t.Errorf("%s failed: %s", p.Name, p.Failure)
			continue
		}
		t.Logf("%s: %+v, %+v, %v", p.Name, p.Verdict(), p.Rounds[0].Order, p.Outcomes())
		for name, of := range fields {
			if n := of(p.Verdict()); (n > 0) != slices.Contains(want, name) {
				t.Errorf("%s: %s is %d", p.Name, name, n)
			}
		}
	}
}

// broken is a proxy that ends at once.
type broken struct{ faulty }

func (broken) Name() string { return "broken" }
func (broken) Command(peer.Setup) ([]string, error) {
	return []string{"sh", "-c", "echo unknown flag >&2; exit 1"}, nil
}

// A proxy that can't start is a failure with its words, and not the end: it does
// no more rounds, the others do all.
func TestProxyThatFails(t *testing.T) {
	o := options(t, overload, broken{}, faulty{fault: right})
	o.Rounds, o.Once = 2, false
	o.For = 100 * time.Millisecond
	c := played(t, o).Cases[0]
	if p := c.Peers[0]; len(p.Rounds) != 0 || !strings.Contains(p.Failure, "unknown flag") {
		t.Errorf("%+v", p)
	}
	if p := c.Peers[1]; len(p.Rounds) != 2 || p.Failure != "" {
		t.Errorf("%+v", p)
	}
}

// A proxy that ends while it works has its words kept, whatever is looked at then.
func TestProxyThatDies(t *testing.T) {
	for _, change := range []string{"", "-work hold -flows 5\nmemory pairs"} {
		text := overload
		if change != "" {
			text = strings.Replace(text, "-work short -arrivals constant:1600/200ms,constant:50 -drain 1m -late 20s", change, 1)
		}
		if p := played(t, options(t, text, faulty{fault: mortal})).Cases[0].Peers[0]; !strings.Contains(p.Failure, "out of sorts") {
			t.Errorf("%q: %q", change, p.Failure)
		}
	}
}

// The end of the context, as a Ctrl-C makes it, ends everybody.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var others int
	up := faulty{fault: right, prepared: func() {
		go func() {
			for len(proc.Tree(os.Getpid())) < others+3 { // server, proxy, client
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
	}}
	o := options(t, overload, up)
	o.For = time.Hour
	others = len(proc.Tree(os.Getpid())) // itself, and the stage's
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left := proc.Tree(os.Getpid()); len(left) != others {
		t.Errorf("still there: %v", left)
	}
}

func TestBadOptions(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"case":  func(o *Options) { o.Case = "no such" },
		"round": func(o *Options) { o.Rounds = -1 },
		"proxy": func(o *Options) { o.Peers = nil },
		"time":  func(o *Options) { o.For = -1 },
	} {
		o := options(t, overload, faulty{fault: right})
		change(&o)
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Who can't do a case is in the others only, and nobody is in a case that none
// can do.
func TestWithout(t *testing.T) {
	text := strings.Replace(overload, "proxies penstock", "proxies penstock greedy\ncase few n=1\ncase many n=2\ncase all n=3 who=greedy\nlet who=\nwithout $who", 1)
	for _, c := range []struct {
		peers []peer.Peer
		want  []int // peers of each case
	}{
		{[]peer.Peer{faulty{fault: right}, faulty{fault: greedy}}, []int{2, 2, 1}},
		{[]peer.Peer{faulty{fault: greedy}}, []int{1, 1}},
	} {
		o := options(t, text, c.peers...)
		o.Once = true
		var got []int
		for _, dc := range played(t, o).Cases {
			got = append(got, len(dc.Peers))
			for _, p := range dc.Peers {
				if p.Failure != "" || len(p.Rounds) != 1 {
					t.Errorf("%s %+v", dc.Name, p)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
		if o.Length() <= 0 {
			t.Error("it takes no time")
		}
	}
}
