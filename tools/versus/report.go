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
	Rival  string            `json:"rival"` // the better of HAProxy's ways
	Ratio  spread            `json:"ratio"` // penstock to rival, over the rounds
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

// compare sets the first row against the best of the others, direct aside.
func compare(m metric, rows []*row) comparison {
	c := comparison{Metric: m.name, Peers: map[string]spread{}, Goal: m.goalText()}
	var rival *row
	for i, r := range rows {
		s := spreadOf(r.Figures[m.name])
		c.Peers[r.Peer] = s
		if i == 0 || r.Peer == (direct{}).Name() || len(r.Figures[m.name]) == 0 {
			continue
		}
		if rival == nil || m.more == (s.Median > c.Peers[rival.Peer].Median) {
			rival = r
		}
	}
	if rival != nil {
		c.Rival = rival.Peer
		c.Ratio = spreadOf(ratios(rows[0].Figures[m.name], rival.Figures[m.name]))
	}
	return c
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

// print writes a table: a line per peer, a column per metric, then the ratios.
func (r report) print(out io.Writer) {
	fmt.Fprintf(out, "%s: %s\n", r.Work, r.About)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { fmt.Fprintln(t, "  "+strings.Join(cells, "\t")) }

	head := []string{""}
	for _, c := range r.Comparisons {
		head = append(head, c.Metric)
	}
	line(append(head, "lost", "cores: proxy, client, server")...)
	for _, row := range r.Rows {
		cells := []string{row.Peer}
		for _, c := range r.Comparisons {
			cells = append(cells, cell(row, c))
		}
		line(append(cells, short(total(row.Figures[lostMetric])), cores(row))...)
	}
	ratio, goal := []string{"ratio"}, []string{"goal"}
	for _, c := range r.Comparisons {
		ratio = append(ratio, c.ratioText())
		goal = append(goal, c.Goal)
	}
	line(ratio...)
	line(goal...)
	t.Flush()
	for _, row := range r.Rows {
		if row.Failure != "" {
			fmt.Fprintf(out, "  %s failed: %s\n", row.Peer, strings.TrimSpace(row.Failure))
		}
	}
	fmt.Fprintln(out)
}

func cell(r *row, c comparison) string {
	if len(r.Figures[c.Metric]) == 0 {
		return "-"
	}
	return c.Peers[r.Peer].String()
}

// ratioText names the rival where there was a choice.
func (c comparison) ratioText() string {
	if c.Ratio == (spread{}) {
		return "-"
	}
	text := c.Ratio.String()
	if len(c.Peers) > 3 {
		text += " to " + c.Rival
	}
	return text
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
