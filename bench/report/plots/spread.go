package plots

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// extent is from where to where values go.
type extent struct{ least, most float64 }

func nowhere() extent { return extent{math.Inf(1), math.Inf(-1)} }

func (e *extent) add(x float64) {
	e.least, e.most = min(e.least, x), max(e.most, x)
}

// drawable are figures that an axis can be made for. Others are not of anything
// that is measured.
func drawable(x float64) bool {
	size := math.Abs(x)
	return x == 0 || size >= 1e-12 && size <= 1e15
}

func (e extent) empty() bool { return e.least > e.most }

// decades is how many powers of ten it spans; 0 if it reaches zero or below.
func (e extent) decades() float64 {
	if e.least <= 0 {
		return 0
	}
	return math.Log10(e.most / e.least)
}

// logAxis sets an axis to the extent with some air around it; least is above 0.
func logAxis(a *plot.Axis, e extent, n naming) {
	air := max(math.Pow(e.most/e.least, 0.04), 1.15)
	a.Min, a.Max = e.least/air, e.most*air
	a.Scale = plot.LogScale{}
	a.Tick.Marker = logTicks{n}
}

// evenAxis sets an axis from zero, or from the least if that is below, up to an
// even step above the most.
func evenAxis(a *plot.Axis, e extent, n naming) {
	a.Min = min(e.least, 0)
	a.Max = e.most
	if a.Max <= a.Min {
		a.Max = a.Min + 1
	}
	const steps = 5
	step := even((a.Max - a.Min) / steps)
	a.Min = math.Floor(a.Min/step) * step
	a.Max = math.Ceil(a.Max/step-1e-9) * step
	a.Tick.Marker = evenTicks{n, steps}
}

// lines draws the ticks that have names through the whole plot.
type lines struct{ x, y bool }

func (l lines) Plot(c draw.Canvas, p *plot.Plot) {
	thin := draw.LineStyle{Color: grid, Width: 0.8}
	x, y := p.Transforms(&c)
	if l.x {
		for _, t := range marked(p.X) {
			c.StrokeLine2(thin, x(t), c.Min.Y, x(t), c.Max.Y)
		}
	}
	if l.y {
		for _, t := range marked(p.Y) {
			c.StrokeLine2(thin, c.Min.X, y(t), c.Max.X, y(t))
		}
	}
}

func marked(a plot.Axis) (at []float64) {
	for _, t := range a.Tick.Marker.Ticks(a.Min, a.Max) {
		if !t.IsMinor() && t.Value >= a.Min && t.Value <= a.Max {
			at = append(at, t.Value)
		}
	}
	return at
}

// stroke is a line through points, cut off at the plot's edges.
type stroke struct {
	points plotter.XYs
	style  draw.LineStyle
}

func (s stroke) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	path := make([]vg.Point, len(s.points))
	for i, pt := range s.points {
		path[i] = vg.Point{X: x(pt.X), Y: y(pt.Y)}
	}
	c.StrokeLines(s.style, c.ClipLinesXY(path)...)
}
