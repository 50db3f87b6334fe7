package device

import (
	"testing"
	"time"
)

// However long each rest is, they take a small part of the time together.
func TestRestIsBounded(t *testing.T) {
	const turn = 100 * time.Microsecond
	for _, long := range []time.Duration{restLong + 1, 3 * time.Millisecond, time.Second} {
		var r rest
		start := time.Unix(1, 0)
		now, rested := start, time.Duration(0)
		for now.Sub(start) < 1000*long {
			now = now.Add(turn)
			if !now.Before(r.not) {
				r.took(now, long)
				rested += long
				now = now.Add(long)
			}
		}
		if share := float64(rested) / float64(now.Sub(start)); share > 1.1/restEvery || share < 0.5/restEvery {
			t.Errorf("rests of %v: %.3f of the time", long, share)
		}
	}
	var r rest
	if r.took(time.Unix(1, 0), restLong); !r.not.IsZero() {
		t.Error("none after a short one")
	}
}
