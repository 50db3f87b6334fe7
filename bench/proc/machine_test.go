package proc

import (
	"testing"
	"time"
)

// A processor that works is busy.
func TestBusy(t *testing.T) {
	before, err := Busy()
	if err != nil {
		t.Fatal(err)
	}
	const work = 200 * time.Millisecond
	busy(t, work)
	after, err := Busy()
	if d := after - before; err != nil || d < work/4 || d > time.Minute {
		t.Errorf("%v busy in %v: %v", d, work, err)
	}
}
