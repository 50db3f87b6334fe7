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

// slack is what a scheduler may add to any time that is measured here.
const slack = 150 * time.Millisecond * raceFactor

// happens looks until cond is true or the time is over.
func happens(within time.Duration, cond func() bool) bool {
	pause := 100 * time.Microsecond
	for end := time.Now().Add(within); ; {
		if cond() {
			return true
		}
		if time.Now().After(end) {
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
	if happens(span, cond) {
		t.Errorf("happened: %s", what)
	}
}

// between says that a duration is in a range, but for the scheduler's part.
func between(t testing.TB, what string, d, least, most time.Duration) {
	t.Helper()
	if d < least || d > most+slack {
		t.Errorf("%s after %v; want %v to %v", what, d, least, most)
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
