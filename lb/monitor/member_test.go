package monitor

import (
	"math/rand/v2"
	"testing"
	"time"
)

// C36 by itself, with each phase of the first check.
func TestEverySecondCheckFails(t *testing.T) {
	for seed := range uint64(100) {
		m := New(Rule{Interval: time.Second, Timeout: 4 * time.Second}, 0, seed)
		ok := seed%2 == 0
		for now := m.Wake(); now < 30*time.Second; now = m.Wake() {
			due, changed := m.Tick(now)
			if !due || changed {
				t.Fatalf("seed %d, at %v: due %v, changed %v", seed, now, due, changed)
			}
			m.Begin(now)
			if ok = !ok; ok {
				changed = m.Good(now)
			} else {
				changed = m.Failed(now, "refused")
			}
			if changed {
				t.Fatalf("seed %d, at %v: changed", seed, now)
			}
		}
		allFail(t, m)
	}
}

// allFail lets all checks fail: down a timeout after the last good one; then
// up at the first good one.
func allFail(t *testing.T, m *Member) {
	t.Helper()
	last := m.good
	now := m.Wake()
	for changed := false; !changed; {
		var due bool
		now = m.Wake()
		if due, changed = m.Tick(now); due {
			m.Begin(now)
			changed = m.Failed(now, "refused")
		}
	}
	if st := m.State(); st.Up || now != last+4*time.Second || st.Since != now || st.Reason != "refused" {
		t.Fatalf("at %v, last good %v: %+v", now, last, st)
	}
	now = m.Wake()
	if due, _ := m.Tick(now); !due {
		t.Fatalf("no check is due at %v", now)
	}
	m.Begin(now)
	if !m.Good(now) || !m.State().Up || m.State().Since != now || m.State().Reason != "" {
		t.Fatalf("at %v after a good check: %+v", now, m.State())
	}
}

func TestJitterIsSpread(t *testing.T) {
	const n, slots = 100_000, 10
	var count [slots]int
	for seed := range uint64(n) {
		at := New(Rule{Interval: time.Second, Timeout: time.Minute}, time.Hour, seed).Wake() - time.Hour
		if at < 0 || at >= time.Second {
			t.Fatalf("seed %d: first check after %v", seed, at)
		}
		count[at*slots/time.Second]++
	}
	for i, c := range count {
		if c < n/slots*9/10 || c > n/slots*11/10 {
			t.Errorf("%d of %d in tenth %d", c, n, i)
		}
	}
	r := Rule{}
	if New(r, 0, 7).Wake() != New(r, 0, 7).Wake() || New(r, 0, 7).Wake() == New(r, 0, 8).Wake() {
		t.Error("the seed does not decide")
	}
}

func TestDefaultsAndLimit(t *testing.T) {
	for r, want := range map[Rule]time.Duration{
		{}:                      16 * time.Second / 3,
		{Interval: time.Second}: 4 * time.Second / 3,
		{Interval: 100 * time.Millisecond, Timeout: 9 * time.Second}: 3 * time.Second,
		{Interval: 5 * time.Second, Timeout: 8 * time.Second}:        5 * time.Second,
		{Interval: 5 * time.Second, Timeout: 2 * time.Second}:        2 * time.Second,
	} {
		if got := r.Limit(); got != want {
			t.Errorf("%+v: a check may take %v, want %v", r, got, want)
		}
	}
}

// A dumb twin: it keeps the whole history and looks at it anew each time.
type twin struct {
	timeout time.Duration
	good    []time.Duration
}

func (w *twin) up(now time.Duration) bool {
	return now < w.good[len(w.good)-1]+w.timeout
}

// Random checks: the state is the twin's at all times, the checks are an
// interval apart or follow each other, and none overlap.
func TestAgainstTwin(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 36))
		r := Rule{Interval: time.Duration(1+rnd.IntN(50)) * 100, Timeout: time.Duration(1+rnd.IntN(200)) * 100}
		m, w := New(r, 0, seed), &twin{timeout: r.Timeout, good: []time.Duration{0}}
		wasUp, begun := true, time.Duration(-1<<40)
		for range 500 {
			now := m.Wake()
			due, changed := m.Tick(now)
			check(t, seed, now, m, w, wasUp, changed, due)
			wasUp = m.up
			if !due {
				continue
			}
			if now < begun+r.Interval {
				t.Fatalf("seed %d: a check at %v, the last one at %v", seed, now, begun)
			}
			begun = now
			m.Begin(now)
			end := now + time.Duration(rnd.Int64N(int64(2*r.Interval)))
			for m.Wake() < end { // it goes down meanwhile
				at := m.Wake()
				_, changed = m.Tick(at)
				check(t, seed, at, m, w, wasUp, changed, false)
				wasUp = m.up
			}
			if rnd.IntN(5) == 0 {
				changed, w.good = m.Good(end), append(w.good, end)
			} else {
				changed = m.Failed(end, "x")
			}
			check(t, seed, end, m, w, wasUp, changed, false)
			wasUp = m.up
		}
	}
}

func check(t *testing.T, seed uint64, now time.Duration, m *Member, w *twin, wasUp, changed, due bool) {
	t.Helper()
	if due { // the timeout waits for the check to begin
		return
	}
	if m.up != w.up(now) || changed != (m.up != wasUp) {
		t.Fatalf("seed %d at %v: up %v, was %v, changed %v; twin says %v", seed, now, m.up, wasUp, changed, w.up(now))
	}
}
