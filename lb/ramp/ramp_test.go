package ramp

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

const second Tick = 1e9

func TestLimit(t *testing.T) {
	const start, over = 100 * second, 10 * second
	for _, c := range []struct {
		limit int64
		after Tick
		want  int64
	}{
		{100, -second, 1},
		{100, 0, 1},
		{100, 1, 1},
		{100, second / 10, 1},
		{100, second/10 + 1, 2},
		{100, second, 10},
		{100, second + 1, 11},
		{100, over - 1, 100},
		{100, over, 100},
		{100, over + 1, 100},
		{3, 0, 1},
		{3, second * 10 / 3, 1},
		{3, second*10/3 + 1, 2},
		{1, 0, 1},
		{0, 0, 0}, // no limit
		{0, second, 0},
		{1 << 40, over / 2, 1 << 39},
	} {
		if got := Limit(c.limit, start, start+c.after, over); got != c.want {
			t.Errorf("%d after %d: %d, want %d", c.limit, c.after, got, c.want)
		}
	}
	if got := Limit(100, start, start, 0); got != 100 {
		t.Errorf("no ramp: %d", got)
	}
	if got := Next(100, start, start, 0); got != 0 {
		t.Errorf("no ramp: next at %d", got)
	}
}

// All steps of one ramp: each permits one more, a tenth of a second apart.
func TestSteps(t *testing.T) {
	now, n := 7*second, int64(1)
	for {
		next := Next(100, 7*second, now, 10*second)
		if next == 0 {
			break
		}
		if want := 7*second + n*second/10 + 1; next != want {
			t.Fatalf("from %d: at %d, want %d", n, next, want)
		}
		now, n = next, n+1
		if got := Limit(100, 7*second, now, 10*second); got != n {
			t.Fatalf("at %d: %d, want %d", now, got, n)
		}
	}
	if n != 100 {
		t.Errorf("ends at %d", n)
	}
}

type moment struct {
	limit                int64
	start, now, duration Tick
}

var moments = rapid.Custom(func(t *rapid.T) moment {
	m := moment{
		limit:    rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, 1<<40)).Draw(t, "limit"),
		start:    rapid.Int64Range(0, 1<<50).Draw(t, "start"),
		duration: rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, 24*3600*second)).Draw(t, "duration"),
	}
	m.now = m.start + rapid.Int64Range(-1, m.duration+1).Draw(t, "after")
	return m
})

func (m moment) at(now Tick) int64 { return Limit(m.limit, m.start, now, m.duration) }

func TestNextIsTheStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := moments.Draw(t, "moment")
		have, next := m.at(m.now), Next(m.limit, m.start, m.now, m.duration)
		if next == 0 {
			if have != m.limit {
				t.Fatalf("no step from %d", have)
			}
			return
		}
		if next <= m.now || m.at(next-1) != have || m.at(next) <= have {
			t.Fatalf("%d now; step at %d from %d to %d", have, next, m.at(next-1), m.at(next))
		}
	})
}

func TestLimitIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := moments.Draw(t, "moment")
		want := m.limit
		if passed := m.now - m.start; passed < m.duration && m.duration > 0 && m.limit > 0 {
			n := new(big.Int).Mul(big.NewInt(m.limit), big.NewInt(max(passed, 0)))
			q, rest := n.DivMod(n, big.NewInt(m.duration), new(big.Int))
			want = max(1, q.Int64()+int64(rest.Sign()))
		}
		if got := m.at(m.now); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

func TestNothingOverflows(t *testing.T) {
	if got := Limit(math.MaxInt64, 0, math.MaxInt64-1, math.MaxInt64); got != math.MaxInt64-1 {
		t.Errorf("%d", got)
	}
}
