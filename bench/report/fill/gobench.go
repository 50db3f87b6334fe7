package fill

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"penstock/bench/report"
	"penstock/bench/result"
)

// benchmark is the repeats of one Go benchmark.
type benchmark struct {
	name   string // without "Benchmark" and the number of processors
	values map[string][]float64
}

// benchmarks tables what `go test -bench` printed, in the file's order; with
// expressions, what the first matches comes first.
func (f *filler) benchmarks(args []string) (string, error) {
	text, err := f.text(args[0])
	if err != nil {
		return "", err
	}
	all, units, err := readBenchmarks(text, args[0])
	if err != nil {
		return "", err
	}
	chosen, err := choose(all, args[1:])
	if err != nil {
		return "", fmt.Errorf("%s: %w", args[0], err)
	}
	return benchmarkTable(chosen, units), nil
}

func readBenchmarks(text, name string) (all []*benchmark, units []string, err error) {
	for r := benchfmt.NewReader(strings.NewReader(text), name); r.Scan(); {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, nil, rec
		case *benchfmt.Result:
			b := find(&all, procs.ReplaceAllString(rec.Name.String(), ""))
			for _, v := range rec.Values {
				value, unit := asPrinted(v)
				b.values[unit] = append(b.values[unit], value)
				if !slices.Contains(units, unit) {
					units = append(units, unit)
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%s: no Go benchmark's output in it", name)
	}
	return all, units, nil
}

// procs is the number of processors behind a benchmark's name.
var procs = regexp.MustCompile(`-\d+$`)

// asPrinted undoes the reader's change of units, as of ns to s.
func asPrinted(v benchfmt.Value) (float64, string) {
	if v.OrigUnit != "" {
		return v.OrigValue, v.OrigUnit
	}
	return v.Value, v.Unit
}

func find(all *[]*benchmark, name string) *benchmark {
	for _, b := range *all {
		if b.name == name {
			return b
		}
	}
	b := &benchmark{name, map[string][]float64{}}
	*all = append(*all, b)
	return b
}

// choose refuses an expression that matches none: it is of a benchmark that has
// another name now.
func choose(all []*benchmark, expressions []string) (chosen []*benchmark, err error) {
	if len(expressions) == 0 {
		return all, nil
	}
	for _, e := range expressions {
		re, err := regexp.Compile(e)
		if err != nil {
			return nil, err
		}
		before := len(chosen)
		for _, b := range all {
			if re.MatchString(b.name) && !slices.Contains(chosen, b) {
				chosen = append(chosen, b)
			}
		}
		if len(chosen) == before {
			return nil, fmt.Errorf("no benchmark (more) matches %q: there are %s", e, names(all))
		}
	}
	return chosen, nil
}

func names(all []*benchmark) string {
	var list []string
	for _, b := range all {
		list = append(list, b.name)
	}
	return strings.Join(list, ", ")
}

// benchmarkTable has the units that any of them has; nothing else to say is "-".
func benchmarkTable(all []*benchmark, units []string) string {
	units = slices.DeleteFunc(slices.Clone(units), func(unit string) bool {
		return !slices.ContainsFunc(all, func(b *benchmark) bool { return len(b.values[unit]) > 0 })
	})
	repeats := 0
	lines := [][]string{append([]string{"benchmark"}, units...)}
	for _, b := range all {
		cells := []string{b.name}
		for _, unit := range units {
			s := result.SpreadOf(b.values[unit])
			cells = append(cells, s.String())
			repeats = max(repeats, s.Count)
		}
		lines = append(lines, cells)
	}
	note := fmt.Sprintf("Median (least..most) of %d.", repeats)
	if repeats == 1 {
		note = "Of one run, so no spread is known."
	}
	return report.Table(lines) + "\n" + note + "\n"
}
