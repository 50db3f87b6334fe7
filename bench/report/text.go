package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"penstock/bench/result"
)

// Text writes a table for each case, with its goals and what must not happen
// below. Its error is the writer's.
func Text(w io.Writer, d *result.Document) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s: %s\n%s\n", d.Scenario, d.About, rounds(d))
	goals := asked(d)
	for i := range d.Cases {
		textCase(&out, d, &d.Cases[i], goals)
	}
	if all := sizing(d); len(all) > 0 {
		fmt.Fprintf(&out, "\nto size a host (%s):\n  %s\n", sizingNote, strings.Join(all, "\n  "))
	}
	for _, text := range lagging(d) {
		fmt.Fprintf(&out, "\n%s\n", text)
	}
	_, err := w.Write(out.Bytes())
	return err
}

func textCase(out *bytes.Buffer, d *result.Document, c *result.Case, goals []result.Judgement) {
	fmt.Fprintln(out)
	if t := title(d, c); t != "" {
		fmt.Fprintln(out, t)
	}
	t := tableOf(d, c)
	textTable(out, t)
	if t.starred() {
		fmt.Fprintln(out, "  * the hardest to beat")
	}
	for _, j := range goals {
		if j.Case == c {
			fmt.Fprintf(out, "  goal: %s %s: %s, %s\n", j.Goal.Metric, j.Goal.Text(), reached(j, "NOT reached"), measured(j))
		}
	}
	if names, words := well(c), wellWords(d); len(names) > 0 && words != "" {
		fmt.Fprintf(out, "  %s: %s\n", strings.Join(names, ", "), words)
	}
	for _, p := range c.Peers {
		if !isWell(p) {
			fmt.Fprintf(out, "  %s: %s\n", p.Name, peerVerdict(d, p))
		}
		if p.Failure != "" {
			fmt.Fprintf(out, "  %s %s: %q\n", p.Name, failed(d, p), oneLine(p.Failure))
		}
	}
}

func textTable(out io.Writer, t table) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	write := func(name string, cells []string) {
		text := strings.Join(append([]string{"  " + name}, cells...), "\t")
		fmt.Fprintln(w, strings.TrimRight(text, "\t"))
	}
	write("", t.Head)
	for _, l := range t.Lines {
		write(l.Name, l.Cells)
	}
	w.Flush()
}
