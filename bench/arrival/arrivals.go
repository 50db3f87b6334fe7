package arrival

import (
	"math"
	"math/rand/v2"
	"time"
)

// Arrivals tells one after the other when clients are due. For one loop only.
type Arrivals struct {
	phases  []phase // what is to come, the present one first
	random  *rand.Rand
	begun   int64   // when the present phase began
	n       int64   // arrivals so far in it
	elapsed float64 // poisson: time of the last in it
	skip    int     // arrivals of other loops before the next
	loops   int
}

// Arrivals begins the schedule from the start, for loop i of n: the arrivals
// i, i+n, i+2n and so on.
func (s Schedule) Arrivals(seed uint64, i, n int) *Arrivals {
	return &Arrivals{phases: s.phases, random: rand.New(rand.NewPCG(seed, 0)), skip: i, loops: n}
}

// Next is when the next client is due, in nanoseconds from the beginning of the
// schedule and never before the last one. It says false when nobody is due any
// more.
func (a *Arrivals) Next() (due int64, ok bool) {
	for range a.skip {
		a.any()
	}
	a.skip = a.loops - 1
	return a.any()
}

// any is the next arrival of all loops.
func (a *Arrivals) any() (int64, bool) {
	for len(a.phases) > 0 {
		p := a.phases[0]
		if at := a.within(p); at < float64(p.length) {
			a.n++
			return a.begun + int64(at), true
		}
		a.begun += int64(p.length)
		a.phases, a.n, a.elapsed = a.phases[1:], 0, 0
	}
	return 0, false
}

// within is when the next arrival of a phase is due, in ns from the phase's
// beginning, be it in the phase or not.
//
// It is worked out of the arrival's number and not of the one before it, so
// that a rate holds exactly however long the phase is.
func (a *Arrivals) within(p phase) float64 {
	const second = float64(time.Second)
	n := float64(a.n)
	switch p.kind {
	case poisson:
		a.elapsed += a.random.ExpFloat64() * second / p.from
		return a.elapsed
	case burst:
		return float64(a.n/p.size) * float64(p.every)
	case ramp:
		return p.climb(n) * second
	}
	return n * second / p.from
}

// climb is the time in s after which a ramp has had n arrivals: the t for
// which from·t + (to-from)·t²/2·length = n. Infinite if it never has so many.
func (p phase) climb(n float64) float64 {
	slope := (p.to - p.from) / p.length.Seconds()
	root := p.from*p.from + 2*slope*n
	switch {
	case n == 0:
		return 0
	case root < 0:
		return math.Inf(1)
	}
	return 2 * n / (p.from + math.Sqrt(root)) // no difference of near numbers
}
