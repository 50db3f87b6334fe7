package term

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
)

// stillClock is a clock whose time stands still, but for pass.
type stillClock struct {
	*clock
	at time.Duration
}

func (c *stillClock) pass(d time.Duration) { c.at += d }

func newStillClock() *stillClock {
	c := &stillClock{clock: newClock(), at: time.Second}
	c.time = func() time.Duration { return c.at }
	return c
}

// Timers fire once, when they are due, and not if they were stopped; one that
// fires may do anything with itself and with others.
func TestClock(t *testing.T) {
	c := newStillClock()
	var fired []string
	say := func(s string) func() { return func() { fired = append(fired, s) } }
	want := func(list ...string) {
		t.Helper()
		c.expire()
		if !slices.Equal(fired, list) {
			t.Errorf("fired %q, want %q", fired, list)
		}
		fired = nil
	}
	if _, ok := c.next(); ok {
		t.Error("something is due")
	}
	c.AfterFunc(20*time.Second, say("b"))
	c.AfterFunc(10*time.Second, say("a"))
	stopped := c.AfterFunc(15*time.Second, say("never"))
	moved := c.AfterFunc(12*time.Second, say("moved"))
	var again tcpip.Timer
	n := 0
	again = c.AfterFunc(5*time.Second, func() {
		if n++; n < 3 {
			again.Reset(5 * time.Second)
		}
		fired = append(fired, "again")
	})
	if !stopped.Stop() || stopped.Stop() {
		t.Error("Stop is wrong about what runs")
	}
	moved.Reset(30 * time.Second)
	want()
	c.pass(6 * time.Second)
	want("again")
	c.pass(15 * time.Second)
	want("a", "again", "b")
	c.pass(15 * time.Second)
	want("again", "moved")
	if again.Stop() {
		t.Error("a timer that fired was stopped")
	}
	again.Reset(time.Second)
	c.pass(2 * time.Second)
	want("again")
	if _, ok := c.next(); ok {
		t.Error("something is due")
	}
	c.AfterFunc(0, say("soon"))
	c.AfterFunc(-time.Second, say("soon"))
	if in, ok := c.next(); !ok || in != int64(time.Millisecond) {
		t.Errorf("due in %d", in)
	}
	c.pass(2 * time.Millisecond)
	want("soon", "soon")
}

// A dumb twin: each timer knows for itself when it should fire.
func TestClockRandom(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	c := newStillClock()
	type one struct {
		tcpip.Timer
		at    int64 // 0: does not run
		fired int
	}
	all := make([]*one, 50)
	start := func(i int) {
		d := time.Duration(r.Int64N(int64(3 * time.Minute)))
		o := all[i]
		if o == nil {
			o = &one{}
			all[i] = o
			o.Timer = c.AfterFunc(d, func() { o.fired++ })
		} else {
			o.Reset(d)
		}
		o.at = c.now() + int64(d)
	}
	const slack = int64(time.Millisecond) // the wheel's resolution
	for range 20000 {
		i := r.IntN(len(all))
		switch o := all[i]; r.IntN(3) {
		case 0:
			start(i)
		case 1:
			if o != nil {
				if stopped := o.Stop(); stopped != (o.at != 0) {
					t.Fatalf("seed %d: Stop says %v", seed, stopped)
				}
				o.at = 0
			}
		default:
			c.pass(time.Duration(r.Int64N(int64(10 * time.Second))))
			before := c.now()
			c.expire()
			for _, o := range all {
				if o == nil {
					continue
				}
				late, early := o.at != 0 && o.at < before-slack, o.at > before+slack
				if o.fired > 1 || o.fired == 1 && (o.at == 0 || early) || o.fired == 0 && late {
					t.Fatalf("seed %d: fired %d times, due in %d", seed, o.fired, o.at-before)
				}
				if o.fired == 1 {
					o.at, o.fired = 0, 0
				}
			}
		}
	}
	if n := len(c.timers) - 1; n > len(all) {
		t.Errorf("%d numbers for %d timers", n, len(all))
	}
}
