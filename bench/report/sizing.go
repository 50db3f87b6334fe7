package report

import (
	"fmt"
	"math"
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

// sizingNote says what the sentences leave out.
const sizingNote = "only the proxy's own CPU time and memory count; what the kernel keeps for sockets, and the interrupts of a network card, come on top"

// counted is what memory is measured for.
var counted = map[string]string{"client": "waiting clients", "pair": "proxied pairs", "waiter": "waiters in the queue"}

func sized(p *result.Peer, m result.Metric) string {
	if per, ok := strings.CutPrefix(m.Name, "B/"); ok && counted[per] != "" {
		if s := p.Spread(m.Name); s.Median > 0 {
			return fmt.Sprintf("%s B of its memory each: a GiB for %s %s.", s, about((1<<30)/s.Median), counted[per])
		}
	}
	if s := perCore(p, m); s.Count > 0 {
		return fmt.Sprintf("%s %s for each core that it used.", s, m.Name)
	}
	return ""
}

// about writes a number of which three digits are known at best.
func about(x float64) string {
	if x < 1000 || x >= 1e6 {
		return result.Short(x)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return fmt.Sprintf("%.0f", math.Round(x/unit)*unit)
}

// busy is how many cores a proxy must have used for its rate to be said of one:
// one that mostly waits pays for each wake-up, and a full core would do more.
const busy = 0.5

// perCore divides a rate by the cores that the proxy used for it.
func perCore(p *result.Peer, m result.Metric) result.Spread {
	if !strings.HasSuffix(m.Name, "/s") {
		return result.Spread{}
	}
	var all []float64
	for _, r := range p.Rounds {
		if x, ok := r.Figures[m.Name]; ok && r.Cores.Proxy >= busy {
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
	return result.SpreadOf(all).Text(micros)
}

// micros writes a time given in µs.
func micros(us float64) string {
	switch {
	case us < 1e3:
		return result.Short(us) + " µs"
	case us < 1e6:
		return result.Short(us/1e3) + " ms"
	}
	return result.Short(us/1e6) + " s"
}

// lagging warns of proxies whose clients were so late themselves that times tell
// of clients more than of the proxy: by a tenth of what the slowest took.
func lagging(d *result.Document) (warnings []string) {
	var late []string
	for i := range d.Cases {
		c := &d.Cases[i]
		for _, p := range c.Peers {
			if laggard(p) {
				late = append(late, named(d, c, p.Name)+" "+lag(p))
			}
		}
	}
	if len(late) == 0 {
		return nil
	}
	return []string{"The clients themselves were late with what was due, so that times are not the proxy's alone. 99 % began within: " + strings.Join(late, "; ") + "."}
}

func laggard(p *result.Peer) bool {
	var shares []float64
	for _, r := range p.Rounds {
		if took := r.Latency.Percentile(99); took > 0 && r.Lag99 > 0 {
			shares = append(shares, r.Lag99/took)
		}
	}
	return result.SpreadOf(shares).Median > 0.1
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
