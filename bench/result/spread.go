package result

import (
	"fmt"
	"math"
	"slices"
)

// Spread is what the figures of several rounds come to. Without figures, or
// with one that is not a number, it is zero: Count tells.
type Spread struct {
	Median, Least, Most float64
	Count               int
}

// SpreadOf leaves the order of xs as it is. The median of an even number is
// the middle of the two in the middle.
func SpreadOf(xs []float64) Spread {
	if len(xs) == 0 || slices.ContainsFunc(xs, math.IsNaN) {
		return Spread{}
	}
	xs = slices.Sorted(slices.Values(xs))
	half := len(xs) / 2
	s := Spread{Median: xs[half], Least: xs[0], Most: xs[len(xs)-1], Count: len(xs)}
	if len(xs)%2 == 0 {
		s.Median = (xs[half-1] + xs[half]) / 2
	}
	return s
}

// String is "1.05 (1.00..1.17)", the median alone if all are the same, and "-"
// if there are none.
func (s Spread) String() string { return s.Text(Short) }

// Text is String, with each number written as given.
func (s Spread) Text(number func(float64) string) string {
	switch {
	case s.Count == 0:
		return "-"
	case s.Least == s.Most:
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s..%s)", number(s.Median), number(s.Least), number(s.Most))
}

// Short prints three digits or more: 5.71M, 12345, 1.05, 0.042. There is an
// exponent only in what nobody measures, from 1e15 on.
func Short(x float64) string {
	if size := math.Abs(x); size >= 1e6 && size < 1e15 {
		return digits(x/1e6) + "M"
	}
	return digits(x)
}

func digits(x float64) string {
	switch size := math.Abs(x); {
	case size >= 1e15:
		return fmt.Sprint(x)
	case size >= 100 || x == 0:
		return fmt.Sprintf("%.0f", x)
	case size >= 10:
		return fmt.Sprintf("%.1f", x)
	case size >= 0.1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3f", x)
}
