package top

import (
	"fmt"
	"slices"
	"strings"
)

// column of a table of Ts.
type column[T any] struct {
	head string
	rank int  // the highest are left out first where there is no room
	left bool // text; numbers stand at the right
	rest bool // takes what room is left, if that is enough to say something
	cell func(*T) piece
}

const (
	gap      = 2  // between columns
	longest  = 26 // a name or a reason that has to share a line
	restLess = 24 // a column for the rest needs this much
)

// layout makes lines of a table, its heads first.
func layout[T any](columns []column[T], rows []T, width int) []line {
	columns = slices.Clone(columns)
	cells := make([][]piece, len(rows))
	for i := range rows {
		for _, c := range columns {
			p := c.cell(&rows[i])
			p.text = plain(p.text)
			cells[i] = append(cells[i], p)
		}
	}
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = widthOf(c.head, cells, i, c.rest, min(longest, max(width/2, 8)))
	}
	columns, cells, widths = squeeze(columns, cells, widths, width)
	lines := []line{headOf(columns, widths)}
	for _, row := range cells {
		l := line{}
		for i, p := range row {
			l = append(l, aligned(p, widths[i], columns[i].left, i == len(row)-1)...)
		}
		lines = append(lines, l.clip(width))
	}
	lines[0] = lines[0].clip(width)
	return lines
}

func widthOf(head string, cells [][]piece, column int, rest bool, most int) int {
	if rest {
		return max(restLess, len(head))
	}
	w := 0
	for _, row := range cells {
		w = max(w, len(row[column].text))
	}
	return max(min(w, most), len(head))
}

// squeeze leaves columns out until the others fit, and gives what is left to
// the one that takes it.
func squeeze[T any](columns []column[T], cells [][]piece, widths []int, width int) ([]column[T], [][]piece, []int) {
	for len(columns) > 1 && sum(widths) > width {
		worst := 0
		for i := range columns {
			if columns[i].rank >= columns[worst].rank {
				worst = i
			}
		}
		if columns[worst].rank == 0 {
			break
		}
		columns, widths = slices.Delete(columns, worst, worst+1), slices.Delete(widths, worst, worst+1)
		for i := range cells {
			cells[i] = slices.Delete(cells[i], worst, worst+1)
		}
	}
	for i := range columns {
		if columns[i].rest {
			widths[i] += max(width-sum(widths), 0)
		}
	}
	return columns, cells, widths
}

// sum is the width of a table.
func sum(widths []int) int {
	all := gap * (len(widths) - 1)
	for _, w := range widths {
		all += w
	}
	return all
}

func headOf[T any](columns []column[T], widths []int) line {
	l := line{}
	for i, c := range columns {
		l = append(l, aligned(piece{c.head, heading}, widths[i], c.left, i == len(columns)-1)...)
	}
	return l
}

// aligned pads a cell to its column's width.
func aligned(p piece, width int, left, last bool) line {
	p.text = short(p.text, width)
	pad := strings.Repeat(" ", width-len(p.text))
	between := strings.Repeat(" ", gap)
	switch {
	case left && last:
		return line{p}
	case left:
		return line{p, text(pad + between)}
	case last:
		return line{text(pad), p}
	}
	return line{text(pad), p, text(between)}
}

const barWidth = 10

// bar shows a number of a limit; something is never nothing, and not all is
// never full. Without a limit there is nothing to show.
func bar(n, of int64) string {
	if of <= 0 {
		return ""
	}
	filled := int(min(n, of) * barWidth / of)
	if n > 0 {
		filled = max(filled, 1)
	}
	if n < of {
		filled = min(filled, barWidth-1)
	}
	return fmt.Sprintf("[%-*s]", barWidth, strings.Repeat("|", filled))
}
