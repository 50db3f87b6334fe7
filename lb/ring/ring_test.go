package ring

import (
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fill pushes n numbers, beginning with first.
func fill(r *Ring[int], first, n int) {
	for i := range n {
		r.Push(first + i)
	}
}

// expect pops n numbers, beginning with first.
func expect(t *testing.T, r *Ring[int], first, n int) {
	t.Helper()
	for i := range n {
		if v, ok := r.Pop(); !ok || v != first+i {
			t.Fatalf("Pop gave %d, %v, want %d", v, ok, first+i)
		}
	}
}

func expectEmpty(t *testing.T, r *Ring[int]) {
	t.Helper()
	if v, ok := r.Pop(); ok {
		t.Fatalf("Pop gave %d, want nothing", v)
	}
}

func TestFirstInFirstOut(t *testing.T) {
	// Lengths around the edges of chunks.
	for _, n := range []int{0, 1, chunkLen - 1, chunkLen, chunkLen + 1, 2 * chunkLen, 1000} {
		var r Ring[int]
		for round := range 3 {
			fill(&r, round, n)
			expect(t, &r, round, n)
			expectEmpty(t, &r)
		}
	}
}

func TestPeekStaysUntilDrop(t *testing.T) {
	var r Ring[int]
	if r.Peek() != nil {
		t.Fatal("an empty ring has a head")
	}
	fill(&r, 0, 2*chunkLen)
	for i := range 2 * chunkLen {
		if p := r.Peek(); *p != i || r.Peek() != p {
			t.Fatalf("Peek gave %d, want %d", *p, i)
		}
		r.Drop()
	}
	expectEmpty(t, &r)
}

func TestReplace(t *testing.T) {
	for _, kept := range []int{0, 1, chunkLen, 300} {
		var r, o Ring[int]
		fill(&r, 0, 500)
		expect(t, &r, 0, 200)
		fill(&o, 1000, kept)
		r.Replace(&o)
		fill(&r, 1000+kept, 200)
		expect(t, &r, 1000, kept+200)
		expectEmpty(t, &r)
	}
}

func TestSteadyUseAllocatesNothing(t *testing.T) {
	var r Ring[int]
	fill(&r, 0, chunkLen/2)
	next := 0
	step := func() {
		r.Push(next + chunkLen/2)
		expect(t, &r, next, 1)
		next++
	}
	for range 3 * chunkLen { // until both chunks exist
		step()
	}
	if n := testing.AllocsPerRun(10*chunkLen, step); n != 0 {
		t.Errorf("%v allocations for each entry", n)
	}
}

// One producer, one consumer, on threads of their own: nothing is lost, made
// up, or out of order.
func TestTwoThreads(t *testing.T) {
	const n = 1_000_000
	var r Ring[int]
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range n {
			r.Push(i)
			if i%1000 == 0 {
				runtime.Gosched()
			}
		}
	})
	for want := 0; want < n; {
		v, ok := r.Pop()
		if !ok {
			runtime.Gosched()
			continue
		}
		if v != want {
			t.Fatalf("got %d, want %d", v, want)
		}
		want++
	}
	wg.Wait()
	expectEmpty(t, &r)
}

func BenchmarkPushPop(b *testing.B) {
	var r Ring[[4]uint64]
	for b.Loop() {
		r.Push([4]uint64{1})
		r.Pop()
	}
}
