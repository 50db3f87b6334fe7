package run

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"penstock/bench/peer"
	"penstock/bench/scenario"
	"penstock/bench/stage"
)

// Options say what to play.
type Options struct {
	Scenario *scenario.Scenario
	Peers    []peer.Peer // in the order to show; the first is compared with the others
	Rounds   int         // 0: the scenario's

	// For is how long each round is measured, 0 the scenario's. Case is the only
	// one to play, empty all.
	For  time.Duration
	Case string

	// Once plays one short round of everything with few clients, to see that it
	// works: see small.
	Once bool

	Stage    *stage.Stage // stays the caller's
	Penbench []string     // the command that "client", "server" and programs follow
	Command  string       // that repeats the run, for the document
	Progress io.Writer    // a terminal; nil: quiet

	// Later is how long what is played after this takes, by Length: the line of
	// progress counts it too.
	Later time.Duration
}

// Length is about how long Run takes, 0 for options that it refuses.
func (o Options) Length() time.Duration {
	cases, err := o.complete()
	if err != nil {
		return 0
	}
	return o.planned(cases)
}

// cast are the peers that play a case.
func (o *Options) cast(c *scenario.Case) []peer.Peer {
	return slices.DeleteFunc(slices.Clone(o.Peers), func(p peer.Peer) bool { return slices.Contains(c.Without, p.Name()) })
}

func (o *Options) planned(cases []scenario.Case) (sum time.Duration) {
	for i := range cases {
		sum += length(&cases[i]) * time.Duration(len(o.cast(&cases[i]))*o.Rounds)
	}
	return sum
}

// complete checks the options and fills in the scenario's values. It returns
// the cases to play.
func (o *Options) complete() (cases []scenario.Case, err error) {
	if o.Rounds == 0 {
		o.Rounds = o.Scenario.Rounds
	}
	if o.Once {
		o.Rounds = 1
	}
	if o.Rounds < 1 || o.For < 0 || len(o.Peers) == 0 {
		return nil, errors.New("at least 1 round and 1 proxy are needed, and a time that is not negative")
	}
	var names []string
	for _, c := range o.Scenario.Cases {
		names = append(names, c.Name)
		if o.Case != "" && c.Name != o.Case || len(o.cast(&c)) == 0 {
			continue
		}
		if o.For > 0 {
			c.For = o.For
		}
		if o.Once {
			c = small(c)
		}
		if o.Once && len(c.Program) > 0 && len(cases) > 0 {
			continue // the first is the smallest
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("case %q is not one of %q, or none of these proxies does it", o.Case, names)
	}
	return cases, nil
}

// What small leaves of a case.
const (
	smallFlows = 200  // of each client line, if arrivals don't decide
	smallSyns  = 5000 // of a generator
	smallWarm  = 100 * time.Millisecond
	smallFor   = 500 * time.Millisecond
	smallEvery = 150 * time.Millisecond // an event, if there is one

	// Who is behind, or late, by less is so since the machine stood still, or one of
	// its processors: a scenario's own bounds are for a machine that measures.
	smallBound = 5 * time.Second
	smallDrain = time.Minute // at most: it ends when all are served
)

// small is the case with less time, one proxy at a time, and few clients: enough
// to see that nothing is lost, not to measure.
func small(c scenario.Case) scenario.Case {
	c.Warm, c.For = min(c.Warm, smallWarm), min(c.For, smallFor)
	c.Copies, c.Every = 1, min(c.Every, smallEvery)
	c.Clients, c.Servers = slices.Clone(c.Clients), slices.Clone(c.Servers)
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Reflect != nil && s.Config.Limit > smallSyns { // else nobody would wait
			s.Config.Limit = smallSyns
			s.Args = append(slices.Clone(s.Args), "-limit", fmt.Sprint(smallSyns))
		}
		if f := &c.Servers[i].Config.Fifo; *f > 0 && *f < smallBound {
			*f = smallBound
			c.Servers[i].Args = append(slices.Clone(c.Servers[i].Args), "-fifo", smallBound.String())
		}
	}
	for i := range c.Clients {
		cl := &c.Clients[i]
		each := max(smallFlows/cl.Count, 1)
		if cl.Syn != nil {
			each = smallSyns
		}
		if !cl.Config.Open() && flows(&cl.Config) > each {
			cl.Config.Flows = each
			cl.Args = append(append([]string(nil), cl.Args...), "-flows", fmt.Sprint(each))
		}
		patiently(cl)
		if cl.Config.Sustain { // who is cut in the end may just have got a slot, if there was no time for all
			c.Ghosts = max(c.Ghosts, slots(&c))
		}
	}
	c.Settle = max(c.Settle, smallDrain)
	return c
}

// patiently has a client wait longer, if that does not make more clients come.
func patiently(cl *scenario.Client) {
	cl.Args = slices.Clone(cl.Args)
	if cl.Config.Late > 0 && cl.Config.Late < smallBound {
		cl.Config.Late = smallBound
		cl.Args = append(cl.Args, "-late", smallBound.String())
	}
	if !cl.Config.Sustain && cl.Config.Drain < smallDrain {
		cl.Config.Drain = smallDrain
		cl.Args = append(cl.Args, "-drain", smallDrain.String())
	}
}
