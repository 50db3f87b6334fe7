package fill

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"penstock/bench/report"
)

// counts are of the system calls for one connection.
type counts struct {
	proxies []string                      // in the file's order
	calls   []string                      // likewise, as they first come
	of      map[string]map[string]float64 // by proxy and call
}

// calls tables what tools/syscalls/run prints: a line "# PROXY" before lines of
// a call and how often it was made.
func (f *filler) calls(args []string) (string, error) {
	text, err := f.text(args[0])
	if err != nil {
		return "", err
	}
	c, err := countsOf(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", args[0], err)
	}
	return c.table(), nil
}

func countsOf(text string) (*counts, error) {
	c := &counts{of: map[string]map[string]float64{}}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := c.line(words); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if len(c.calls) == 0 {
		return nil, fmt.Errorf("no call is counted in it")
	}
	return c, nil
}

func (c *counts) line(words []string) error {
	if len(words) != 2 {
		return fmt.Errorf("%q: must be \"# PROXY\" or \"CALL COUNT\"", strings.Join(words, " "))
	}
	if words[0] == "#" {
		c.proxies = append(c.proxies, words[1])
		c.of[words[1]] = map[string]float64{}
		return nil
	}
	n, err := strconv.ParseFloat(words[1], 64)
	if err != nil || len(c.proxies) == 0 {
		return fmt.Errorf("%q: must be a number, below a line \"# PROXY\"", words[1])
	}
	if !slices.Contains(c.calls, words[0]) {
		c.calls = append(c.calls, words[0])
	}
	c.of[c.proxies[len(c.proxies)-1]][words[0]] = n
	return nil
}

// table puts the calls that are made most first, and the sum last.
func (c *counts) table() string {
	most := func(call string) (n float64) {
		for _, of := range c.of {
			n = max(n, of[call])
		}
		return n
	}
	slices.SortStableFunc(c.calls, func(a, b string) int { return int(100*most(b)) - int(100*most(a)) })
	lines := [][]string{append([]string{"calls a connection"}, c.proxies...)}
	for _, call := range c.calls {
		cells := []string{call}
		for _, p := range c.proxies {
			cells = append(cells, fmt.Sprintf("%.2f", c.of[p][call]))
		}
		lines = append(lines, cells)
	}
	sum := []string{"sum"}
	for _, p := range c.proxies {
		total := 0.0
		for _, call := range c.calls {
			total += c.of[p][call]
		}
		sum = append(sum, fmt.Sprintf("%.2f", total))
	}
	return report.Table(append(lines, sum))
}
