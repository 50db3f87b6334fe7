package plots

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// width and height are of a picture, in its own units; the page scales it.
const (
	width  vg.Length = 620
	height vg.Length = 340
	margin vg.Length = 12
)

// picture is a plot with a title and a legend above it, where no line is.
type picture struct {
	name, title, note string
	x, y              string // what the axes are; see drawNames
	main              bool
	caseName          string
	plot              *plot.Plot
	legend            []entry
	height            vg.Length
}

// entry is one line of the legend: a stroke, a mark or both before a name.
type entry struct {
	name  string
	line  *draw.LineStyle
	glyph *draw.GlyphStyle
}

func newPicture(title, x, y string) *picture {
	p := plot.New()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Tick.Label.Font = sans(11)
		a.Tick.Label.Color = ink
		a.Color, a.Tick.Color = rule, rule
		a.Tick.Length = 5
		a.Padding = 0
	}
	return &picture{title: title, x: x, y: y, plot: p, height: height}
}

// visible has a space in place of what a file of XML may not hold.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return ' '
		}
		return r
	}, text)
}

// style is of text that starts at its left edge.
func style(size vg.Length, y draw.YAlignment) text.Style {
	return text.Style{Color: ink, Font: sans(size), XAlign: draw.XLeft, YAlign: y, Handler: plot.DefaultTextHandler}
}

func (p *picture) draw() (Plot, error) {
	canvas := vgsvg.New(width, p.height)
	whole := draw.New(canvas)
	whole.SetColor(p.plot.BackgroundColor)
	whole.Fill(whole.Rectangle.Path())

	c := draw.Crop(whole, margin, -margin-6, margin, -margin)
	heading := style(14, draw.YTop)
	c.FillText(heading, vg.Point{X: c.Min.X, Y: c.Max.Y}, p.title)
	c.Max.Y -= heading.Height(p.title) + 8
	c.Max.Y -= p.drawLegend(c) + 6
	p.plot.Draw(p.drawNames(c))

	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return Plot{}, fmt.Errorf("plot %s: %w", p.name, err)
	}
	return Plot{Name: p.name, Title: p.title, Note: p.note, Main: p.main, Case: p.caseName, SVG: p.finish(out.String())}, nil
}

// drawNames writes what the axes are, each along its middle, and returns what
// is left for the plot. The plot's own labels would be given room as if the
// middle of a log axis were that of its numbers.
func (p *picture) drawNames(c draw.Canvas) draw.Canvas {
	name := style(12, draw.YBottom)
	name.XAlign = draw.XCenter
	inner := draw.Crop(c, 0, 0, name.Height(p.x)+7, 0)
	if p.y != "" {
		inner.Min.X += name.Height(p.y) + 6
	}
	data := p.plot.DataCanvas(inner)
	at := data.Center()
	c.FillText(name, vg.Point{X: at.X, Y: c.Min.Y}, p.x)
	name.Rotation, name.YAlign = math.Pi/2, draw.YTop
	c.FillText(name, vg.Point{X: c.Min.X, Y: at.Y}, p.y)
	return inner
}

// drawLegend puts the entries in rows, and says how high they are.
func (p *picture) drawLegend(c draw.Canvas) (used vg.Length) {
	const thumb, between, row vg.Length = 30, 20, 16
	if len(p.legend) == 0 {
		return 0
	}
	label := style(11, draw.YCenter)
	at := vg.Point{X: c.Min.X, Y: c.Max.Y - row/2}
	for _, e := range p.legend {
		wide := thumb + 5 + label.Width(e.name)
		if at.X > c.Min.X && at.X+wide > c.Max.X {
			at = vg.Point{X: c.Min.X, Y: at.Y - row}
		}
		if e.line != nil {
			c.StrokeLine2(*e.line, at.X, at.Y, at.X+thumb, at.Y)
		}
		if e.glyph != nil {
			c.DrawGlyph(*e.glyph, vg.Point{X: at.X + thumb/2, Y: at.Y})
		}
		c.FillText(label, vg.Point{X: at.X + thumb + 5, Y: at.Y + 1.5}, e.name)
		at.X += wide + between
	}
	return c.Max.Y - at.Y + row/2
}

// finish gives the file its own sizes, fonts and a title for who can't see it.
func (p *picture) finish(svg string) []byte {
	_, body, _ := strings.Cut(svg, "xlink\">\n")
	body = strings.ReplaceAll(body, measuredFamily, family)
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" role="img"><title>%s</title>`+"\n",
		float64(width), float64(p.height), float64(width), float64(p.height), html.EscapeString(p.title))
	return []byte(visible(head + body))
}
