package plots

import (
	"strings"

	"penstock/bench/result"
)

// Plot is one picture.
type Plot struct {
	Name  string // part of a file's name: a-z, 0-9 and dashes
	Title string
	Note  string // how it is read, a sentence
	SVG   []byte // a whole file
	Main  bool   // one of the few that tell a scenario's result
	Case  string // the name of the case that it is of, empty if it is of all
}

// Of draws all that a document has data for, in the order to show. An error is
// of the drawing itself and does not come from data.
func Of(d *result.Document) (all []Plot, err error) {
	var drawn []*picture
	drawn = append(drawn, against(d)...)
	drawn = append(drawn, ratios(d))
	for i := range d.Cases {
		c := &d.Cases[i]
		for _, p := range append(distributions(d, c), overTime(d, c)...) {
			if len(d.Cases) > 1 {
				p.caseName = c.Name
			}
			drawn = append(drawn, p)
		}
	}
	for _, p := range drawn {
		if p == nil {
			continue
		}
		plot, err := p.draw()
		if err != nil {
			return nil, err
		}
		all = append(all, plot)
	}
	return all, nil
}

// named makes a file name's part of words, with the case's name behind.
func named(kind string, d *result.Document, c *result.Case) string {
	if len(d.Cases) > 1 {
		kind += " " + c.Name
	}
	return slug(kind)
}

// titled puts the case behind a title.
func titled(text string, d *result.Document, c *result.Case) string {
	switch {
	case len(d.Cases) == 1:
		return text
	case d.Vary == "":
		return text + ", " + c.Name
	}
	return text + ", " + d.Vary + ": " + c.Name
}

// slug keeps letters and digits, and puts one dash where anything else was. A
// percent sign and a slash are told apart from nothing.
func slug(text string) string {
	text = strings.NewReplacer("%", " percent ", "/s", " a second ", "/", " per ", "µ", "u", ".", "").Replace(strings.ToLower(text))
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}
