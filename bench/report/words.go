package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"penstock/bench/result"
	"penstock/bench/tally"
)

// title is the case's name with what it varies, empty for a scenario that has
// one case only.
func title(d *result.Document, c *result.Case) string {
	switch {
	case len(d.Cases) == 1 && c.Name == "":
		return ""
	case d.Vary == "" || c.Name == "":
		return c.Name
	}
	return d.Vary + ": " + c.Name
}

// varied is what the cases vary.
func varied(d *result.Document) string {
	if d.Vary == "" {
		return "case"
	}
	return d.Vary
}

// verdict says in words what must not happen and did, "" if nothing did.
func verdict(v result.Verdict) string {
	var words []string
	for _, w := range []struct {
		n         int64
		one, many string
	}{
		{v.Overshoots, "connection above a limit", "connections above a limit"},
		{v.Stranded, "client stranded", "clients stranded"},
		{v.Lost, "lost", "lost"},
		{v.Ghosts, "ghost connection to servers too many", "ghost connections to servers too many"},
		{v.Overtaken, "overtaken", "overtaken"},
		{v.Late, "served late", "served late"},
	} {
		switch w.n {
		case 0:
		case 1:
			words = append(words, "1 "+w.one)
		default:
			words = append(words, fmt.Sprintf("%d %s", w.n, w.many))
		}
	}
	return strings.Join(words, ", ")
}

// well are the proxies that did nothing that must not happen, and have done
// something.
func well(c *result.Case) (names []string) {
	for _, p := range c.Peers {
		if isWell(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

func isWell(p *result.Peer) bool {
	return len(p.Rounds) > 0 && p.Verdict().Well() && p.Failure == ""
}

// peerVerdict is one proxy's verdict as a sentence without its end.
func peerVerdict(d *result.Document, p *result.Peer) string {
	switch {
	case len(p.Rounds) == 0:
		return "nothing was measured"
	case p.Verdict().Well():
		return wellWords(d)
	}
	text := verdict(p.Verdict())
	if at := firstOvershoot(p); at != "" {
		text += "; " + at
	}
	if p.Verdict().Lost > 0 {
		text += "; " + outcomes(p.Outcomes())
	}
	return text
}

func firstOvershoot(p *result.Peer) string {
	for _, r := range p.Rounds {
		if len(r.First) > 0 {
			return fmt.Sprintf("the first above a limit %.3f s after its server began, with %d open", float64(r.First[0].At)/1e9, r.First[0].Open)
		}
	}
	return ""
}

// outcomes are those that happened, as "served 100, reset 3".
func outcomes(all tally.Outcomes) string {
	var words []string
	for o, n := range all {
		if n > 0 {
			words = append(words, fmt.Sprintf("%s %d", tally.Outcome(o), n))
		}
	}
	return strings.Join(words, ", ")
}

// reached is "reached" or, in the form that is not overlooked, that it is not.
func reached(j result.Judgement, not string) string {
	switch {
	case byMedian(j):
		return "reached by the median"
	case j.Reached:
		return "reached"
	case j.Measured.Count == 0:
		return "not measured"
	}
	return not
}

// byMedian says that a goal is reached, but not in every round.
func byMedian(j result.Judgement) bool {
	return j.Reached && (j.Goal.Least && j.Measured.Least < j.Goal.Value || !j.Goal.Least && j.Measured.Most > j.Goal.Value)
}

// failed says when: a proxy does no more rounds after it.
func failed(d *result.Document, p *result.Peer) string {
	return fmt.Sprintf("failed in round %d of %d", len(p.Rounds)+1, max(d.Rounds, len(p.Rounds)+1))
}

// times prints a ratio with its spread: "1.05x (1.00..1.17)".
func times(s result.Spread) string {
	if s.Least == s.Most {
		return result.Short(s.Median) + "x"
	}
	return fmt.Sprintf("%sx (%s..%s)", result.Short(s.Median), result.Short(s.Least), result.Short(s.Most))
}

// measured prints what a judgement is about.
func measured(j result.Judgement) string {
	if !j.Goal.Ratio() || j.Measured.Count == 0 {
		return j.Measured.String()
	}
	return times(j.Measured)
}

// oneLine keeps a failure's text from breaking a line or a table.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " ")
}

// rounds says how a table's cells come about.
func rounds(d *result.Document) string {
	length := strconv.FormatFloat(d.Seconds, 'f', -1, 64)
	if d.Rounds == 1 {
		return fmt.Sprintf("1 round of %s s, so no spread is known", length)
	}
	return fmt.Sprintf("%d rounds of %s s, median (least..most)", d.Rounds, length)
}
