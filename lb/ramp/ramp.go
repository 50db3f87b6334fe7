// Package ramp says how many connections a member may have that came up a
// moment ago: few at first, and its whole limit after the slow-ramp time, so
// that a server with cold caches is not run over by all who waited for it.
//
// The limit grows in a straight line, as BIG-IP's "slow ramp time" does. The
// functions keep nothing: the same moment gives the same limit, and Next says
// when to look again, to the nanosecond.
package ramp

import "math/bits"

// Tick is a moment or a span in monotonic nanoseconds.
type Tick = int64

// Limit returns the limit in force at now, of a member that came up at start
// and has its whole limit after the duration: that part of the limit that has
// passed of the duration, rounded up, and at least 1. A limit of 0 (none)
// stays 0; without a duration the whole limit is there at once. It is exact, whatever the numbers.
func Limit(limit int64, start, now, duration Tick) int64 {
	t := now - start
	if t >= duration || duration <= 0 || limit <= 1 {
		return limit
	}
	if t <= 0 {
		return 1
	}
	return max(1, part(limit, t, duration, true))
}

// Next returns the first moment after now at which the limit is higher than at
// now; 0 if it is all there.
func Next(limit int64, start, now, duration Tick) Tick {
	have := Limit(limit, start, now, duration)
	if have >= limit {
		return 0
	}
	// The limit at t is above have as soon as limit*t/duration is.
	return start + part(duration, have, limit, false) + 1
}

// part returns whole*a/b, rounded up or down, for 0 <= a < b: the product may
// have 128 bits, the result is at most whole.
func part(whole, a, b int64, up bool) int64 {
	hi, lo := bits.Mul64(uint64(whole), uint64(a))
	q, rest := bits.Div64(hi, lo, uint64(b))
	if up && rest > 0 {
		q++
	}
	return int64(q)
}
