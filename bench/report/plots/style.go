package plots

import (
	"hash/fnv"
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"penstock/bench/result"
)

// look is how one proxy is drawn everywhere. The colours are those of Okabe
// and Ito, which people who don't tell red from green tell apart; dashes and
// marks do for who sees no colours.
type look struct {
	color color.RGBA
	dash  []vg.Length
	mark  draw.GlyphDrawer
}

var looks = map[string]look{
	result.Subject:   {rgb(0x0072B2), nil, draw.CircleGlyph{}},
	"haproxy":        {rgb(0xD55E00), []vg.Length{6, 2.5}, draw.BoxGlyph{}},
	"haproxy-splice": {rgb(0xCC79A7), []vg.Length{2, 2}, draw.PyramidGlyph{}},
	"haproxy-copy":   {rgb(0xB8860B), []vg.Length{8, 2, 2, 2}, draw.PlusGlyph{}},
	"nginx":          {rgb(0x009E73), []vg.Length{10, 4}, draw.CrossGlyph{}},
	result.Without:   {rgb(0x666666), []vg.Length{1.2, 2.4}, draw.RingGlyph{}},
}

// spare are for names that nobody has thought of.
var spare = []look{
	{rgb(0x56B4E9), []vg.Length{4, 4}, draw.SquareGlyph{}},
	{rgb(0x8C510A), []vg.Length{12, 3, 3, 3}, draw.TriangleGlyph{}},
	{rgb(0x4B0082), []vg.Length{3, 6}, draw.CrossGlyph{}},
}

func lookOf(name string) look {
	if l, ok := looks[name]; ok {
		return l
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return spare[h.Sum32()%uint32(len(spare))]
}

func (l look) line() draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: 1.7, Dashes: l.dash}
}

func (l look) glyph(radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.color, Radius: radius, Shape: l.mark}
}

// faint is for a range behind a line.
func (l look) faint() color.Color {
	c := color.NRGBAModel.Convert(l.color).(color.NRGBA)
	c.A = 0x38
	return c
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xff}
}

var (
	ink  = rgb(0x222222) // text
	rule = rgb(0x888888) // axes
	grid = rgb(0xE4E4E4)
)

// sans is measured with Liberation Sans, which has Arial's and Helvetica's
// widths; family names them for who has another of the three.
func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

const (
	measuredFamily = "font-family:Liberation Sans;font-variant:normal"
	family         = "font-family:'Liberation Sans',Arial,Helvetica,sans-serif"
)
