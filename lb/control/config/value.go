package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

func notAllowed(allowed string) error { return errors.New("allowed is " + allowed) }

func bars(words []string) string { return strings.Join(words, "|") }

// counts is a range of whole numbers from 0.
type counts struct {
	max  int64
	zero string // what 0 means, if it is not zero
}

func (r counts) parse(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	// ParseInt would take a sign: "+5" is more likely a slip than a five.
	if err != nil || !digits(s) || n > r.max {
		zero := "0"
		if r.zero != "" {
			zero = "0 (" + r.zero + ")"
		}
		return 0, fmt.Errorf("allowed is %s to %d", zero, r.max)
	}
	return n, nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// sizes is a range of numbers that may end in K or M.
type sizes struct{ min, max int }

const (
	kilo = 1 << 10
	mega = 1 << 20
)

func (r sizes) parse(s string) (int, error) {
	number, unit := s, 1
	switch {
	case strings.HasSuffix(s, "K"):
		number, unit = s[:len(s)-1], kilo
	case strings.HasSuffix(s, "M"):
		number, unit = s[:len(s)-1], mega
	}
	n, err := strconv.Atoi(number)
	if err != nil || !digits(number) || n > r.max/unit || n*unit < r.min {
		return 0, notAllowed(fmt.Sprintf("%s to %s; K is %d, M is %d", formatSize(r.min), formatSize(r.max), kilo, mega))
	}
	return n * unit, nil
}

// formatSize is exact: it takes a unit only if nothing is lost.
func formatSize(n int) string {
	switch {
	case n > 0 && n%mega == 0:
		return strconv.Itoa(n/mega) + "M"
	case n > 0 && n%kilo == 0:
		return strconv.Itoa(n/kilo) + "K"
	}
	return strconv.Itoa(n)
}

// maxTime keeps a time far from where adding it to the clock overflows.
const maxTime = 10 * 365 * 24 * time.Hour

// times is a range of durations.
type times struct {
	zero     string        // what 0 means; "" when 0 is not allowed
	min, max time.Duration // besides 0; 0 is any, and maxTime
	bare     time.Duration // the unit of a bare number, if it needs none: a second or a millisecond
}

func (r times) parse(s string) (time.Duration, error) {
	d, err := r.read(s)
	switch {
	case err != nil:
		return 0, r.allowed()
	case d == 0 && r.zero == "", d != 0 && d < r.min, d > r.top():
		return 0, r.allowed()
	}
	return d, nil
}

func (r times) read(s string) (time.Duration, error) {
	if strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
		return 0, strconv.ErrSyntax
	}
	if r.bare == 0 || !digits(s) {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if n > math.MaxInt64/int64(r.bare) {
		return 0, strconv.ErrRange
	}
	return time.Duration(n) * r.bare, err
}

func (r times) top() time.Duration {
	if r.max == 0 {
		return maxTime
	}
	return r.max
}

func (r times) allowed() error {
	var b strings.Builder
	top := formatTime(r.top())
	switch {
	case r.zero == "" && r.min > 0:
		b.WriteString(formatTime(r.min) + " to " + top)
	case r.zero == "":
		b.WriteString("more than 0, up to " + top)
	case r.min == 0:
		fmt.Fprintf(&b, "0 (%s) to %s", r.zero, top)
	default:
		fmt.Fprintf(&b, "0 (%s), or %s to %s", r.zero, formatTime(r.min), top)
	}
	b.WriteString(", such as 500ms, 30s or 5m")
	switch r.bare {
	case time.Second:
		b.WriteString("; a bare number is seconds")
	case time.Millisecond:
		b.WriteString("; a bare number is milliseconds")
	}
	return notAllowed(b.String())
}

// formatTime is Duration.String without zeros at the end: 5m, not 5m0s.
func formatTime(d time.Duration) string {
	s := d.String()
	if d == 0 {
		return "0"
	}
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

const (
	maxName   = 64
	nameRunes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
)

// parseName takes what is safe in a URL path, a metric label and a log line.
func parseName(s string) (string, error) {
	if s == "" || len(s) > maxName || strings.Trim(s, nameRunes) != "" {
		return "", notAllowed("1 to 64 of A-Z a-z 0-9 . _ -")
	}
	return s, nil
}

// parsePath takes any path that stays on one line when it is printed.
func parsePath(s string) (string, error) {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", notAllowed("a path without control characters")
	}
	return s, nil
}
