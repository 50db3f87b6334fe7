package slab

import (
	"math/rand/v2"
	"testing"
)

type record struct{ id, kept uint64 }

// A map is the dumb twin: records keep their place and their contents, and
// come zeroed.
func TestAgainstMap(t *testing.T) {
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		var s Slab[record]
		at := map[uint32]*record{}
		most := 0
		for n := range uint64(20_000) {
			if rnd.IntN(100) < 55 {
				i := s.Alloc()
				if i == 0 || i >= s.Cap() || at[i] != nil {
					t.Fatalf("seed %d: record %d given out (in use: %v)", seed, i, at[i] != nil)
				}
				r := s.At(i)
				if *r != (record{}) {
					t.Fatalf("seed %d: record %d is not zeroed: %+v", seed, i, *r)
				}
				*r = record{uint64(i), n}
				at[i] = r
				most = max(most, len(at))
				continue
			}
			for i, r := range at { // any of them
				if s.At(i) != r || r.id != uint64(i) {
					t.Fatalf("seed %d: record %d moved or changed", seed, i)
				}
				s.Free(i)
				delete(at, i)
				break
			}
		}
		if s.Len() != len(at) || int(s.Cap()) != most+1 {
			t.Errorf("seed %d: Len %d, Cap %d; want %d and %d", seed, s.Len(), s.Cap(), len(at), most+1)
		}
	}
}

func TestReuseAllocatesNothing(t *testing.T) {
	var s Slab[record]
	s.Free(s.Alloc())
	if n := testing.AllocsPerRun(1000, func() { s.Free(s.Alloc()) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
