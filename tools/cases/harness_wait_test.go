package cases

import (
	"sort"
	"strconv"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen, where the time it
// takes is not what is tested.
const patience = 20 * time.Second

// atOnce is "within 100 ms", with room for a machine that is busy with other
// tests.
const atOnce = 100*time.Millisecond + slack

// leaving is within what time it is noticed that a parked client has left.
// Over TAP it does so in silence, and is missed: 4 s after its first SYN, if it
// had not sent another one yet, and 7 s after the last of those that come each
// second.
func leaving() time.Duration {
	if *overTap {
		return 8*time.Second + slack
	}
	return atOnce
}

// slack is what a scheduler may add to any time that is measured here.
const slack = 300 * time.Millisecond * raceFactor

// tick is by how much a time may differ that a proxy has taken: all that happens
// in one round of a loop happens at once.
const tick = 20 * time.Millisecond

// happens looks until cond is true or the time is over, but for stalls.
func happens(within time.Duration, cond func() bool) bool {
	start := time.Now()
	return looks(cond, func() bool { return tardy(start, within) > 0 })
}

// looks looks until cond is true, and for the last time when it is over.
func looks(cond, over func() bool) bool {
	pause := 100 * time.Microsecond
	for {
		last := over()
		if cond() {
			return true
		}
		if last {
			return false
		}
		time.Sleep(pause)
		pause = min(2*pause, 5*time.Millisecond)
	}
}

// await fails the test if what does not come true in time.
func await(t testing.TB, within time.Duration, what string, cond func() bool) {
	t.Helper()
	if !happens(within, cond) {
		t.Fatalf("not within %v: %s", within, what)
	}
}

// never looks for a time whether cond stays false. For what must not happen
// there is no event to wait for.
func never(t testing.TB, span time.Duration, what string, cond func() bool) {
	t.Helper()
	end := time.Now().Add(span)
	if looks(cond, func() bool { return time.Now().After(end) }) {
		t.Errorf("happened: %s", what)
	}
}

// between says that a duration is in a range, but for the scheduler's part, and
// for stalls, if it has just ended.
func between(t testing.TB, what string, d, least, most time.Duration) {
	t.Helper()
	if d < least-tick || d > most+slack && tardy(time.Now().Add(-d), most+slack) > 0 {
		t.Errorf("%s after %v; want %v to %v, and %v for stalls", what, d, least, most, stalled(time.Now().Add(-d)))
	}
}

// spread sorts durations and tells quantiles of them.
type spread []time.Duration

func (s spread) at(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sort.Slice(s, func(i, k int) bool { return s[i] < s[k] })
	return s[min(int(q*float64(len(s))), len(s)-1)]
}

func itoa(n int) string { return strconv.Itoa(n) }
