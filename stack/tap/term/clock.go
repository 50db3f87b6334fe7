package term

import (
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"

	"penstock/stack/wheel"
)

// clock is netstack's time and its timers, which fire on the loop. Go's own
// would fire on goroutines of their own, and starting one wakes a thread that
// sleeps until the next.
//
// Only the loop starts and stops timers, since only the loop has netstack do
// anything.
type clock struct {
	began  time.Time
	time   func() time.Duration // a test's; nil: since began
	wheel  *wheel.Wheel
	timers []*timer // those that run, by their number in the wheel; 0 is none
	idle   []uint32
}

func newClock() *clock {
	return &clock{began: time.Now(), wheel: wheel.New(0), timers: make([]*timer, 1)}
}

func (c *clock) since() time.Duration {
	if c.time != nil {
		return c.time()
	}
	return time.Since(c.began)
}

func (c *clock) now() int64 { return int64(c.since()) }

// Now implements tcpip.Clock.
func (c *clock) Now() time.Time { return time.Now() }

// NowMonotonic implements tcpip.Clock.
func (c *clock) NowMonotonic() tcpip.MonotonicTime {
	return tcpip.MonotonicTime{}.Add(c.since())
}

// AfterFunc implements tcpip.Clock. f is called on the loop.
func (c *clock) AfterFunc(d time.Duration, f func()) tcpip.Timer {
	t := &timer{c: c, f: f}
	t.Reset(d)
	return t
}

// timer is one of netstack's.
type timer struct {
	c  *clock
	f  func()
	id uint32 // its number in the wheel; 0: it does not run
}

// Reset implements tcpip.Timer.
func (t *timer) Reset(d time.Duration) {
	c := t.c
	if t.id == 0 {
		t.id = c.number(t)
	}
	c.wheel.Start(t.id, c.now()+int64(d))
}

// Stop implements tcpip.Timer.
func (t *timer) Stop() bool {
	if t.id == 0 {
		return false
	}
	t.c.wheel.Stop(t.id)
	t.c.drop(t)
	return true
}

// number finds a number for a timer that starts.
func (c *clock) number(t *timer) uint32 {
	if n := len(c.idle); n > 0 {
		id := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.timers[id] = t
		return id
	}
	c.timers = append(c.timers, t)
	return uint32(len(c.timers) - 1)
}

// drop gives its number back.
func (c *clock) drop(t *timer) {
	c.timers[t.id] = nil
	c.idle = append(c.idle, t.id)
	t.id = 0
}

// expire calls what is due.
func (c *clock) expire() {
	c.wheel.Advance(c.now(), func(id uint32) {
		t := c.timers[id]
		c.drop(t)
		t.f()
	})
}

// next returns in how many nanoseconds something will be due; not ok: nothing.
func (c *clock) next() (in int64, ok bool) {
	at, ok := c.wheel.Next()
	return at - c.now(), ok
}
