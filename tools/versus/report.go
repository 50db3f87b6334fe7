package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// comparison is what one metric comes to.
type comparison struct {
	Metric string            `json:"metric"`
	Peers  map[string]spread `json:"peers"`
	Ratios map[string]spread `json:"ratios"`         // of the first peer to each rival, over the rounds
	Best   string            `json:"best,omitempty"` // the rival that is hardest to beat
	Goal   string            `json:"goal,omitempty"`
}

// report is a work's result.
type report struct {
	Work        string       `json:"work"`
	About       string       `json:"about"`
	Rows        []*row       `json:"rows"`
	Comparisons []comparison `json:"comparisons"`
}

func reportOn(w work, rows []*row) report {
	r := report{Work: w.name, About: w.about, Rows: rows}
	for _, m := range w.metrics {
		r.Comparisons = append(r.Comparisons, compare(m, rows))
	}
	return r
}

// compare sets the first row against each of the others, direct aside.
func compare(m metric, rows []*row) comparison {
	c := comparison{Metric: m.name, Peers: map[string]spread{}, Ratios: map[string]spread{}, Goal: m.goalText()}
	for _, r := range rows {
		if len(r.Figures[m.name]) > 0 {
			c.Peers[r.Peer] = spreadOf(r.Figures[m.name])
		}
	}
	for _, r := range rivals(rows) {
		rs := ratios(rows[0].Figures[m.name], r.Figures[m.name])
		if len(rs) == 0 {
			continue
		}
		c.Ratios[r.Peer] = spreadOf(rs)
		if c.Best == "" || m.more == (c.Peers[r.Peer].Median > c.Peers[c.Best].Median) {
			c.Best = r.Peer
		}
	}
	return c
}

func rivals(rows []*row) (rs []*row) {
	for _, r := range rows[1:] {
		if r.Peer != (direct{}).Name() {
			rs = append(rs, r)
		}
	}
	return rs
}

// goalText is the goal as a condition, empty without one.
func (m metric) goalText() string {
	if m.goal == 0 {
		return ""
	}
	relation := "<="
	if m.more {
		relation = ">="
	}
	text := relation + " " + short(m.goal)
	if m.abs {
		return m.name + " " + text
	}
	return text + "x"
}

// print writes a table: a line for each peer, a line for the ratio to each
// rival, and the goals; a column for each metric. A star marks the best rival
// where there are several.
func (r report) print(out io.Writer) {
	fmt.Fprintf(out, "%s: %s\n", r.Work, r.About)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name string, cell func(c comparison) string, rest ...string) {
		cells := []string{name}
		for _, c := range r.Comparisons {
			cells = append(cells, cell(c))
		}
		fmt.Fprintln(t, "  "+strings.Join(append(cells, rest...), "\t"))
	}
	line("", func(c comparison) string { return c.Metric }, "lost", "cores: proxy, client, server")
	for _, row := range r.Rows {
		line(row.Peer, func(c comparison) string { return dash(c.Peers[row.Peer]) }, fmt.Sprintf("%.0f", total(row.Figures[lostMetric])), cores(row))
	}
	several := len(rivals(r.Rows)) > 1
	for _, row := range rivals(r.Rows) {
		line("ratio to "+row.Peer, func(c comparison) string {
			return dash(c.Ratios[row.Peer]) + mark(several && c.Best == row.Peer)
		})
	}
	line("goal", func(c comparison) string { return c.Goal })
	t.Flush()
	for _, row := range r.Rows {
		if row.Failure != "" {
			fmt.Fprintf(out, "  %s failed: %s\n", row.Peer, strings.TrimSpace(row.Failure))
		}
	}
	fmt.Fprintln(out)
}

func dash(s spread) string {
	if s == (spread{}) {
		return "-"
	}
	return s.String()
}

func mark(best bool) string {
	if best {
		return " *"
	}
	return ""
}

func total(xs []float64) (sum float64) {
	for _, x := range xs {
		sum += x
	}
	return sum
}

// cores says how many cores' worth of CPU everyone used.
func cores(r *row) string {
	var cells []string
	for _, who := range []string{proxyCores, clientCores, serverCores} {
		if xs := r.Figures[who]; len(xs) > 0 {
			cells = append(cells, fmt.Sprintf("%.2f", spreadOf(xs).Median))
		}
	}
	return strings.Join(cells, ", ")
}

// failed says whether a proxy could not do a work, or lost something in it.
func (r report) failed() bool {
	return slices.ContainsFunc(r.Rows, func(r *row) bool { return r.Failure != "" || total(r.Figures[lostMetric]) > 0 })
}
