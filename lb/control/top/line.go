package top

import "strings"

// style is how a piece of a line looks. What it says can be read without.
type style uint8

const (
	normal style = iota
	heading
	good
	warning
	bad
	note
	alarm // must be seen
)

// sgr are the terminal's words for styles: with colours, and without.
var (
	sgr      = [...]string{normal: "", heading: "1", good: "32", warning: "33", bad: "31;1", note: "36", alarm: "37;41;1"}
	sgrPlain = [...]string{heading: "1", bad: "1", alarm: "7", note: ""}
)

// piece is text of one style, in printable ASCII: a byte is a column.
type piece struct {
	text  string
	style style
}

type line []piece

func text(s string) piece { return piece{s, normal} }

// String is the line without its styles.
func (l line) String() string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(p.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// clip cuts a line to a width.
func (l line) clip(width int) line {
	for i, p := range l {
		if len(p.text) > width {
			cut := append(line{}, l[:i]...)
			return append(cut, piece{p.text[:max(width, 0)], p.style})
		}
		width -= len(p.text)
	}
	return l
}

// ansi is the line with its styles.
func (l line) ansi(colour bool) string {
	words := sgr[:]
	if !colour {
		words = sgrPlain[:]
	}
	var b strings.Builder
	for _, p := range l {
		if w := words[p.style]; w != "" && p.text != "" {
			b.WriteString("\x1b[" + w + "m" + p.text + "\x1b[m")
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// plain replaces what is not printable ASCII.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// short cuts text to a width, and shows that it did.
func short(s string, width int) string {
	if len(s) <= width {
		return s
	}
	return s[:max(width-1, 0)] + "~"
}
