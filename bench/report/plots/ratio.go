package plots

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"penstock/bench/result"
)

// compared is one line of the plot of ratios.
type compared struct {
	name   string
	rival  string
	rounds []float64
	goal   float64 // 0: none
	hidden bool    // there are rounds that can't be drawn
}

// ratios draws a line for each metric, case and rival; of the first metric
// alone if cases vary a number, since the others are drawn against that. It is
// nil without rivals.
func ratios(d *result.Document) *picture {
	var all []compared
	title, metrics := "Ratios to rivals, round by round", d.Metrics
	if varied(d.Cases) && len(metrics) > 1 {
		metrics = metrics[:1]
	}
	for _, m := range metrics {
		for i := range d.Cases {
			all = append(all, comparedIn(d, &d.Cases[i], m)...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	p := newPicture(title, d.Cases[0].Peers[0].Name+"'s figure divided by the rival's; 1 is equal; log scale", "")
	p.name, p.main = "ratio", true
	if len(d.Cases) > 1 {
		p.y = d.Vary
	}
	p.note = "A ratio is of two runs that followed each other. The line goes from the least to the most of the rounds."
	if slices.ContainsFunc(all, func(row compared) bool { return row.hidden }) {
		p.note += " A ratio of 0 is beyond a log scale, and not drawn."
	}
	p.height = 130 + vg.Length(len(all))*24
	ratioAxes(p.plot, all)
	p.plot.Add(lines{x: true}, comparison(all))
	p.legend = ratioLegend(all)
	return p
}

func comparedIn(d *result.Document, c *result.Case, m result.Metric) (all []compared) {
	better := "less is better"
	if m.More {
		better = "more is better"
	}
	for _, rival := range c.Rivals() {
		ratios := c.Ratios(m.Name, rival)
		rounds := slices.DeleteFunc(slices.Clone(ratios), func(x float64) bool { return x <= 0 || !drawable(x) })
		if len(rounds) == 0 {
			continue
		}
		name := m.Name + " to " + rival.Name + " (" + better + ")"
		if len(d.Cases) > 1 {
			name = c.Name + ": " + name
		}
		all = append(all, compared{name, rival.Name, rounds, goalOf(d, c, m, rival), len(rounds) < len(ratios)})
	}
	return all
}

func goalOf(d *result.Document, c *result.Case, m result.Metric, rival *result.Peer) float64 {
	for _, g := range d.Goals {
		if g.Metric == m.Name && g.To == rival.Name && (g.Case == "" || g.Case == c.Name) && drawable(g.Value) {
			return g.Value
		}
	}
	return 0
}

func ratioAxes(p *plot.Plot, all []compared) {
	span := extent{0.9, 1.1}
	var names []plot.Tick
	for i, row := range all {
		for _, x := range row.rounds {
			span.add(x)
		}
		if row.goal > 0 {
			span.add(row.goal)
		}
		names = append(names, plot.Tick{Value: float64(len(all) - 1 - i), Label: row.name})
	}
	logAxis(&p.X, span, number)
	p.X.Tick.Marker = ratioTicks{}
	p.Y.Min, p.Y.Max = -0.6, float64(len(all))-0.4
	p.Y.Tick.Marker = plot.ConstantTicks(names)
	p.Y.Tick.Length = 0
}

// ratioTicks are of a log axis around 1, finer if it is short.
type ratioTicks struct{}

func (ratioTicks) Ticks(least, most float64) []plot.Tick {
	if most/least > 4 {
		return logTicks{number}.Ticks(least, most)
	}
	return evenTicks{number, 7}.Ticks(least, most)
}

// comparison draws dots for rounds, a bar for the median, and the goal.
type comparison []compared

func (all comparison) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1}, x(1), c.Min.Y, x(1), c.Max.Y)
	for i, row := range all {
		at, look := y(float64(len(all)-1-i)), lookOf(row.rival)
		s := result.SpreadOf(row.rounds)
		c.StrokeLine2(draw.LineStyle{Color: look.color, Width: 1.5}, x(s.Least), at, x(s.Most), at)
		for _, r := range row.rounds {
			c.DrawGlyph(draw.GlyphStyle{Color: look.color, Radius: 3, Shape: draw.CircleGlyph{}}, vg.Point{X: x(r), Y: at})
		}
		c.StrokeLine2(draw.LineStyle{Color: look.color, Width: 3}, x(s.Median), at-7, x(s.Median), at+7)
		if row.goal > 0 {
			c.DrawGlyph(goalGlyph, vg.Point{X: x(row.goal), Y: at})
		}
	}
}

var goalGlyph = draw.GlyphStyle{Color: ink, Radius: 4.5, Shape: draw.PyramidGlyph{}}

func ratioLegend(all []compared) (legend []entry) {
	dot := draw.GlyphStyle{Color: ink, Radius: 3, Shape: draw.CircleGlyph{}}
	bar := draw.GlyphStyle{Color: ink, Radius: 7, Shape: barGlyph{}}
	legend = append(legend, entry{name: "a round", glyph: &dot}, entry{name: "median", glyph: &bar})
	if slices.ContainsFunc(all, func(c compared) bool { return c.goal > 0 }) {
		legend = append(legend, entry{name: "goal", glyph: &goalGlyph})
	}
	return legend
}

// barGlyph is the stroke that stands for a median.
type barGlyph struct{}

func (barGlyph) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.StrokeLine2(draw.LineStyle{Color: s.Color, Width: 3}, at.X, at.Y-s.Radius, at.X, at.Y+s.Radius)
}
