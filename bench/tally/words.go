package tally

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// Said is what a process says: JSON for the one that started it, or Text for
// who sits before it.
type Said interface{ Text(w io.Writer) }

// Say writes it at once: a line of JSON, or lines of text.
func Say(w io.Writer, text bool, what Said) error {
	if !text {
		return json.NewEncoder(w).Encode(what)
	}
	var out bytes.Buffer
	what.Text(&out)
	_, err := w.Write(out.Bytes())
	return err
}

// aligned writes lines of cells, each column as wide as it needs.
func aligned(w io.Writer, lines [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cells := range lines {
		fmt.Fprintf(t, "%s\n", strings.Join(cells, "\t"))
	}
	t.Flush()
}

// times is one line of a table of spans.
type times struct {
	name string
	h    *Histogram
}

// percentiles are those shown, before the most.
var percentiles = []float64{50, 90, 99, 99.9}

// spans is a table of those that have any, empty if none has.
func spans(all ...times) (lines [][]string) {
	for _, t := range all {
		if t.h.Count() > 0 {
			lines = append(lines, t.cells())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	head := []string{""}
	for _, p := range percentiles {
		head = append(head, fmt.Sprintf("p%v", p))
	}
	return append([][]string{append(head, "max")}, lines...)
}

// cells leaves out what so few can't tell: a p99.9 of 100 would be their most.
func (t times) cells() []string {
	cells := []string{t.name}
	for _, p := range percentiles {
		cell := "-"
		if float64(t.h.Count())*(100-p) >= 100-1e-6 {
			cell = micros(t.h.Percentile(p))
		}
		cells = append(cells, cell)
	}
	return append(cells, micros(t.h.Percentile(100)))
}

// micros writes a time given in µs with three digits.
func micros(us float64) string {
	switch {
	case us < 999.5:
		return digits(us) + " µs"
	case us < 999.5e3:
		return digits(us/1e3) + " ms"
	}
	return digits(us/1e6) + " s"
}

// digits writes three of them or, of a larger number, all before the point.
func digits(x float64) string {
	places := 2 - int(math.Floor(math.Log10(max(math.Abs(x), 1))+1e-3))
	text := fmt.Sprintf("%.*f", max(places, 0), x)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// size writes a number of bytes.
func size(bytes float64) string {
	for _, unit := range []struct {
		bytes float64
		name  string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if bytes >= 0.9995*unit.bytes {
			return digits(bytes/unit.bytes) + " " + unit.name
		}
	}
	return digits(bytes) + " B"
}

// many puts an s behind the noun of more or less than one.
func many(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
