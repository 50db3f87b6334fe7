package dispatch

import (
	"testing"
	"time"
)

// Waits are counted by upper bound, as Prometheus wants them.
func TestWaits(t *testing.T) {
	var w Waits
	for _, d := range []time.Duration{0, time.Millisecond, time.Millisecond + 1, 2 * time.Millisecond, 3 * time.Millisecond, time.Second, time.Hour} {
		w.Add(int64(d))
	}
	count, sum, upTo := w.Snapshot()
	if count != 7 || sum < 3601.006 || sum > 3601.008 || len(upTo) != WaitBuckets {
		t.Errorf("count %d, sum %v, %d buckets", count, sum, len(upTo))
	}
	for bound, want := range map[float64]uint64{0.001: 2, 0.002: 4, 0.004: 5, 0.512: 5, 1.024: 6, 131.072: 6} {
		if got := upTo[bound]; got != want {
			t.Errorf("%d up to %v s, want %d", got, bound, want)
		}
	}
}

// The ages of those served: the longest, the average and the decaying maximum.
func TestAges(t *testing.T) {
	var s QueueStats
	for _, ms := range []Tick{8, 0, 0} {
		s.served(ms * 1e6)
	}
	s.tell()
	for name, ages := range map[string][2]int64{
		"longest": {s.AgeMax.Load(), 8e6},
		"average": {s.AgeEma.Load(), 765625}, // 1 ms, then 7/8 of it twice
		"decayed": {s.AgeEdm.Load(), 6125000},
	} {
		if ages[0] != ages[1] {
			t.Errorf("%s %d, want %d", name, ages[0], ages[1])
		}
	}
}
