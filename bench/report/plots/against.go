package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"penstock/bench/result"
)

// against draws each metric over what the cases vary; nothing if they don't
// vary a number.
func against(d *result.Document) (all []*picture) {
	if !varied(d.Cases) {
		return nil
	}
	for _, m := range d.Metrics {
		if p := metricAgainst(d, m); p != nil {
			all = append(all, p)
		}
	}
	return all
}

// varied says that there are several cases, each with a number of its own.
func varied(cases []result.Case) bool {
	seen := map[float64]bool{}
	for _, c := range cases {
		if seen[c.X] {
			return false
		}
		seen[c.X] = true
	}
	return len(cases) > 1
}

func metricAgainst(d *result.Document, m result.Metric) *picture {
	vary := d.Vary
	if vary == "" {
		vary = "case"
	}
	better := "less is better"
	if m.More {
		better = "more is better"
	}
	p := newPicture(m.Name+" against "+vary, vary, axisName(m.Name))
	p.name, p.main = slug(m.Name), true
	p.note = "Marks are medians, strokes the range of the rounds; " + better + "."
	p.plot.Add(lines{x: true, y: true})
	xs, ys := nowhere(), nowhere()
	for _, name := range peerNames(d) {
		points := pointsOf(d, name, m.Name)
		if len(points) == 0 {
			continue
		}
		for _, pt := range points {
			xs.add(pt.x)
			ys.add(pt.Least)
			ys.add(pt.Most)
		}
		look := lookOf(name)
		line, glyph := look.line(), look.glyph(4)
		p.plot.Add(ranges{points, look})
		p.legend = append(p.legend, entry{name, &line, &glyph})
	}
	if ys.empty() || ys.least == 0 && ys.most == 0 { // nothing, or nothing but zeros
		return nil
	}
	p.x += scaleTo(&p.plot.X, xs)
	p.y += scaleTo(&p.plot.Y, ys)
	return p
}

// scaleTo takes a log scale where values span a decade and a half, and returns
// what the axis's name has to say then.
func scaleTo(a *plot.Axis, e extent) string {
	if e.decades() >= 1.5 {
		logAxis(a, e, number)
		return ", log scale"
	}
	evenAxis(a, e, number)
	return ""
}

// peerNames are all of any case, in the order of their first.
func peerNames(d *result.Document) (names []string) {
	seen := map[string]bool{}
	for _, c := range d.Cases {
		for _, p := range c.Peers {
			if !seen[p.Name] {
				names = append(names, p.Name)
			}
			seen[p.Name] = true
		}
	}
	return names
}

// point is a spread at a place.
type point struct {
	x float64
	result.Spread
}

func pointsOf(d *result.Document, name, metric string) (points []point) {
	for i := range d.Cases {
		c := &d.Cases[i]
		if p := c.Peer(name); p != nil {
			if s := p.Spread(metric); s.Count > 0 && drawable(c.X) && drawable(s.Least) && drawable(s.Median) && drawable(s.Most) {
				points = append(points, point{c.X, s})
			}
		}
	}
	return points
}

// ranges draws a line through medians, with marks and ranges.
type ranges struct {
	points []point
	look   look
}

func (r ranges) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var medians plotter.XYs
	for _, pt := range r.points {
		medians = append(medians, plotter.XY{X: pt.x, Y: pt.Median})
		c.StrokeLine2(draw.LineStyle{Color: r.look.color, Width: 1}, x(pt.x), y(pt.Least), x(pt.x), y(pt.Most))
		c.DrawGlyph(r.look.glyph(4), vg.Point{X: x(pt.x), Y: y(pt.Median)})
	}
	stroke{medians, r.look.line()}.Plot(c, p)
}
