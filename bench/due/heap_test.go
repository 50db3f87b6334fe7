package due

import (
	"testing"

	"pgregory.net/rapid"
)

func TestEarliestFirst(t *testing.T) {
	var h Heap
	if _, ok := h.First(); ok || h.Len() != 0 {
		t.Error("an empty one has a first")
	}
	for id, at := range []int64{30, 10, 20, 40} {
		h.Set(id, at)
	}
	h.Set(3, 5)  // earlier than it was
	h.Set(1, 35) // later
	h.Clear(0)
	h.Clear(0)
	h.Clear(99)
	if at, ok := h.First(); at != 5 || !ok {
		t.Error(at, ok)
	}
	var got []int
	for id, ok := h.Pop(34); ok; id, ok = h.Pop(34) {
		got = append(got, id)
	}
	if len(got) != 2 || got[0] != 3 || got[1] != 2 || h.Len() != 1 {
		t.Error(got, h.Len())
	}
	if id, ok := h.Pop(35); id != 1 || !ok {
		t.Error("a deadline that is now is not after now")
	}
}

// twin is the same with a map.
type twin map[int]int64

func (w twin) first() (id int, ok bool) {
	for i, at := range w {
		if !ok || at < w[id] {
			id, ok = i, true
		}
	}
	return id, ok
}

func TestAgainstATwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := Heap{}, twin{}
		ids, times := rapid.IntRange(0, 20), rapid.Int64Range(-5, 50)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				id, at := ids.Draw(t, "id"), times.Draw(t, "at")
				h.Set(id, at)
				w[id] = at
			},
			"clear": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				h.Clear(id)
				delete(w, id)
			},
			"pop": func(t *rapid.T) {
				now := times.Draw(t, "now")
				first, any := w.first()
				id, ok := h.Pop(now)
				if ok != (any && w[first] <= now) || ok && w[id] != w[first] {
					t.Fatalf("pop at %d: %d %v; twin %v", now, id, ok, w)
				}
				if ok {
					delete(w, id)
				}
			},
			"": func(t *rapid.T) {
				first, any := w.first()
				if at, ok := h.First(); h.Len() != len(w) || ok != any || ok && at != w[first] {
					t.Fatalf("%d deadlines, first %d %v; twin %v", h.Len(), at, ok, w)
				}
			},
		})
	})
}

// Once it has grown it allocates nothing.
func TestNoAllocations(t *testing.T) {
	var h Heap
	if n := testing.AllocsPerRun(10, func() {
		for id := range 1000 {
			h.Set(id, int64(id*7919%1000))
		}
		for id := range 500 {
			h.Clear(id)
		}
		for _, ok := h.Pop(1000); ok; _, ok = h.Pop(1000) {
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSetAndClear(b *testing.B) {
	var h Heap
	for id := range 10_000 {
		h.Set(id, int64(id))
	}
	for i := range b.N {
		h.Clear(i % 10_000)
		h.Set(i%10_000, int64(i+10_000))
	}
}
