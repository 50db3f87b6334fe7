package rate

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
)

const ms Tick = 1e6

// grant adds n grants, each a while after the one before, and returns when the
// last one was.
func (m *Meter) grant(now Tick, n int, every Tick) Tick {
	for range n {
		now += every
		m.Add(now)
	}
	return now
}

func expect(t *testing.T, m *Meter, now Tick, want float64) {
	t.Helper()
	if got := m.Rate(now); math.Abs(got-want) > want/1e6 {
		t.Errorf("at %d ms: %v a second, want %v", now/ms, got, want)
	}
}

func TestUnknownAtFirst(t *testing.T) {
	var m Meter
	expect(t, &m, 0, 0)
	m.Add(0)
	expect(t, &m, 0, 0)
	expect(t, &m, 100*second, 0)
	now := m.grant(0, 7, 100*ms) // many, but not for a second
	expect(t, &m, now, 0)
	now = m.grant(now, 3, 100*ms)
	expect(t, &m, now, 10)
}

func TestWindows(t *testing.T) {
	for _, c := range []struct {
		name   string
		grants int
		every  Tick
		want   float64
	}{
		{"a second is long enough for many", 1000, ms, 1000},
		{"not quite a second", 999, ms, 0},
		{"eight are many", 8, 250 * ms, 4},
		{"seven are not", 7, 250 * ms, 0},
		{"eight seconds are enough for one", 1, 8 * second, 0.125},
		{"and for a few", 2, 4 * second, 0.25},
		{"not quite eight seconds", 2, 4*second - 1, 0},
		{"a long wait", 1, 100 * second, 0.01},
	} {
		var m Meter
		m.Add(5 * second)
		now := m.grant(5*second, c.grants, c.every)
		if got := m.Rate(now); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v a second, want %v", c.name, got, c.want)
		}
	}
}

// The last window counts half, the one before a quarter.
func TestAverage(t *testing.T) {
	var m Meter
	m.Add(0)
	now := m.grant(0, 100, 10*ms)
	expect(t, &m, now, 100)
	now = m.grant(now, 200, 5*ms)
	expect(t, &m, now, 150)
	now = m.grant(now, 200, 5*ms)
	expect(t, &m, now, 175)
	now = m.grant(now, 199, 5*ms) // not closed: not counted yet
	expect(t, &m, now, 175)
}

// Time in which nobody waits doesn't count, and neither does the grant after
// it: nobody knows how long that one took.
func TestIdleTime(t *testing.T) {
	var m Meter
	now := Tick(0)
	for range 10 {
		m.Add(now)
		now = m.grant(now, 5, 40*ms) // 200 ms: 25 a second
		m.Idle(now)
		m.Idle(now + 7*ms) // it may be told twice
		now += 20 * second
	}
	expect(t, &m, now, 25)
}

// An idle meter keeps what it knows.
func TestIdleKeeps(t *testing.T) {
	var m Meter
	m.Add(0)
	now := m.grant(0, 100, 10*ms)
	m.Idle(now)
	expect(t, &m, now+1000*second, 100)
	m.Add(now + 1000*second)
	expect(t, &m, now+1000*second+1500*ms, 100)
}

// A queue that comes to a stop slows down while it stands.
func TestStop(t *testing.T) {
	var m Meter
	m.Add(0)
	now := m.grant(0, 100, 10*ms)
	expect(t, &m, now+2*second, 100)
	expect(t, &m, now+2*second+1, 0.5)
	expect(t, &m, now+10*second, 0.1)
	m.Add(now + 4*second)
	expect(t, &m, now+4*second, 0.5)
	m.Add(now + 20*second) // closes: 2 in 20 s
	expect(t, &m, now+20*second, (100+0.1)/2)
}

// A running window that is old says only if it says less.
func TestOldWindowThatSaysMore(t *testing.T) {
	var m Meter
	m.Add(0)
	now := m.grant(0, 1, 100*second)
	expect(t, &m, now, 0.01)
	now = m.grant(now, 7, 400*ms)
	expect(t, &m, now, 0.01)
}

// Readers see no rate that never was, whatever the writer is at.
func TestReaders(t *testing.T) {
	var m Meter
	var clock atomic.Int64
	var wg sync.WaitGroup
	m.Add(0)
	clock.Store(m.grant(0, 100, 10*ms))
	for range 2 {
		wg.Go(func() {
			for now := clock.Load(); now < 2000*second; now = clock.Load() {
				if r := m.Rate(now); r < 99 || r > 101 {
					t.Errorf("%v a second", r)
					return
				}
			}
		})
	}
	for now := clock.Load(); now < 2000*second; now += 10 * ms {
		m.Add(now + 10*ms)
		clock.Store(now + 10*ms)
	}
	wg.Wait()
}

func TestNothingIsAllocated(t *testing.T) {
	var m Meter
	now := Tick(0)
	if n := testing.AllocsPerRun(1000, func() {
		now += 300 * ms
		m.Add(now)
		m.Rate(now)
		if now%second == 0 {
			m.Idle(now)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
