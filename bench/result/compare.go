package result

import (
	"math"
	"strconv"

	"penstock/bench/tally"
)

// Subject is the proxy that goals are about; Without is the run without one,
// which shows what clients and servers could do and is nobody's rival.
const (
	Subject = "penstock"
	Without = "none"
)

// Figures are those of the rounds that have the metric, in order.
func (p *Peer) Figures(metric string) (xs []float64) {
	for _, r := range p.Rounds {
		if x, ok := r.Figures[metric]; ok {
			xs = append(xs, x)
		}
	}
	return xs
}

// Spread is of the metric over the rounds.
func (p *Peer) Spread(metric string) Spread { return SpreadOf(p.Figures(metric)) }

// Verdict is the sum over the rounds.
func (p *Peer) Verdict() (sum Verdict) {
	for _, r := range p.Rounds {
		sum.Overshoots += r.Verdict.Overshoots
		sum.Stranded += r.Verdict.Stranded
		sum.Lost += r.Verdict.Lost
		sum.Ghosts += r.Verdict.Ghosts
		sum.Overtaken += r.Verdict.Overtaken
		sum.Late += r.Verdict.Late
	}
	return sum
}

// Outcomes are the sum over the rounds.
func (p *Peer) Outcomes() (sum tally.Outcomes) {
	for _, r := range p.Rounds {
		sum.Add(&r.Outcomes)
	}
	return sum
}

// Peer is the one of this name, nil if it did not run.
func (c *Case) Peer(name string) *Peer {
	for _, p := range c.Peers {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Rivals are whom the first is compared with.
func (c *Case) Rivals() (rivals []*Peer) {
	for i, p := range c.Peers {
		if i > 0 && p.Name != Without {
			rivals = append(rivals, p)
		}
	}
	return rivals
}

// Ratios divides the first peer's figures by the rival's, round by round: what
// the machine did to both of them in a round falls out. A round that either
// lacks, or whose divisor is zero, gives none.
func (c *Case) Ratios(metric string, rival *Peer) []float64 { return ratios(metric, c.Peers[0], rival) }

func ratios(metric string, of, by *Peer) (all []float64) {
	for i := range min(len(of.Rounds), len(by.Rounds)) {
		a, hasA := of.Rounds[i].Figures[metric]
		b, hasB := by.Rounds[i].Figures[metric]
		if ratio := a / b; hasA && hasB && !math.IsNaN(ratio) && !math.IsInf(ratio, 0) {
			all = append(all, ratio)
		}
	}
	return all
}

// Hardest is the rival with the best median, nil if none has the metric.
func (c *Case) Hardest(m Metric) (best *Peer) {
	var most Spread
	for _, r := range c.Rivals() {
		s := r.Spread(m.Name)
		if s.Count > 0 && (best == nil || s.Median != most.Median && m.More == (s.Median > most.Median)) {
			best, most = r, s
		}
	}
	return best
}

// Judgement is what a goal came to in one case.
type Judgement struct {
	Goal     Goal
	Case     *Case
	Measured Spread // of the ratio, or of the figure
	Reached  bool   // by the median; false if nothing was measured
}

// Judge holds the goals against what was measured, each in every case that it
// is for. A document whose first peer is not the Subject has nothing to judge.
func (d *Document) Judge() (all []Judgement) {
	for _, g := range d.Goals {
		for i := range d.Cases {
			c := &d.Cases[i]
			if g.of(c) {
				all = append(all, g.judge(d, c))
			}
		}
	}
	return all
}

func (g Goal) of(c *Case) bool {
	return (g.Case == "" || g.Case == c.Name) && len(c.Peers) > 0 && c.Peers[0].Name == Subject
}

// Ratio says that the goal is of one.
func (g Goal) Ratio() bool { return g.To != "" || g.Over != "" }

func (g Goal) judge(d *Document, c *Case) Judgement {
	j := Judgement{Goal: g, Case: c}
	own := c.Peers[0]
	switch rival := c.Peer(g.To); {
	case !g.Ratio():
		j.Measured = own.Spread(g.Metric)
	case g.Over != "":
		j.Measured = SpreadOf(ratios(g.Metric, own, d.subject(g.Over)))
	case rival != nil:
		j.Measured = SpreadOf(ratios(g.Metric, own, rival))
	}
	if j.Measured.Count > 0 {
		j.Reached = g.Least && j.Measured.Median >= g.Value || !g.Least && j.Measured.Median <= g.Value
	}
	return j
}

// subject is the first peer of a case; one without rounds if there is none.
func (d *Document) subject(name string) *Peer {
	for i := range d.Cases {
		if c := &d.Cases[i]; c.Name == name && len(c.Peers) > 0 && c.Peers[0].Name == Subject {
			return c.Peers[0]
		}
	}
	return new(Peer)
}

// Text is the goal without its metric, the value as it was written:
// ">= 1.1x haproxy" or "<= 1.2x 1k" of a ratio, or "<= 256".
func (g Goal) Text() string {
	relation := "<="
	if g.Least {
		relation = ">="
	}
	value := strconv.FormatFloat(g.Value, 'f', -1, 64)
	if !g.Ratio() {
		return relation + " " + value
	}
	return relation + " " + value + "x " + g.To + g.Over
}
