package top

import "fmt"

// section is a part of a frame: a title, heads and rows.
type section struct {
	above   []line // stay
	rows    []line
	see     int   // the row that has to be on the screen
	rank    int   // the highest are left out first where there is no room
	patient bool  // gets what the others don't want
	unseen  int64 // rows that there are, but were not asked for
}

// least is how many lines a section needs to say anything: a line that keeps
// it apart, what is above, and a row.
func (s *section) least() int { return 1 + len(s.above) + min(len(s.rows), 1) }

func (s *section) wants() int {
	n := 1 + len(s.above) + len(s.rows)
	if s.unseen > 0 {
		n++
	}
	return n
}

// fit gives each section a share of the height, and returns its lines. What
// one does not want the others get. A height of 0 is enough for all.
func fit(sections []section, height int) (lines []line) {
	heights := share(sections, height)
	for i := range sections {
		if heights[i] > 0 {
			lines = append(lines, line{})
			lines = append(lines, sections[i].show(heights[i]-1)...)
		}
	}
	return lines
}

// share says how many lines each section gets: 0 if it has to be left out.
func share(sections []section, height int) []int {
	heights := make([]int, len(sections))
	left := height
	for i := range sections {
		heights[i] = sections[i].least()
		if height == 0 {
			heights[i] = sections[i].wants()
		}
		left -= heights[i]
	}
	if height == 0 {
		return heights
	}
	for left < 0 && leaveOut(sections, heights, &left) {
	}
	grow(sections, heights, left)
	return heights
}

// grow gives lines that are left to sections that want more, in turn: first
// to the impatient ones.
func grow(sections []section, heights []int, left int) {
	for _, patient := range []bool{false, true} {
		for grew := true; grew; {
			grew = false
			for i := range sections {
				s := &sections[i]
				if left > 0 && s.patient == patient && heights[i] > 0 && heights[i] < s.wants() {
					heights[i]++
					left--
					grew = true
				}
			}
		}
	}
}

// leaveOut takes its lines from the section that is missed least. The last
// one stays.
func leaveOut(sections []section, heights []int, left *int) bool {
	worst, n := -1, 0
	for i := range sections {
		if heights[i] == 0 {
			continue
		}
		n++
		if worst < 0 || sections[i].rank > sections[worst].rank {
			worst = i
		}
	}
	if n < 2 {
		return false
	}
	*left += heights[worst]
	heights[worst] = 0
	return true
}

// show is a section in a number of lines. If they are too few, the last one
// says how many rows are missing.
func (s *section) show(height int) []line {
	lines := append([]line{}, s.above...)
	room := height - len(s.above)
	switch {
	case room >= len(s.rows) && s.unseen == 0, room > len(s.rows):
		lines = append(lines, s.rows...)
		if s.unseen > 0 {
			lines = append(lines, more(s.unseen))
		}
	case room < 2:
		lines = append(lines, s.window(room)...)
	default:
		lines = append(lines, s.window(room-1)...)
		lines = append(lines, more(s.unseen+int64(len(s.rows)-room+1)))
	}
	return lines
}

func more(n int64) line { return line{{fmt.Sprintf("(%d more)", n), note}} }

// window is so many rows, with the one to see among them.
func (s *section) window(room int) []line {
	room = min(max(room, 0), len(s.rows))
	first := min(max(s.see-room+1, 0), len(s.rows)-room)
	return s.rows[first : first+room]
}
