// PLACEHOLDER of the main author, to be replaced by the real package with these names.
package ramp

import "math/bits"

func Limit(limit, start, now, d int64) int64 {
	t := now - start
	if t >= d {
		return limit
	}
	if t <= 0 {
		return 1
	}
	h, l := bits.Mul64(uint64(limit), uint64(t))
	q, r := bits.Div64(h, l, uint64(d))
	if r > 0 {
		q++
	}
	return max(1, int64(q))
}
func Next(limit, start, now, d int64) int64 {
	k := Limit(limit, start, now, d)
	if k >= limit {
		return 0
	}
	h, l := bits.Mul64(uint64(k), uint64(d))
	q, _ := bits.Div64(h, l, uint64(limit))
	return start + int64(q) + 1
}
