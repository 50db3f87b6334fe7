package main

import (
	"fmt"
	"slices"
)

// spread is the median of some figures, the least and the most.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf is all zero for no figures.
func spreadOf(xs []float64) spread {
	if len(xs) == 0 {
		return spread{}
	}
	xs = slices.Sorted(slices.Values(xs))
	half := len(xs) / 2
	s := spread{Median: xs[half], Min: xs[0], Max: xs[len(xs)-1]}
	if len(xs)%2 == 0 {
		s.Median = (xs[half-1] + xs[half]) / 2
	}
	return s
}

// ratios divides round by round. A round that either lacks, or whose divisor
// is zero, gives none.
func ratios(a, b []float64) (rs []float64) {
	for i := range min(len(a), len(b)) {
		if b[i] != 0 {
			rs = append(rs, a[i]/b[i])
		}
	}
	return rs
}

func (s spread) String() string {
	return fmt.Sprintf("%s (%s..%s)", short(s.Median), short(s.Min), short(s.Max))
}

// short prints three digits or more.
func short(x float64) string {
	switch {
	case x >= 100 || x <= -100 || x == 0:
		return fmt.Sprintf("%.0f", x)
	case x >= 10 || x <= -10:
		return fmt.Sprintf("%.1f", x)
	case x >= 0.1 || x <= -0.1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3f", x)
}
