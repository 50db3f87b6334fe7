package ctl

import (
	"math"
	"strconv"
	"time"
)

func count(n int64) string { return strconv.FormatInt(n, 10) }

// limit is a number of which 0 means none.
func limit(n int64) string {
	if n == 0 {
		return "none"
	}
	return count(n)
}

// size is a number of bytes with three figures.
func size(n int64) string {
	const units = "kMGTPE"
	f := float64(n)
	if f < 1000 {
		return count(n)
	}
	unit := -1
	for f >= 999.5 && unit < len(units)-1 {
		f /= 1000
		unit++
	}
	return figures(f) + units[unit:unit+1]
}

// figures is a number from 0 to 1000 with three of them.
func figures(f float64) string {
	switch {
	case f >= 99.95:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case f >= 9.995:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}

// span is a time of so many milliseconds, as exact as one can use it.
func span(ms float64) string {
	d := time.Duration(min(ms*float64(time.Millisecond), math.MaxInt64/2))
	switch {
	case d == 0:
		return "0"
	case d < time.Second:
		return figures(ms) + "ms"
	case d < time.Minute:
		return figures(d.Seconds()) + "s"
	}
	return d.Round(time.Second).String()
}

// known is a value that the proxy may not know.
func known[T any](v *T, show func(T) string) string {
	if v == nil {
		return "-"
	}
	return show(*v)
}
