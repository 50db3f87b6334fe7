package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"penstock/bench/result"
)

// Image is a picture that a section shows.
type Image struct{ Title, Link string }

// Section is a scenario's part of BENCHMARKS.md: what it is, where it is worse
// than a rival, how to repeat it, its figures, goals, verdict and pictures.
func Section(d *result.Document, images []Image) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s.\n", strings.TrimSuffix(sentence(d.About), "."))
	if d.Why != "" {
		for _, p := range paragraphs(d.Why) {
			out.WriteString(p.markdown())
		}
	}
	if worse := losses(d); len(worse) > 0 {
		fmt.Fprintf(&out, "\n**Worse than a rival, by the median:** %s.\n", escape(strings.Join(worse, "; ")))
	}
	fmt.Fprintf(&out, "\n```sh\n%s\n```\n\n%s.\n\n", oneLine(d.Command), sentence(rounds(d)))
	out.WriteString(sectionTable(d))
	goals := d.Judge()
	if len(goals) > 0 {
		out.WriteString("\nGoals:\n\n")
	}
	for _, j := range goals {
		fmt.Fprintf(&out, "- %s %s: %s, %s\n", escape(inCase(j)), escape(j.Goal.Text()), reached(j, notReached), measured(j))
	}
	for _, text := range append([]string{verdictsInWords(d)}, lagging(d)...) {
		if text != "" {
			fmt.Fprintf(&out, "\n%s\n", escape(text))
		}
	}
	for i := range d.Cases {
		for _, p := range d.Cases[i].Peers {
			if p.Failure != "" {
				fmt.Fprintf(&out, "\n%s %s: %s\n", escape(named(d, &d.Cases[i], p.Name)), failed(d, p), quote(p.Failure))
			}
		}
	}
	for _, i := range images {
		fmt.Fprintf(&out, "\n![%s](%s)\n", escape(i.Title), i.Link)
	}
	return out.String()
}

func (p paragraph) markdown() string {
	if p.Code {
		return "\n```sh\n" + p.Text + "\n```\n"
	}
	return "\n" + escape(p.Text) + "\n"
}

const notReached = "**not reached**"

// sectionTable is one table of all cases, with a column for what varies.
func sectionTable(d *result.Document) string {
	several := len(d.Cases) > 1
	var lines [][]string
	starred := false
	for i := range d.Cases {
		t := tableOf(d, &d.Cases[i])
		starred = starred || t.starred()
		if i == 0 {
			lines = append(lines, head(d, t, several))
		}
		for _, l := range t.Lines {
			lines = append(lines, lead(several, d.Cases[i].Name, append([]string{l.Name}, l.Cells...)))
		}
	}
	text := Table(lines)
	if starred {
		text += "\n\\* the hardest to beat.\n"
	}
	return text
}

func head(d *result.Document, t table, several bool) []string {
	return lead(several, varied(d), append([]string{""}, t.Head...))
}

func lead(several bool, first string, cells []string) []string {
	if several {
		return append([]string{first}, cells...)
	}
	return cells
}

// Table writes Markdown, the first line as its head. Cells may say anything.
func Table(lines [][]string) string {
	var out strings.Builder
	for i, cells := range lines {
		escaped := make([]string, len(cells))
		for j, cell := range cells {
			escaped[j] = escape(oneLine(cell))
		}
		fmt.Fprintf(&out, "| %s |\n", strings.Join(escaped, " | "))
		if i == 0 {
			fmt.Fprintf(&out, "|%s\n", strings.Repeat(" --- |", len(cells)))
		}
	}
	return out.String()
}

// Claims holds the goals of all documents against what was measured; first
// those that are not reached.
func Claims(all []*result.Document) string {
	type row struct {
		rank  int
		cells []string
	}
	var rows []row
	for _, d := range all {
		for _, j := range d.Judge() {
			cells := []string{d.Scenario + where(d, j.Case), j.Goal.Metric + " " + j.Goal.Text(), measured(j) + others(j), reached(j, notReached)}
			rows = append(rows, row{rank(j), cells})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.rank - b.rank })
	lines := [][]string{{"work", "goal", "measured", ""}}
	for _, r := range rows {
		lines = append(lines, r.cells)
	}
	return Table(lines)
}

// others sets the rivals' figures beside an own figure.
func others(j result.Judgement) (text string) {
	if j.Goal.Ratio() {
		return ""
	}
	for _, rival := range j.Case.Rivals() {
		if s := rival.Spread(j.Goal.Metric); s.Count > 0 {
			text += "; " + rival.Name + " " + result.Short(s.Median)
		}
	}
	return text
}

func where(d *result.Document, c *result.Case) string {
	if t := title(d, c); t != "" {
		return ", " + t
	}
	return ""
}

func rank(j result.Judgement) int {
	switch {
	case j.Reached:
		return 2
	case j.Measured.Count == 0:
		return 1
	}
	return 0
}

// Headroom says for each proxy of each document how busy clients and servers
// were, how late, and what they did without a proxy.
func Headroom(all []*result.Document) string {
	lines := [][]string{{"work", "", coresHead, "late with what was due, 99 %", "without a proxy they did"}}
	for _, d := range all {
		for _, r := range headroom(d) {
			work := d.Scenario
			if len(d.Cases) > 1 {
				work += ", " + r.Case
			}
			lines = append(lines, []string{work, r.Proxy, r.Cores, r.Lag, r.Beyond})
		}
	}
	return Table(lines)
}

// sentence begins with a capital.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return escape(strings.ToUpper(text[:1]) + text[1:])
}

// markup is what Markdown would not show as it is written: a bar ends a cell,
// and a letter after < begins HTML.
var markup = regexp.MustCompile("[|`\\[\\]]|<([A-Za-z/!?])")

func escape(text string) string {
	return markup.ReplaceAllStringFunc(text, func(m string) string {
		if m[0] == '<' {
			return "&lt;" + m[1:]
		}
		return `\` + m
	})
}

// quote shows text as code. No backtick in it ends that too early.
func quote(text string) string {
	return "`" + strings.ReplaceAll(oneLine(text), "`", "'") + "`"
}
