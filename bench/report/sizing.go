package report

import (
	"fmt"
	"strings"

	"penstock/bench/result"
)

// sizing says what a host has to have: work for each core of the proxy, and
// clients for each GiB. Empty where nothing of that was measured.
func sizing(d *result.Document) (sentences []string) {
	for i := range d.Cases {
		c := &d.Cases[i]
		for _, p := range c.Peers {
			if p.Name == result.Without {
				continue
			}
			for _, m := range d.Metrics {
				if text := sized(p, m); text != "" {
					sentences = append(sentences, named(d, c, p.Name)+": "+text)
				}
			}
		}
	}
	return sentences
}

// counted is what memory is measured for.
var counted = map[string]string{"client": "waiting clients", "pair": "proxied pairs", "waiter": "waiters in the queue"}

func sized(p *result.Peer, m result.Metric) string {
	if per, ok := strings.CutPrefix(m.Name, "B/"); ok && counted[per] != "" {
		if s := p.Spread(m.Name); s.Median > 0 {
			return fmt.Sprintf("a GiB of memory is enough for %s %s, of %s B each.", result.Short((1<<30)/s.Median), counted[per], s)
		}
	}
	if s := perCore(p, m); s.Count > 0 {
		return fmt.Sprintf("a core that it has for itself does %s %s.", s, m.Name)
	}
	return ""
}

// perCore divides a rate by the cores that the proxy used for it.
func perCore(p *result.Peer, m result.Metric) result.Spread {
	if !strings.HasSuffix(m.Name, "/s") {
		return result.Spread{}
	}
	var all []float64
	for _, r := range p.Rounds {
		if x, ok := r.Figures[m.Name]; ok && r.Cores.Proxy > 0.01 {
			all = append(all, x/r.Cores.Proxy)
		}
	}
	return result.SpreadOf(all)
}

// room is how much clients and servers had left while a proxy was measured.
type room struct {
	Case, Proxy, Cores, Lag, Beyond string
}

// headroom has a line for each proxy of each case.
func headroom(d *result.Document) (lines []room) {
	for i := range d.Cases {
		c := &d.Cases[i]
		for _, p := range c.Peers {
			cores := coresOf(p)
			if cores.proxy.Count == 0 {
				continue
			}
			lines = append(lines, room{c.Name, p.Name, cores.String(), lag(p), beyond(d, c, p)})
		}
	}
	return lines
}

// lag is how late clients began what was due, "-" for a closed model.
func lag(p *result.Peer) string {
	var all []float64
	for _, r := range p.Rounds {
		if r.Lag99 > 0 {
			all = append(all, r.Lag99)
		}
	}
	s := result.SpreadOf(all)
	if s.Count == 0 {
		return "-"
	}
	return s.String() + " µs"
}

// beyond is how many times as much the same clients and servers did without a
// proxy, by the first metric.
func beyond(d *result.Document, c *result.Case, p *result.Peer) string {
	without := c.Peer(result.Without)
	if without == nil || without == p || len(d.Metrics) == 0 || !d.Metrics[0].More {
		return "-"
	}
	own, free := p.Spread(d.Metrics[0].Name), without.Spread(d.Metrics[0].Name)
	if own.Count == 0 || free.Count == 0 || own.Median == 0 {
		return "-"
	}
	return result.Short(free.Median/own.Median) + "x"
}
