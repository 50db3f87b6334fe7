package run

import (
	"cmp"
	"math"
	"slices"
)

// unbounded is what somebody asks for who takes all.
var unbounded = math.Inf(1)

func total(xs []float64) (sum float64) {
	for _, x := range xs {
		sum += x
	}
	return sum
}

// maxMin divides an amount: who asks for less than an equal part gets what it
// asks for, and the others divide the rest in the same way.
func maxMin(asked []float64, amount float64) []float64 {
	order := make([]int, len(asked))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(asked[a], asked[b]) })
	shares := make([]float64, len(asked))
	for k, i := range order {
		shares[i] = min(asked[i], amount/float64(len(order)-k))
		amount -= shares[i]
	}
	return shares
}

// jain is the index of that name: 1 if all are equal, 1/n if one has all; 1 for
// nothing at all.
func jain(xs []float64) float64 {
	var squares float64
	for _, x := range xs {
		squares += x * x
	}
	if squares == 0 {
		return 1
	}
	return total(xs) * total(xs) / (float64(len(xs)) * squares)
}
