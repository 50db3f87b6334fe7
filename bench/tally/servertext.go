package tally

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Text writes what happened at each member, and how clients came. The wait is
// right if they were on this machine: tokens are times of its clock.
func (s *Server) Text(w io.Writer) {
	lines := [][]string{{"member", "limit", "accepted", "most at once", "overshoots", "ghosts", "resets", "still open"}}
	for i := range s.Members {
		lines = append(lines, s.Members[i].cells())
	}
	aligned(w, lines)
	for i := range s.Members {
		s.Members[i].remarks(w)
	}
	fmt.Fprintf(w, "\n%s answered; sent %s, received %s\n", many(s.Requests, "request"), size(float64(s.Sent)), size(float64(s.Received)))
	fmt.Fprintf(w, "order: %s\n", s.Order.words())
	if table := spans(times{"wait of clients here", s.Wait}, times{"handover", s.Handover}); table != nil {
		fmt.Fprintln(w)
		aligned(w, table)
	}
}

func (m *Member) cells() []string {
	limit := "none"
	if m.Limit > 0 {
		limit = fmt.Sprint(m.Limit)
	}
	cells := []string{m.Address, limit}
	for _, n := range []int64{m.Accepted, m.MaxOpen, m.Overshoots, m.Ghosts, m.Resets, m.Open} {
		cells = append(cells, fmt.Sprint(n))
	}
	return cells
}

// firstShown is how many overshoots are shown with their times.
const firstShown = 5

// remarks are lines for what should not have happened.
func (m *Member) remarks(w io.Writer) {
	if m.Overshoots > 0 && len(m.First) > 0 {
		var at []string
		for _, o := range m.First[:min(len(m.First), firstShown)] {
			at = append(at, fmt.Sprintf("%.3f s with %d open", time.Duration(o.At).Seconds(), o.Open))
		}
		if m.Overshoots > int64(len(at)) {
			at = append(at, "...")
		}
		fmt.Fprintf(w, "%s: above its limit, after the server began: %s\n", m.Address, strings.Join(at, ", "))
	}
	if m.Starved > 0 {
		fmt.Fprintf(w, "%s: could not accept, for want of descriptors or memory, %s\n", m.Address, many(m.Starved, "time"))
	}
}

func (o *Order) words() string {
	if o.Tokens == 0 {
		return "not known, no connection brought a token"
	}
	text := fmt.Sprintf("%d of %s overtaken", o.Overtaken, many(o.Tokens, "connection"))
	if o.Overtaken > 0 {
		text += fmt.Sprintf(", by at most %s and %s", many(o.Places, "other"), micros(float64(o.Behind)/1e3))
	}
	if o.Far < o.Overtaken { // else -fifo is 0, or none of them was less
		text += fmt.Sprintf("; %d by more than -fifo", o.Far)
	}
	if o.Dropped > 0 {
		text += fmt.Sprintf("; %d more were not looked at", o.Dropped)
	}
	return text
}
