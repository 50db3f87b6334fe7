package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"penstock/bench/report/plots"
	"penstock/bench/result"
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string

	page = template.Must(template.New("page").Parse(pageHTML))
)

// HTML writes one file that has all in it and loads nothing: the result in a
// line, tables, plots, the machine, and every round's figures.
func HTML(w io.Writer, d *result.Document) error {
	drawn, err := plots.Of(d)
	if err != nil {
		return err
	}
	v := view{
		Document: d, Style: template.CSS(pageCSS), Claim: claim(d), Because: paragraphs(d.Why), Rounds: rounds(d), Losses: losses(d), Sizing: sizing(d), SizingNote: sizingNote, Lagging: lagging(d),
		Head: coresHead, Versions: versions(d), Memory: gib(d.Machine.Memory), Room: headroom(d), Text: strings.Join(d.Lines, "\n"),
	}
	v.Plots, v.More = figures(drawn)
	goals := asked(d)
	for i := range d.Cases {
		v.Parts = append(v.Parts, partOf(d, &d.Cases[i], goals, drawn))
	}
	return page.Execute(w, v)
}

// view is what the page shows.
type view struct {
	*result.Document
	Style          template.CSS
	Claim          string
	Because        []paragraph
	Rounds         string // in words
	Losses, Sizing []string
	SizingNote     string
	Lagging        []string // whose clients were late themselves
	Plots          []figure // of all cases
	More           bool     // cases have plots of their own
	Parts          []part
	Head           string
	Versions       []version
	Memory         string
	Room           []room
	Text           string // the scenario
}

// part is one case.
type part struct {
	Title    string
	Table    table
	Starred  bool
	Goals    []goal
	Verdicts []said
	Plots    []figure
	Rounds   []roundLine
}

type figure struct {
	plots.Plot
	Picture template.HTML
}

type goal struct {
	Metric, Goal, Measured, Reached string
	Ok                              bool
}

// said is a verdict, of one proxy or of several that are well.
type said struct {
	Name, Words, Failure string
	When                 string // it failed, if it did
	Well                 bool
}

type version struct{ Name, Version string }

// figures are those of no case; more says that others are left.
func figures(drawn []plots.Plot) (all []figure, more bool) {
	for _, p := range drawn {
		if p.Case != "" {
			more = true
			continue
		}
		all = append(all, figureOf(p))
	}
	return all, more
}

// figureOf trusts the picture's markup, in which package plots has escaped all
// text.
func figureOf(p plots.Plot) figure { return figure{p, template.HTML(p.SVG)} }

func partOf(d *result.Document, c *result.Case, goals []result.Judgement, drawn []plots.Plot) part {
	t := tableOf(d, c)
	pt := part{Title: title(d, c), Table: t, Starred: t.starred(), Rounds: roundLines(d, c)}
	for _, j := range goals {
		if j.Case == c {
			pt.Goals = append(pt.Goals, goal{j.Goal.Metric, j.Goal.Text(), measured(j), reached(j, "not reached"), j.Reached})
		}
	}
	if names, words := well(c), wellWords(d); len(names) > 0 && words != "" {
		pt.Verdicts = append(pt.Verdicts, said{Name: strings.Join(names, ", "), Words: words, Well: true})
	}
	for _, p := range c.Peers {
		if !isWell(p) {
			pt.Verdicts = append(pt.Verdicts, said{Name: p.Name, Words: peerVerdict(d, p), Failure: oneLine(p.Failure), When: failed(d, p)})
		}
	}
	for _, p := range drawn {
		if p.Case != "" && p.Case == c.Name {
			pt.Plots = append(pt.Plots, figureOf(p))
		}
	}
	return pt
}

// roundLine is one round of one proxy, with all that was counted.
type roundLine struct {
	Round int
	Name  string
	Cells []string
}

// roundHead names the cells of a roundLine behind the metrics.
var roundHead = []string{"outcomes", "verdict", coresHead, "out of order: connections, places, ms", "lag p99 µs"}

func roundLines(d *result.Document, c *result.Case) (lines []roundLine) {
	for round := range most(c) {
		for _, p := range c.Peers {
			if round < len(p.Rounds) {
				lines = append(lines, roundLine{round + 1, p.Name, roundCells(d, p.Rounds[round])})
			}
		}
	}
	return lines
}

func most(c *result.Case) (rounds int) {
	for _, p := range c.Peers {
		rounds = max(rounds, len(p.Rounds))
	}
	return rounds
}

func roundCells(d *result.Document, r result.Round) (cells []string) {
	for _, m := range d.Metrics {
		cell := "-"
		if x, ok := r.Figures[m.Name]; ok {
			cell = result.Short(x)
		}
		cells = append(cells, cell)
	}
	words, order := "well", "-"
	if !r.Verdict.Well() {
		words = verdict(r.Verdict)
	}
	if r.Order.Tokens > 0 {
		order = fmt.Sprintf("%d, %d, %s", r.Order.Overtaken, r.Order.Places, result.Short(float64(r.Order.Behind)/1e6))
	}
	return append(cells, outcomes(r.Outcomes), words, coresOf(&result.Peer{Rounds: []result.Round{r}}).String(), order, result.Short(r.Lag99))
}

// Several says that the scenario has cases.
func (v view) Several() bool { return len(v.Cases) > 1 }

// Varied is what they vary.
func (v view) Varied() string { return varied(v.Document) }

// RoundHead names all cells of a round.
func (v view) RoundHead() []string {
	var head []string
	for _, m := range v.Metrics {
		head = append(head, m.Name)
	}
	return append(head, roundHead...)
}

func versions(d *result.Document) (all []version) {
	for _, name := range slices.Sorted(maps.Keys(d.Machine.Versions)) {
		all = append(all, version{name, d.Machine.Versions[name]})
	}
	return all
}

// paragraph is of a scenario's Why. Lines that are set in are code.
type paragraph struct {
	Text string
	Code bool
}

func paragraphs(text string) (all []paragraph) {
	open := false // the last one goes on
	for line := range strings.SplitSeq(text, "\n") {
		code := strings.HasPrefix(line, "  ")
		line = oneLine(line)
		last := len(all) - 1
		switch {
		case line == "":
			open = false
			continue
		case open && all[last].Code == code && code:
			all[last].Text += "\n" + line
		case open && all[last].Code == code:
			all[last].Text += " " + line
		default:
			all = append(all, paragraph{line, code})
		}
		open = true
	}
	return all
}

func gib(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }

// Page writes the HTML into a file, which is whole or not there.
func Page(path string, d *result.Document) error {
	var out bytes.Buffer
	if err := HTML(&out, d); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", out.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
