package tally

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// Text writes what became of the connections, how long it took, and how busy
// and how late the client itself was.
func (c *Client) Text(w io.Writer) {
	fmt.Fprintf(w, "%d counted in %.2f s; %s begun in all\n", c.Outcomes.Sum(), c.Seconds, many(int64(c.Begun), "connection"))
	aligned(w, c.outcomeLines())
	for _, line := range c.remarks() {
		fmt.Fprintf(w, "  %s\n", line)
	}
	c.Handshakes.text(w)
	release, first := c.Handshakes.spans()
	if table := spans(
		times{"  latency of served", c.Latency},
		times{"  connected after", c.Connect},
		times{"  gave up after", c.Patience},
		times{"  slot freed to SYN-ACK", release},
		times{"  slot freed to first byte", first},
		times{"  client itself late by", c.Lag},
	); table != nil {
		fmt.Fprintln(w)
		aligned(w, table)
	}
}

// outcomeLines are those that happened: how many, of all, and a second.
func (c *Client) outcomeLines() (lines [][]string) {
	sum := float64(c.Outcomes.Sum())
	for o, n := range c.Outcomes {
		if n > 0 {
			lines = append(lines, []string{"  " + Outcome(o).String(), fmt.Sprint(n), share(float64(n) / sum), c.rate(float64(n))})
		}
	}
	return lines
}

// share keeps what is not all from looking like it.
func share(of float64) string {
	percent := of * 100
	switch {
	case of < 1 && percent >= 99.995:
		return "> 99.99 %"
	case of > 0 && percent < 0.005:
		return "< 0.01 %"
	}
	return fmt.Sprintf("%.2f %%", percent)
}

// rate is empty where no time was measured.
func (c *Client) rate(n float64) string {
	if c.Seconds <= 0 {
		return ""
	}
	return digits(n/c.Seconds) + " a second"
}

func (c *Client) remarks() (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if c.Late > 0 {
		say("%d of the served came later than -late", c.Late)
	}
	if c.Cause != "" {
		say("the first that was the client's own fault: %s", c.Cause)
	}
	for _, b := range []struct {
		name string
		n    uint64
	}{{"received", c.Received}, {"sent", c.Sent}} {
		if b.n > 0 && c.Seconds > 0 {
			say("%s %s, %s a second", b.name, size(float64(b.n)), size(float64(b.n)/c.Seconds))
		}
	}
	if len(c.Open.Values) > 0 {
		say("at most %s open at once, seen every %d ms", many(slices.Max(c.Open.Values), "connection"), c.Open.Every/1e6)
	}
	if c.Seconds > 0 {
		say("used %.2f cores itself", c.CPU/c.Seconds)
		for _, pid := range slices.Sorted(maps.Keys(c.Watched)) {
			say("process %d used %.2f cores", pid, c.Watched[pid]/c.Seconds)
		}
	}
	return lines
}
