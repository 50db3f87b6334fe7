package report

import (
	"fmt"
	"slices"
	"strings"

	"penstock/bench/result"
)

// table is a case's figures: a line for each proxy, then one for the ratio to
// each rival, a column for each metric.
type table struct {
	Head  []string
	Lines []line
}

// line is one line of a table: its name and as many cells as there are heads.
type line struct {
	Name  string
	Ratio bool // of the first proxy to another, not a proxy's own figures
	Cells []string
}

// coresHead says whose cores the last column has.
const coresHead = "cores: proxy, clients, servers"

func tableOf(d *result.Document, c *result.Case) (t table) {
	for _, m := range d.Metrics {
		t.Head = append(t.Head, m.Name)
	}
	t.Head = append(t.Head, "lost", coresHead)
	for _, p := range c.Peers {
		t.Lines = append(t.Lines, peerLine(d, p))
	}
	for _, rival := range c.Rivals() {
		t.Lines = append(t.Lines, ratioLine(d, c, rival))
	}
	return t
}

func peerLine(d *result.Document, p *result.Peer) line {
	l := line{Name: p.Name}
	for _, m := range d.Metrics {
		l.Cells = append(l.Cells, p.Spread(m.Name).String())
	}
	lost := "-"
	if len(p.Rounds) > 0 {
		lost = fmt.Sprint(p.Verdict().Lost)
	}
	return line{Name: p.Name, Cells: append(l.Cells, lost, coresOf(p).String())}
}

// ratioLine marks with a star where the rival is the hardest of several.
func ratioLine(d *result.Document, c *result.Case, rival *result.Peer) line {
	l := line{Name: "ratio to " + rival.Name, Ratio: true}
	several := len(c.Rivals()) > 1
	for _, m := range d.Metrics {
		cell := result.SpreadOf(c.Ratios(m.Name, rival)).String()
		if several && c.Hardest(m) == rival {
			cell += " *"
		}
		l.Cells = append(l.Cells, cell)
	}
	l.Cells = append(l.Cells, "", "")
	return l
}

// starred says whether a ratio has a star, which then has to be explained.
func (t table) starred() bool {
	return slices.ContainsFunc(t.Lines, func(l line) bool {
		return slices.ContainsFunc(l.Cells, func(cell string) bool { return strings.HasSuffix(cell, " *") })
	})
}

// cores are the medians over the rounds.
type cores struct{ proxy, clients, servers result.Spread }

func coresOf(p *result.Peer) cores {
	var all [3][]float64
	for _, r := range p.Rounds {
		if r.Cores != (result.Cores{}) {
			all[0] = append(all[0], r.Cores.Proxy)
			all[1] = append(all[1], r.Cores.Clients)
			all[2] = append(all[2], r.Cores.Servers)
		}
	}
	return cores{result.SpreadOf(all[0]), result.SpreadOf(all[1]), result.SpreadOf(all[2])}
}

// String is "-" where nobody took the time.
func (c cores) String() string {
	if c.proxy.Count == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f, %.2f, %.2f", c.proxy.Median, c.clients.Median, c.servers.Median)
}
