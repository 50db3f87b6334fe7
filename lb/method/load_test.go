package method

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		a, b Load
		less bool
	}{
		{Load{1, 1, 0}, Load{2, 1, 0}, true},
		{Load{2, 1, 0}, Load{1, 1, 0}, false},
		{Load{3, 2, 0}, Load{2, 1, 0}, true},
		{Load{2, 2, 7}, Load{1, 1, 8}, true}, // as many; idle for longer
		{Load{2, 2, 8}, Load{1, 1, 7}, false},
		{Load{0, 1, 0}, Load{0, 9, 5}, true}, // never had one
		{Load{1, 1, 1}, Load{1, 1, 1}, false},
		{Load{-1, 1, 1}, Load{0, 1, 2}, true},
		{Load{1<<47 - 1, 65535, 0}, Load{1<<47 - 1, 65534, 0}, true},
		{Load{1 << 40, 1, 0}, Load{1 << 40, 65535, 0}, false},
	} {
		if got := c.a.Less(c.b); got != c.less {
			t.Errorf("%v less than %v: %v", c.a, c.b, got)
		}
	}
}

func TestLoadIsExact(t *testing.T) {
	load := rapid.Custom(func(t *rapid.T) Load {
		return Load{rapid.Int64Range(0, 1<<47-1).Draw(t, "n"), rapid.Uint32Range(1, 65535).Draw(t, "ratio"),
			rapid.Int64Range(0, 3).Draw(t, "since")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := load.Draw(t, "a"), load.Draw(t, "b")
		by := big.NewRat(a.N, int64(a.Ratio)).Cmp(big.NewRat(b.N, int64(b.Ratio)))
		if want := by < 0 || by == 0 && a.Since < b.Since; a.Less(b) != want {
			t.Fatalf("%v less than %v: %v", a, b, !want)
		}
	})
}

// Connections that last for ever end up in proportion to the ratios.
func TestLoadShares(t *testing.T) {
	loads := []Load{{0, 1, 0}, {0, 2, 0}, {0, 5, 0}}
	for now := range int64(800) {
		best := 0
		for i := range loads {
			if loads[i].Less(loads[best]) {
				best = i
			}
		}
		loads[best].N++
		loads[best].Since = now + 1
	}
	if loads[0].N != 100 || loads[1].N != 200 || loads[2].N != 500 {
		t.Errorf("%v", loads)
	}
}
