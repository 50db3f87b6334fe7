package steer

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"penstock/stack/tap/frame"
)

var rules = []Rule{Source, Destination, Both}

func addr4(ip uint32) (a frame.Addr) {
	a[10], a[11] = 0xff, 0xff
	binary.BigEndian.PutUint32(a[12:], ip)
	return a
}

func addr6(r *rand.Rand) (a frame.Addr) {
	binary.BigEndian.PutUint64(a[:], 0x2001_0db8<<32|uint64(r.Uint32()))
	binary.BigEndian.PutUint64(a[8:], r.Uint64())
	return a
}

// spread fails unless counts differ from each other as by chance, or less.
func spread(t *testing.T, what string, counts []int) {
	t.Helper()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	mean := float64(sum) / float64(len(counts))
	for q, n := range counts {
		if math.Abs(float64(n)-mean) > 6*math.Sqrt(mean)+2 {
			t.Errorf("%s: queue %d has %d of %d: %v", what, q, n, sum, counts)
			return
		}
	}
}

// Whatever varies among clients, each queue gets its share, for any seed.
func TestSpread(t *testing.T) {
	const n = 1 << 13
	r := rand.New(rand.NewPCG(1, 2))
	net6 := addr6(r)
	for what, f := range map[string]func(i int) (frame.Addr, uint16){
		"ports":             func(i int) (frame.Addr, uint16) { return addr4(0xc6120001), uint16(i) },
		"even ports":        func(i int) (frame.Addr, uint16) { return addr4(0xc6120001), uint16(2 * i) },
		"ports of 8":        func(i int) (frame.Addr, uint16) { return addr4(0xc6120001), uint16(8 * i) },
		"addresses":         func(i int) (frame.Addr, uint16) { return addr4(0xc6120000 + uint32(i)), 40000 },
		"networks":          func(i int) (frame.Addr, uint16) { return addr4(uint32(i)<<16 | 1), 40000 },
		"both":              func(i int) (frame.Addr, uint16) { return addr4(0xc6120000 + uint32(i)), uint16(i) },
		"IPv6 interfaces":   func(i int) (frame.Addr, uint16) { a := net6; a[15], a[14] = byte(i), byte(i>>8); return a, 1 },
		"IPv6 subnets":      func(i int) (frame.Addr, uint16) { a := net6; a[7], a[6] = byte(i), byte(i>>8); return a, 1 },
		"IPv6 sites":        func(i int) (frame.Addr, uint16) { a := net6; a[4], a[3] = byte(i), byte(i>>8); return a, 1 },
		"all but the ports": func(int) (frame.Addr, uint16) { return addr6(r), 1 },
	} {
		for seed := range uint64(40) {
			for _, queues := range []int{2, 3, 8, 61} {
				h := New(seed, queues)
				counts := make([]int, queues)
				for i := range n {
					a, port := f(i)
					counts[h.Queue(Source, h.Endpoint(&a, port), 0)]++
				}
				spread(t, what, counts)
			}
		}
	}
}

// Each bit of an endpoint may change its queue, so none can be chosen freely,
// and another seed is another hash.
func TestEachBitCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const tries = 2000
	differs := func(what string, change func(h *Hash, a *frame.Addr, port *uint16) *Hash) {
		n := 0
		for range tries {
			h := New(r.Uint64(), 2)
			a, port := addr6(r), uint16(r.Uint32())
			before := h.Queue(Source, h.Endpoint(&a, port), 0)
			h = change(h, &a, &port)
			if h.Queue(Source, h.Endpoint(&a, port), 0) != before {
				n++
			}
		}
		if n < tries*4/10 || n > tries*6/10 {
			t.Errorf("%s changes the queue in %d of %d cases", what, n, tries)
		}
	}
	for bit := range 128 {
		differs("an address bit", func(h *Hash, a *frame.Addr, _ *uint16) *Hash { a[bit/8] ^= 1 << (bit % 8); return h })
	}
	for bit := range 16 {
		differs("a port bit", func(h *Hash, _ *frame.Addr, port *uint16) *Hash { *port ^= 1 << bit; return h })
	}
	differs("the seed", func(*Hash, *frame.Addr, *uint16) *Hash { return New(r.Uint64(), 2) })
}

func TestRules(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 10000 {
		h := New(r.Uint64(), 1+r.IntN(300))
		a, b := r.Uint32(), r.Uint32()
		if h.Queue(Source, a, b) != h.Queue(Destination, b, a) || h.Queue(Source, a, b) != h.Queue(Source, a, r.Uint32()) {
			t.Fatal("a rule for one end looks at the other")
		}
		if h.Queue(Both, a, b) != h.Queue(Both, b, a) {
			t.Fatal("the two directions differ")
		}
		for _, rule := range rules {
			if q := h.Queue(rule, a, b); q < 0 || q >= h.Queues() {
				t.Fatalf("queue %d of %d", q, h.Queues())
			}
		}
	}
	if one := New(1, 1); one.Queue(Both, math.MaxUint32, 0) != 0 {
		t.Error("there is one queue only")
	}
}

// The same seed is the same hash, on each machine of this byte order.
func TestSameSeed(t *testing.T) {
	a := addr4(0xc6120001)
	if New(7, 4).Endpoint(&a, 80) != New(7, 9).Endpoint(&a, 80) {
		t.Error("the number of queues counts for an endpoint")
	}
	if n := bits.OnesCount32(New(7, 4).Endpoint(&a, 80) ^ New(8, 4).Endpoint(&a, 80)); n < 4 {
		t.Errorf("seeds 7 and 8 differ in %d bits", n)
	}
}

func TestWrongNumberOfQueues(t *testing.T) {
	for _, n := range []int{-1, 0, 1<<16 + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d queues", n)
				}
			}()
			New(1, n)
		}()
	}
}

var sink int

func TestNothingIsAllocated(t *testing.T) {
	h := New(1, 2)
	a := addr4(1)
	if n := testing.AllocsPerRun(100, func() { sink += h.Queue(Both, h.Endpoint(&a, 1), h.Endpoint(&a, 2)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkQueue(b *testing.B) {
	h := New(1, 2)
	a, port := addr4(1), uint16(0)
	for b.Loop() {
		port++
		sink += h.Queue(Source, h.Endpoint(&a, port), 0)
	}
}
