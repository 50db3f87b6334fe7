package method

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func nobody(int) bool { return false }

// order is who gets the next n connections, a letter each.
func order(r *Ratio, weights []uint32, n int, skip func(int) bool) string {
	var s strings.Builder
	for range n {
		i := r.Next(weights, skip)
		if i < 0 {
			s.WriteByte('-')
			continue
		}
		r.Chose(i)
		s.WriteByte(byte('a' + i))
	}
	return s.String()
}

func TestRatioIsSmooth(t *testing.T) {
	for _, c := range []struct {
		weights []uint32
		want    string
	}{
		{[]uint32{5, 1, 1}, "aabacaa" + "aabacaa"}, // the example in nginx's commit
		{[]uint32{1, 1, 1}, "abcabc"},
		{[]uint32{7}, "aaa"},
		{[]uint32{1, 3}, "babbbabb"},
		{nil, "--"},
	} {
		var r Ratio
		if got := order(&r, c.weights, len(c.want), nobody); got != c.want {
			t.Errorf("weights %v: %s, want %s", c.weights, got, c.want)
		}
	}
}

func TestNextChangesNothing(t *testing.T) {
	weights := []uint32{5, 1, 1}
	var r Ratio
	var got strings.Builder
	for range 7 {
		first := r.Next(weights, nobody)
		r.Next(weights, func(i int) bool { return i == first })
		for range 3 {
			if i := r.Next(weights, nobody); i != first {
				t.Fatalf("asked again: %d, before %d", i, first)
			}
		}
		r.Chose(first)
		got.WriteByte(byte('a' + first))
	}
	if got.String() != "aabacaa" {
		t.Error(got.String())
	}
}

// Who could not be chosen is not owed what it missed, and the others share as
// their weights say meanwhile.
func TestRatioWithoutAFullMember(t *testing.T) {
	weights := []uint32{5, 2, 1}
	var r Ratio
	got := order(&r, weights, 300, func(i int) bool { return i == 0 })
	if b, c := strings.Count(got, "b"), strings.Count(got, "c"); b != 200 || c != 100 {
		t.Errorf("%d and %d of 300 with weights 2 and 1", b, c)
	}
	got = order(&r, weights, 8, nobody)
	if a := strings.Count(got, "a"); a != 5 {
		t.Errorf("back again it gets %d of 8: %s", a, got)
	}
	if got = order(&r, weights, 3, func(int) bool { return true }); got != "---" {
		t.Errorf("all are skipped: %s", got)
	}
}

// A member does not pay under a new weight for what it got under the old one.
func TestRatioMembersChange(t *testing.T) {
	var r Ratio
	order(&r, []uint32{60_000, 1}, 30_000, nobody)
	expectShares(t, order(&r, []uint32{1, 1}, 20, nobody), []uint32{1, 1}, 1)
	expectShares(t, order(&r, []uint32{1, 1, 2}, 20, nobody), []uint32{1, 1, 2}, 1)
	if got := order(&r, []uint32{1}, 2, nobody); got != "aa" {
		t.Errorf("one left: %s", got)
	}
	expectShares(t, order(&r, []uint32{1, 1, 2}, 20, nobody), []uint32{1, 1, 2}, 1)
}

// Asking about the first members only, now and then, as lower priority groups
// open and close, leaves everybody what is due to it.
func TestRatioOfAFew(t *testing.T) {
	all := []uint32{3, 1, 4, 2}
	var r Ratio
	got := ""
	for range 120 {
		got += order(&r, all[:2], 1, nobody) + order(&r, all, 1, nobody)
	}
	for i, due := range []int{90 + 36, 30 + 12, 48, 24} {
		if n := strings.Count(got, string(rune('a'+i))); n < due-1 || n > due+1 {
			t.Errorf("member %d got %d, due %d", i, n, due)
		}
	}
}

// expectShares checks that each member has its share, give or take off.
func expectShares(t rapid.TB, order string, weights []uint32, off float64) {
	t.Helper()
	total := uint32(0)
	for _, w := range weights {
		total += w
	}
	for i, w := range weights {
		n := float64(strings.Count(order, string(rune('a'+i))))
		if due := float64(len(order)) * float64(w) / float64(total); n < due-off || n > due+off {
			t.Errorf("weights %v: member %d has %v of %d, due %.1f", weights, i, n, len(order), due)
		}
	}
}

// Whoever can be chosen when, and whatever weights become: each has what was due
// to it, but for fewer connections than there are members.
func TestRatioIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Uint32Range(1, 65535), 1, 8).Draw(t, "weights")
		var r Ratio
		due, got := make([]float64, len(weights)), make([]float64, len(weights))
		for range rapid.IntRange(1, 50).Draw(t, "stretches") {
			full := rapid.Uint8().Draw(t, "full")
			if rapid.Bool().Draw(t, "another weight") {
				weights[rapid.IntRange(0, len(weights)-1).Draw(t, "whose")] = rapid.Uint32Range(1, 65535).Draw(t, "weight")
			}
			for range rapid.IntRange(0, 20).Draw(t, "choices") {
				i := r.Next(weights, func(i int) bool { return full>>i&1 != 0 })
				if i < 0 {
					continue
				}
				r.Chose(i)
				got[i]++
				credit(due, weights, full)
			}
		}
		sum := int64(0)
		for i, c := range r.credit {
			sum += c
			if off := got[i] - due[i]; off > float64(len(weights)) || -off > float64(len(weights)) {
				t.Fatalf("member %d of %v got %v, due %v", i, weights, got, due)
			}
		}
		if sum != 0 {
			t.Fatalf("credit %v sums up to %d", r.credit, sum)
		}
	})
}

// credit adds each member's share of one connection.
func credit(due []float64, weights []uint32, full uint8) {
	total := 0.0
	for i, w := range weights {
		if full>>i&1 == 0 {
			total += float64(w)
		}
	}
	for i, w := range weights {
		if full>>i&1 == 0 {
			due[i] += float64(w) / total
		}
	}
}

func TestRatioShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Uint32Range(1, 65535), 1, 10).Draw(t, "weights")
		var r Ratio
		expectShares(t, order(&r, weights, rapid.IntRange(1, 2000).Draw(t, "n"), nobody), weights, 2)
	})
}

func TestRatioAllocatesNothing(t *testing.T) {
	weights := []uint32{5, 1, 7, 3}
	var r Ratio
	full := 2
	r.Next(weights, nobody)
	if n := testing.AllocsPerRun(100, func() {
		full = (full + 1) % 4
		r.Chose(r.Next(weights, func(i int) bool { return i == full }))
		weights[3]++
	}); n != 0 {
		t.Errorf("%v allocations a choice", n)
	}
}

func BenchmarkRatio(b *testing.B) {
	weights := make([]uint32, 16)
	for i := range weights {
		weights[i] = uint32(1 + i)
	}
	var r Ratio
	for b.Loop() {
		r.Chose(r.Next(weights, nobody))
	}
}
