package server

import (
	"testing"

	"pgregory.net/rapid"

	"penstock/bench/tally"
)

func TestOrderByHand(t *testing.T) {
	for _, c := range []struct {
		tokens []int64
		far    int64
		want   tally.Order
	}{
		{nil, 0, tally.Order{}},
		{[]int64{5}, 0, tally.Order{Tokens: 1}},
		{[]int64{1, 2, 2, 3}, 0, tally.Order{Tokens: 4}},
		{[]int64{2, 1}, 0, tally.Order{Tokens: 2, Overtaken: 1, Inversions: 1, Places: 1, Behind: 1, Far: 1}},
		{[]int64{20, 10}, 10, tally.Order{Tokens: 2, Overtaken: 1, Inversions: 1, Places: 1, Behind: 10}},
		{[]int64{20, 10}, 9, tally.Order{Tokens: 2, Overtaken: 1, Inversions: 1, Places: 1, Behind: 10, Far: 1}},
		// 1 is overtaken by three, 3 by one, 2 by two.
		{[]int64{4, 3, 5, 1, 6, 2}, 2, tally.Order{Tokens: 6, Overtaken: 3, Inversions: 8, Places: 4, Behind: 4, Far: 2}},
		{[]int64{5, 4, 3, 2, 1}, 0, tally.Order{Tokens: 5, Overtaken: 4, Inversions: 10, Places: 4, Behind: 4, Far: 4}},
		{[]int64{-1, -3}, 0, tally.Order{Tokens: 2, Overtaken: 1, Inversions: 1, Places: 1, Behind: 2, Far: 1}},
	} {
		if got := inOrder(c.tokens, c.far); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.tokens, got, c.want)
		}
	}
}

// slowOrder looks at each pair.
func slowOrder(tokens []int64, far int64) (o tally.Order) {
	for i, t := range tokens {
		o.Tokens++
		var places, behind int64
		for _, before := range tokens[:i] {
			if before > t {
				places++
				behind = max(behind, before-t)
			}
		}
		o.Inversions += places
		o.Places = max(o.Places, places)
		o.Behind = max(o.Behind, behind)
		if places > 0 {
			o.Overtaken++
		}
		if behind > far {
			o.Far++
		}
	}
	return o
}

func TestOrderAgainstATwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfN(rapid.Int64Range(1, 50), 0, 100).Draw(t, "tokens")
		far := rapid.Int64Range(0, 50).Draw(t, "far")
		if got, want := inOrder(tokens, far), slowOrder(tokens, far); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

// Who was accepted first is first, however late its token comes.
func TestRoll(t *testing.T) {
	r := &roll{most: 3}
	early := r.enter(1)
	r.clear()
	a, b, c, d := r.enter(10), r.enter(11), r.enter(12), r.enter(13)
	r.tell(early, 100) // of before
	r.tell(0, 100)     // from when nothing was counted
	r.tell(b, 7)
	r.tell(d, 1) // no place
	r.tell(a, 6)
	_ = c // never said anything
	if o := orderOf([]*roll{r}, 0); o != (tally.Order{Tokens: 2, Dropped: 1}) {
		t.Errorf("%+v", o)
	}
	r.clear()
	r.tell(a, 100)
	if o := orderOf([]*roll{r}, 0); o != (tally.Order{}) {
		t.Errorf("%+v after clear", o)
	}
}

// The rolls of loops are one, by the time of accept.
func TestRollsTogether(t *testing.T) {
	var a, b = &roll{most: 9}, &roll{most: 9}
	a.tell(a.enter(1), 10)
	b.tell(b.enter(2), 12)
	a.tell(a.enter(3), 11)
	b.tell(b.enter(4), 13)
	want := tally.Order{Tokens: 4, Overtaken: 1, Inversions: 1, Places: 1, Behind: 1, Far: 1}
	if o := orderOf([]*roll{a, b}, 0); o != want {
		t.Errorf("%+v, want %+v", o, want)
	}
}

func BenchmarkOrder(b *testing.B) {
	tokens := make([]int64, 1<<20)
	for i := range tokens {
		tokens[i] = int64(i) ^ 0x55
	}
	for b.Loop() {
		inOrder(tokens, 0)
	}
}
