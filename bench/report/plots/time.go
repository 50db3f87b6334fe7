package plots

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"penstock/bench/result"
	"penstock/bench/tally"
)

// overTime draws clients that wait and connections in use.
func overTime(d *result.Document, c *result.Case) (all []*picture) {
	for _, kind := range []struct {
		name, title, axis, note string
		of                      func(result.Round) tally.Series
	}{
		{
			"waiting", "Waiting clients", "clients connected and not with a server",
			"The line is the median of the rounds, the shade their range.",
			func(r result.Round) tally.Series { return r.Waiting },
		},
		{
			"in-use", "Connections in use", "connections at servers",
			"The line is the median of the rounds, the shade their range. Below a limit while clients wait, capacity is unused.",
			func(r result.Round) tally.Series { return r.InUse },
		},
	} {
		if p := series(titled(kind.title, d, c), kind.axis, c, kind.of); p != nil {
			p.name, p.note = named(kind.name, d, c), kind.note
			all = append(all, p)
		}
	}
	return all
}

// series is nil if nobody has more than zeros.
func series(title, axis string, c *result.Case, of func(result.Round) tally.Series) *picture {
	p := newPicture(title, "time since the first sample, s", axis)
	p.plot.Add(lines{x: true, y: true})
	ends, values := nowhere(), nowhere()
	for _, peer := range c.Peers {
		b := bandOf(peer, of)
		if len(b.middle) < 2 {
			continue
		}
		for i := range b.middle {
			ends.add(b.middle[i].X)
			values.add(b.upper[i].Y)
		}
		look := lookOf(peer.Name)
		style := look.line()
		b.style, b.shade = style, look.faint()
		p.plot.Add(b)
		p.legend = append(p.legend, entry{name: peer.Name, line: &style})
	}
	if values.empty() || values.most == 0 {
		return nil
	}
	evenAxis(&p.plot.X, ends, number)
	p.plot.X.Max = ends.most
	evenAxis(&p.plot.Y, values, number)
	return p
}

// band is a median over time and the range around it.
type band struct {
	lower, middle, upper plotter.XYs
	style                draw.LineStyle
	shade                color.Color
}

// bandOf takes the rounds sample by sample, as far as the most of them go: the
// median of a few that went on would stand beside that of all.
func bandOf(p *result.Peer, of func(result.Round) tally.Series) (b band) {
	longest, rounds := tally.Series{}, 0
	for _, r := range p.Rounds {
		s := of(r)
		if len(s.Values) > len(longest.Values) {
			longest = s
		}
		if len(s.Values) > 0 {
			rounds++
		}
	}
	step := max(1, len(longest.Values)/300)
	for i := 0; i < len(longest.Values); i += step {
		at := longest.From + int64(i)*longest.Every
		var here []float64
		for _, r := range p.Rounds {
			if s := of(r); s.Every > 0 && at >= s.From && (at-s.From)/s.Every < int64(len(s.Values)) {
				here = append(here, float64(s.At(at)))
			}
		}
		if 2*len(here) <= rounds {
			break
		}
		s, x := result.SpreadOf(here), float64(at)/1e9
		b.lower = append(b.lower, plotter.XY{X: x, Y: s.Least})
		b.middle = append(b.middle, plotter.XY{X: x, Y: s.Median})
		b.upper = append(b.upper, plotter.XY{X: x, Y: s.Most})
	}
	return b
}

func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var around []vg.Point
	for _, pt := range b.lower {
		around = append(around, vg.Point{X: x(pt.X), Y: y(pt.Y)})
	}
	for i := len(b.upper) - 1; i >= 0; i-- {
		around = append(around, vg.Point{X: x(b.upper[i].X), Y: y(b.upper[i].Y)})
	}
	c.FillPolygon(b.shade, c.ClipPolygonXY(around))
	stroke{b.middle, b.style}.Plot(c, p)
}
