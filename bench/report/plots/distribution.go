package plots

import (
	"math"

	"gonum.org/v1/plot/plotter"

	"penstock/bench/result"
	"penstock/bench/tally"
)

// distributions draws each kind of time that a case has.
func distributions(d *result.Document, c *result.Case) (all []*picture) {
	for _, kind := range []struct {
		name, title, axis, note string
		of                      func(result.Round) *tally.Histogram
	}{
		{
			"latency", "Latency", "time from when a connection or request was due, or begun, to its end",
			"Further left is better; the upper part is the tail. All rounds together, of those who were served only.",
			func(r result.Round) *tally.Histogram { return r.Latency },
		},
		{
			"wait", "Wait", "time from when a client was due to its first byte at a server",
			"Further left is better; how steep a line is shows how alike clients were served.",
			func(r result.Round) *tally.Histogram { return r.Wait },
		},
		{
			"handover", "Hand-over of a freed slot", "time from a slot freed at the limit to the next connection there",
			"Further left is better: as long as this a server is idle though clients wait.",
			func(r result.Round) *tally.Histogram { return r.Handover },
		},
		{
			"release", "From a freed slot to the SYN-ACK", "time on the wire from the frame that frees a slot to the SYN-ACK that takes it",
			"Further left is better: who waits unanswered is told so soon that it is its turn.",
			func(r result.Round) *tally.Histogram { return r.Release },
		},
	} {
		if p := distribution(titled(kind.title, d, c), kind.axis, c, kind.of); p != nil {
			p.name, p.note = named(kind.name, d, c), kind.note
			p.main = len(d.Cases) == 1 || kind.name == "latency" && !varied(d.Cases)
			all = append(all, p)
		}
	}
	return all
}

// distribution is nil if nobody has this kind of time.
func distribution(title, axis string, c *result.Case, of func(result.Round) *tally.Histogram) *picture {
	p := newPicture(title, axis+", log scale", "share that took no longer")
	span, most := nowhere(), 0.0
	sums := map[string]*tally.Histogram{}
	for _, peer := range c.Peers {
		sum := merged(peer, of)
		if sum.Count() == 0 {
			continue
		}
		sums[peer.Name] = sum
		top := highest(sum)
		most = max(most, top)
		span.add(sum.Percentile(0.5))
		span.add(sum.Percentile(100 * (1 - math.Pow(10, -top))))
	}
	if span.empty() {
		return nil
	}
	logAxis(&p.plot.X, span, micros)
	p.plot.Y.Min, p.plot.Y.Max = 0, most
	p.plot.Y.Tick.Marker = tailTicks{}
	p.plot.Add(lines{x: true, y: true})
	for _, peer := range c.Peers {
		if sum := sums[peer.Name]; sum != nil {
			style := lookOf(peer.Name).line()
			p.plot.Add(stroke{thin(curve(sum), p.plot.X.Min, p.plot.X.Max, most), style})
			p.legend = append(p.legend, entry{name: peer.Name, line: &style})
		}
	}
	return p
}

func merged(p *result.Peer, of func(result.Round) *tally.Histogram) *tally.Histogram {
	sum := tally.NewHistogram()
	for _, r := range p.Rounds {
		sum.Merge(of(r))
	}
	return sum
}

// highest is how far up the tail a histogram says anything: the nine above
// which fewer than ten were counted, from 1 (90 %) to 5 (99.999 %).
func highest(h *tally.Histogram) float64 {
	return min(max(math.Floor(math.Log10(float64(h.Count()))-1+1e-9), 1), 5)
}

// curve is the share that took no longer, over the time. The last point stands
// where half of one would be left.
func curve(h *tally.Histogram) (points plotter.XYs) {
	var below, total = 0.0, float64(h.Count())
	for _, b := range h.Bars() {
		if below == 0 {
			points = append(points, plotter.XY{X: b.Micros, Y: 0})
		}
		below += float64(b.Count)
		points = append(points, plotter.XY{X: b.Micros, Y: tail(min(below, total-0.5) / total)})
	}
	return points
}

// thin leaves out points that nobody could tell from the one before: closer
// than a 300th of the plot in both directions.
func thin(points plotter.XYs, from, to, top float64) (kept plotter.XYs) {
	const most = 300
	for i, pt := range points {
		if i > 0 && i < len(points)-1 {
			last := kept[len(kept)-1]
			if math.Log(pt.X/last.X) < math.Log(to/from)/most && pt.Y-last.Y < top/most {
				continue
			}
		}
		kept = append(kept, pt)
		if pt.Y > top {
			break
		}
	}
	return kept
}
