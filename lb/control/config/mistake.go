package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mistakes is everything that is wrong with the flags, one line for each:
// the flag, the key, the value, and what is allowed.
type Mistakes []string

// Error gives all the lines.
func (m Mistakes) Error() string { return strings.Join(m, "\n") }

// given is one flag as the user gave it.
type given struct {
	from  string // "FILE:LINE: "; "" for the command line; all there is to say if there is no flag
	flag  string
	value string
}

func (g given) String() string {
	if g.flag == "" {
		return g.from
	}
	return g.from + "-" + g.flag + " " + quote(g.value)
}

// maxQuote keeps a line readable, and a thousand mistakes in one long value
// from repeating all of it a thousand times.
const maxQuote = 200

// quote makes any value fit on a line.
func quote(s string) string {
	if len(s) > maxQuote {
		return strconv.Quote(s[:maxQuote]) + "..."
	}
	return strconv.Quote(s)
}

// bare is quote without the marks, for what is nearly always plain.
func bare(s string) string { return strings.Trim(quote(s), `"`) }

func (p *parser) mistake(g given, format string, args ...any) {
	p.mistakes = append(p.mistakes, g.String()+": "+fmt.Sprintf(format, args...))
}

// wrong is a mistake in one key of an object.
func (p *parser) wrong(g given, key, value, format string, args ...any) {
	p.mistake(g, "%s=%s: %s", bare(key), quote(value), fmt.Sprintf(format, args...))
}

// maxListed is how many names a mistake lists before it stops.
const maxListed = 30

// allowedAre lists what could have been meant instead of s.
func allowedAre(s string, known []string) string {
	if len(known) == 0 {
		return "allowed are none: there is none yet"
	}
	known = slices.Clone(known)
	hint := ""
	if near := nearest(s, known); near != "" {
		hint = "did you mean " + near + "? "
	}
	more := ""
	if len(known) > maxListed {
		more = fmt.Sprintf(" and %d more", len(known)-maxListed)
		known = known[:maxListed]
	}
	return hint + "allowed are " + strings.Join(known, ", ") + more
}
