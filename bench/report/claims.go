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
	if text := verdictsInWords(d); text != "" {
		parts = append(parts, text)
	}
	if d.Rounds == 1 {
		parts = append(parts, "That is of one round, and another may differ.")
	}
	return strings.Join(append(parts, lagging(d)...), " ")
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

// goalsInWords names those that are not reached, and those nothing is known of.
func goalsInWords(all []result.Judgement) string {
	var missed, unknown []string
	median := 0
	for _, j := range all {
		text := inCase(j) + " " + j.Goal.Text()
		switch {
		case j.Measured.Count == 0:
			unknown = append(unknown, text)
		case !j.Reached:
			missed = append(missed, text)
		case byMedian(j):
			median++
		}
	}
	var sentences []string
	for _, s := range []string{
		reachedInWords(len(all), len(all)-len(missed)-len(unknown), median),
		someGoals(missed, len(all), "not reached"),
		someGoals(unknown, len(all), "not measured"),
	} {
		if s != "" {
			sentences = append(sentences, s)
		}
	}
	return strings.Join(sentences, " ")
}

// reachedInWords is of all goals, empty if some are not reached.
func reachedInWords(all, reached, median int) string {
	switch {
	case all == 0 || reached < all:
		return ""
	case all == 1 && median == 1:
		return "Its goal is reached by the median, not in every round."
	case all == 1:
		return "Its goal is reached."
	case median > 0:
		return fmt.Sprintf("All %d goals are reached, %d of them by the median and not in every round.", all, median)
	}
	return fmt.Sprintf("All %d goals are reached.", all)
}

func someGoals(some []string, all int, what string) string {
	switch {
	case len(some) == 0:
		return ""
	case all == 1:
		return fmt.Sprintf("Its goal is %s: %s.", what, some[0])
	case len(some) == 1:
		return fmt.Sprintf("1 of %d goals is %s: %s.", all, what, some[0])
	}
	return fmt.Sprintf("%d of %d goals are %s: %s.", len(some), all, what, strings.Join(some, "; "))
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
			if why := trouble(d, p); why != "" {
				bad = append(bad, named(d, c, p.Name)+" "+why)
			}
		}
	}
	switch words := wellWords(d); {
	case len(bad) == 0 && words == "":
		return ""
	case len(bad) == 0:
		return "Nothing happened that must not: " + words + "."
	}
	return "What must not happen did: " + strings.Join(bad, "; ") + "."
}

func trouble(d *result.Document, p *result.Peer) string {
	switch {
	case p.Failure != "" && !p.Verdict().Well():
		return failed(d, p) + ", " + verdict(p.Verdict())
	case p.Failure != "":
		return failed(d, p)
	case len(p.Rounds) == 0:
		return "was not measured"
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
// than what is written of them shows; and the figures of which a rival has none.
func losses(d *result.Document) (worse []string) {
	for _, m := range d.Metrics {
		for i := range d.Cases {
			c := &d.Cases[i]
			for _, rival := range c.Rivals() {
				s := result.SpreadOf(c.Ratios(m.Name, rival))
				switch own, its := c.Peers[0].Spread(m.Name), rival.Spread(m.Name); {
				case !m.More && its.Count > 0 && its.Median == 0 && own.Median > 0:
					worse = append(worse, fmt.Sprintf("%s %s, of %s %s", m.Name, own, named(d, c, rival.Name), its))
				case s.Count > 0 && (m.More && s.Median < 0.995 || !m.More && s.Median >= 1.005):
					worse = append(worse, fmt.Sprintf("%s %s that of %s", m.Name, times(s), named(d, c, rival.Name)))
				}
			}
		}
	}
	return worse
}
