package ctl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// column of a table of Ts.
type column[T any] struct {
	head string
	left bool // text; numbers stand at the right
	cell func(*T) string
	sum  func(*T) int64 // added up in a last line; nil: not
	unit func(int64) string
}

func text[T any](head string, cell func(*T) string) column[T] {
	return column[T]{head: head, left: true, cell: cell}
}

// fact is a number that says nothing when it is added up.
func fact[T any](head string, cell func(*T) string) column[T] {
	return column[T]{head: head, cell: cell}
}

func number[T any](head string, of func(*T) int64) column[T] {
	return quantity(head, count, of)
}

func quantity[T any](head string, unit func(int64) string, of func(*T) int64) column[T] {
	return column[T]{head: head, cell: func(t *T) string { return unit(of(t)) }, sum: of, unit: unit}
}

// render lays out a table, with sums below more than one row.
func render[T any](columns []column[T], rows []T) string {
	var lines [][]string
	add := func(cell func(column[T]) string) {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = cell(c)
		}
		lines = append(lines, line)
	}
	add(func(c column[T]) string { return c.head })
	for i := range rows {
		add(func(c column[T]) string { return clean(c.cell(&rows[i])) })
	}
	if len(rows) > 1 && summed(columns) {
		add(func(c column[T]) string { return total(c, rows) })
		lines[len(lines)-1][0] = "sum"
	}
	left := make([]bool, len(columns))
	for i, c := range columns {
		left[i] = c.left
	}
	return align(lines, left)
}

func summed[T any](columns []column[T]) bool {
	for _, c := range columns {
		if c.sum != nil {
			return true
		}
	}
	return false
}

func total[T any](c column[T], rows []T) string {
	if c.sum == nil {
		return ""
	}
	n := int64(0)
	for i := range rows {
		n += c.sum(&rows[i])
	}
	return c.unit(n)
}

// align pads the cells of each column to one width.
func align(lines [][]string, left []bool) string {
	width := make([]int, len(left))
	for _, line := range lines {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		row := ""
		for i, cell := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if left[i] {
				row += cell + pad + "  "
			} else {
				row += pad + cell + "  "
			}
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return b.String()
}

// clean keeps text from somewhere else on its line, and from the terminal's
// controls.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
