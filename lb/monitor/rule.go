package monitor

import (
	"math/bits"
	"time"
)

// Rule says how a member is checked. The zero value is F5's default: every
// 5 s, down after 16 s.
type Rule struct {
	// Interval is the time from check to check. 0: 5 s. Less finds a dead
	// member sooner and costs the servers more.
	Interval time.Duration

	// Timeout is how long a member may be without a good check. 0: three
	// intervals and a second, so that one lost check, or two, is no outage. It
	// should be longer than the interval, else one lost check is.
	Timeout time.Duration
}

// whole fills in what is left out.
func (r Rule) whole() Rule {
	if r.Interval <= 0 {
		r.Interval = 5 * time.Second
	}
	if r.Timeout <= 0 {
		r.Timeout = 3*r.Interval + time.Second
	}
	return r
}

// Limit is how long one check may take: an interval, or a third of the
// timeout where that is longer. So a server may be slower than a short
// interval, three checks can fail before the member is down, and one that
// hangs does not use up the timeout alone.
func (r Rule) Limit() time.Duration {
	r = r.whole()
	return min(max(r.Interval, r.Timeout/3), r.Timeout)
}

// jitter spreads seeds evenly over [0, d).
func jitter(seed uint64, d time.Duration) time.Duration {
	seed += 0x9e3779b97f4a7c15 // splitmix64
	seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
	seed = (seed ^ seed>>27) * 0x94d049bb133111eb
	hi, _ := bits.Mul64(seed^seed>>31, uint64(d))
	return time.Duration(hi)
}
