// PLACEHOLDER of the main author, to be replaced by the real files with these names.
package method

import "math/bits"

type Ratio struct {
	cur []int64
	w   []uint32
}

func (r *Ratio) Next(weights []uint32, skip func(int) bool) int {
	if len(r.cur) != len(weights) {
		r.cur = make([]int64, len(weights))
	}
	best := -1
	var total int64
	for i, w := range weights {
		if skip(i) {
			continue
		}
		total += int64(w)
		if best < 0 || r.cur[i]+int64(w) > r.cur[best]+int64(weights[best]) {
			best = i
		}
	}
	r.w = weights
	return best
}
func (r *Ratio) Chose(i int) {
	var t int64
	for k, w := range r.w {
		r.cur[k] += int64(w)
		t += int64(w)
	}
	r.cur[i] -= t
}

type Score struct{ v uint64 }

func (s Score) Less(o Score) bool { return s.v < o.v }
func ScoreOf(key uint64, ratio uint32, hi, lo uint64) Score {
	x := key ^ hi*0x9e3779b97f4a7c15 ^ bits.RotateLeft64(lo, 31)*0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 29
	return Score{x}
}

type Load struct {
	N     int64
	Ratio uint32
	Since int64
}

func (a Load) Less(b Load) bool {
	x, y := a.N*int64(b.Ratio), b.N*int64(a.Ratio)
	if x != y {
		return x < y
	}
	return a.Since < b.Since
}
