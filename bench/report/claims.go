package report

import (
	"fmt"
	"slices"
	"strings"

	"penstock/bench/result"
)

// claim is what a run comes to, in one line: the first metric beside its
// hardest rival, the goals, and what must not happen and did.
func claim(d *result.Document) string {
	var parts []string
	if text := headline(d); text != "" {
		parts = append(parts, text)
	}
	if text := goalsInWords(asked(d)); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(append(parts, verdictsInWords(d)), " ")
}

// headline is of the last case that has the first metric: the hardest, as
// cases go up.
func headline(d *result.Document) string {
	if len(d.Metrics) == 0 {
		return ""
	}
	m := d.Metrics[0]
	for i := len(d.Cases) - 1; i >= 0; i-- {
		c := &d.Cases[i]
		if len(c.Peers) == 0 {
			continue
		}
		own := c.Peers[0].Spread(m.Name)
		if own.Count == 0 {
			continue
		}
		text := fmt.Sprintf("%s: %s %s", m.Name, c.Peers[0].Name, own)
		if rival := c.Hardest(m); rival != nil {
			if s := result.SpreadOf(c.Ratios(m.Name, rival)); s.Count > 0 {
				text += fmt.Sprintf(", %s that of %s", times(s), rival.Name)
			}
		}
		if t := title(d, c); t != "" {
			text += " (" + t + ")"
		}
		return text + "."
	}
	return ""
}

// asked are the goals without those that are about a proxy nobody asked to run.
func asked(d *result.Document) []result.Judgement {
	return slices.DeleteFunc(d.Judge(), func(j result.Judgement) bool {
		return j.Goal.To != "" && j.Case.Peer(j.Goal.To) == nil
	})
}

func goalsInWords(all []result.Judgement) string {
	var missed []string
	for _, j := range all {
		if !j.Reached {
			missed = append(missed, inCase(j)+" "+j.Goal.Text())
		}
	}
	switch {
	case len(all) == 0:
		return ""
	case len(all) == 1 && len(missed) == 1:
		return "Its goal is not reached: " + missed[0] + "."
	case len(missed) == 0 && len(all) == 1:
		return "Its goal is reached."
	case len(missed) == 0:
		return fmt.Sprintf("All %d goals are reached.", len(all))
	}
	are := "are"
	if len(missed) == 1 {
		are = "is"
	}
	return fmt.Sprintf("%d of %d goals %s not reached: %s.", len(missed), len(all), are, strings.Join(missed, "; "))
}

// inCase names a goal's metric, and the case if it has a name.
func inCase(j result.Judgement) string {
	if j.Case.Name == "" {
		return j.Goal.Metric
	}
	return j.Goal.Metric + " (" + j.Case.Name + ")"
}

// verdictsInWords says who did what must not happen, or failed.
func verdictsInWords(d *result.Document) string {
	var bad []string
	for i := range d.Cases {
		c := &d.Cases[i]
		for _, p := range c.Peers {
			if why := trouble(p); why != "" {
				bad = append(bad, named(d, c, p.Name)+" "+why)
			}
		}
	}
	if len(bad) == 0 {
		return "Nothing happened that must not."
	}
	return "What must not happen did: " + strings.Join(bad, "; ") + "."
}

func trouble(p *result.Peer) string {
	switch {
	case p.Failure != "" && !p.Verdict().Well():
		return "failed, " + verdict(p.Verdict())
	case p.Failure != "":
		return "failed"
	}
	return verdict(p.Verdict())
}

// named puts the case's name behind a proxy's.
func named(d *result.Document, c *result.Case, name string) string {
	if title(d, c) == "" {
		return name
	}
	return name + " (" + c.Name + ")"
}

// losses are the ratios that are worse than even, by their medians and by more
// than what is written of them shows.
func losses(d *result.Document) (worse []string) {
	for _, m := range d.Metrics {
		for i := range d.Cases {
			c := &d.Cases[i]
			for _, rival := range c.Rivals() {
				s := result.SpreadOf(c.Ratios(m.Name, rival))
				if s.Count > 0 && (m.More && s.Median < 0.995 || !m.More && s.Median >= 1.005) {
					worse = append(worse, fmt.Sprintf("%s %s that of %s", m.Name, times(s), named(d, c, rival.Name)))
				}
			}
		}
	}
	return worse
}
