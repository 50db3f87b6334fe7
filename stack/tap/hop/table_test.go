package hop

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"penstock/stack/leak"
	"penstock/stack/tap/frame"
)

func TestMain(m *testing.M) { leak.Main(m) }

const second = int64(time.Second)

// client returns the i-th address, in 198.18.0.0/15 and beyond.
func client(i int) (a frame.Addr) {
	a[10], a[11] = 0xff, 0xff
	binary.BigEndian.PutUint32(a[12:], 198<<24+18<<16+uint32(i))
	return a
}

// hops are last hops.
func hops(i int) (m frame.MAC) {
	m[0] = 2
	binary.BigEndian.PutUint32(m[2:], uint32(i))
	return m
}

func expect(t *testing.T, h *Table, addr int, want frame.MAC) {
	t.Helper()
	a := client(addr)
	if mac, ok := h.To(&a); !ok || mac != want {
		t.Errorf("client %d is reached by %v, %v; want %v", addr, mac, ok, want)
	}
}

// learn hears clients from..to of one hop.
func learn(h *Table, from, to int, m frame.MAC, now int64) {
	for i := from; i < to; i++ {
		a := client(i)
		h.Learn(&a, m, now)
	}
}

func TestNobodyHeard(t *testing.T) {
	h, a := New(), client(1)
	h.Learn(&a, frame.MAC{}, 1)
	h.Learn(&a, frame.Broadcast, 1)
	h.Learn(&a, frame.MAC{0x33, 0x33, 1}, 1)
	if mac, ok := h.To(&a); ok {
		t.Error(mac)
	}
}

// One router: nothing is kept of its clients.
func TestOneRouter(t *testing.T) {
	h := New()
	learn(h, 0, 100_000, hops(1), 1)
	expect(t, h, 5, hops(1))
	expect(t, h, 1_000_000, hops(1)) // never heard
	if h.others.Load() != nil || h.few != nil {
		t.Error("clients of the only router are kept")
	}
}

// Hosts of one segment: each has its own, the first one too, whatever the others
// do and however long it is silent. That nine of so many come to one set, whose hash
// is another one each time, happens once in ten thousand million times.
func TestHostsOfOneSegment(t *testing.T) {
	const all = 1000
	h := New()
	for i := range all {
		learn(h, i, i+1, hops(i), int64(i)*second)
	}
	for i := range all {
		expect(t, h, i, hops(i))
	}
}

// A host that was heard first gives way to a router, and stays reachable.
func TestHostThenRouter(t *testing.T) {
	h := New()
	learn(h, 0, 3, hops(1), 1)
	learn(h, 100, 103, hops(2), 2) // may be another host
	expect(t, h, 9999, hops(1))
	learn(h, 3, 4, hops(1), 3) // a further address of the first
	learn(h, 103, 110, hops(2), 4)
	expect(t, h, 9999, hops(2))
	for i := range 4 {
		expect(t, h, i, hops(1))
	}
	expect(t, h, 105, hops(2))
	learn(h, 200, 201, hops(3), 5)
	expect(t, h, 200, hops(3))
	learn(h, 200, 201, hops(2), 6) // it goes through the router now
	expect(t, h, 200, hops(2))
}

// Two routers that are both alive share the clients as they like.
func TestTwoRouters(t *testing.T) {
	h := New()
	for s := range int64(100) {
		now := s * second
		learn(h, 0, 50, hops(1), now)
		learn(h, 1000, 1000+int(s)*50, hops(2), now)
	}
	expect(t, h, 20, hops(1))
	expect(t, h, 5900, hops(2)) // 49 came behind it: the first ones may be lost
	expect(t, h, 9999, hops(1))
	learn(h, 20, 21, hops(2), 100*second)
	expect(t, h, 20, hops(2))
	learn(h, 20, 21, hops(1), 100*second)
	expect(t, h, 20, hops(1))
}

// A router takes over: who is not heard is found behind it soon.
func TestRouterTakesOver(t *testing.T) {
	h := New()
	learn(h, 0, 1000, hops(1), second)
	learn(h, 0, 20, hops(2), 2*second)
	expect(t, h, 10, hops(2))
	expect(t, h, 500, hops(1)) // not yet
	learn(h, 20, 21, hops(2), 5*second)
	expect(t, h, 500, hops(2))
	learn(h, 0, 40, hops(1), 5*second+1) // and back
	expect(t, h, 10, hops(1))
	expect(t, h, 500, hops(2))
	learn(h, 40, 60, hops(1), 9*second)
	expect(t, h, 500, hops(1))
}

// However many there are, what is kept is bounded, and the last ones are among
// it.
func TestBound(t *testing.T) {
	h := New()
	learn(h, 0, 20, hops(1), 1)
	const n = 300_000
	learn(h, 1000, 1000+n, hops(2), 2)
	kept := 0
	for i := range h.others.Load().sets {
		for w := range ways {
			if h.others.Load().sets[i].ways[w].Load() != nil {
				kept++
			}
		}
	}
	if kept > most || kept < most*9/10 {
		t.Errorf("%d addresses kept", kept)
	}
	lost := 0
	for i := 1000 + n - most/2; i < 1000+n; i++ {
		a := client(i)
		if mac, _ := h.To(&a); mac != hops(2) {
			lost++
		}
	}
	if lost > most/2/50 {
		t.Errorf("%d of the last %d are lost", lost, most/2)
	}
}

// The dumb twin is a map. As long as nobody is a router and nothing is
// overwritten both say the same.
func TestAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, twin, now := New(), map[frame.Addr]frame.MAC{}, int64(0)
		t.Repeat(map[string]func(*rapid.T){
			"learn": func(t *rapid.T) {
				host := rapid.IntRange(0, 99).Draw(t, "host")
				a, m := client(host*10+rapid.IntRange(0, 3).Draw(t, "address")), hops(host)
				h.Learn(&a, m, now)
				twin[a] = m
			},
			"move": func(t *rapid.T) { // to another host that has few addresses
				a, m := client(rapid.IntRange(0, 3).Draw(t, "address")), hops(rapid.IntRange(0, 3).Draw(t, "host"))
				h.Learn(&a, m, now)
				twin[a] = m
			},
			"pass": func(t *rapid.T) { now += rapid.Int64Range(0, 10*second).Draw(t, "time") },
			"": func(t *rapid.T) {
				for a, want := range twin {
					if m, ok := h.To(&a); !ok || m != want {
						t.Fatalf("%v is reached by %v, %v; want %v", a, m, ok, want)
					}
				}
			},
		})
	})
}

// Readers see only hops that the address had, or the default.
func TestReadWhileWritten(t *testing.T) {
	h := New()
	learn(h, 0, 20, hops(1), 1)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for seed := range uint64(3) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for {
				select {
				case <-stop:
					return
				default:
				}
				i := r.IntN(100_000)
				a := client(i)
				m, ok := h.To(&a)
				if got := int(binary.BigEndian.Uint32(m[2:])); !ok || got != 1 && got != 2 && got/10 != i+1 {
					t.Errorf("client %d is reached by %v, %v", i, m, ok)
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(9, 9))
	for n := range 100_000 {
		i := r.IntN(100_000)
		a := client(i)
		m := hops((i+1)*10 + r.IntN(2))
		if r.IntN(3) == 0 {
			m = hops(1 + n/1000%2)
		}
		h.Learn(&a, m, int64(n)*second/100)
	}
	close(stop)
	wg.Wait()
}

func TestAllocatesNothing(t *testing.T) {
	one, many := New(), New()
	learn(one, 0, 100, hops(1), 1)
	learn(many, 0, 100, hops(1), 1)
	learn(many, 100, 200, hops(2), 1)
	for name, h := range map[string]*Table{"one router": one, "several": many} {
		i := 0
		if n := testing.AllocsPerRun(1000, func() {
			i++
			a := client(i % 100)
			h.Learn(&a, hops(1), 2)
			h.To(&a)
			a = client(100 + i%100)
			h.To(&a)
			h.Intern(hops(i % 2))
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	flap := client(5) // now through this router, now through that
	i := 0
	if n := testing.AllocsPerRun(1000, func() { i++; many.Learn(&flap, hops(2+i%2), 3) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkOneRouter(b *testing.B) {
	h := New()
	learn(h, 0, 100, hops(1), 1)
	a, m := client(7), hops(1)
	for range b.N {
		h.Learn(&a, m, 1)
		h.To(&a)
	}
}

func BenchmarkOneRouterAndAnother(b *testing.B) {
	h := New()
	learn(h, 0, 100, hops(1), 1)
	learn(h, 100, 102, hops(2), 1)
	m := hops(1)
	for i := range b.N {
		a := client(i & 0xfffff)
		h.Learn(&a, m, 1)
		h.To(&a)
	}
}

func BenchmarkManyOthers(b *testing.B) {
	h := New()
	learn(h, 0, 100, hops(1), 1)
	learn(h, 100, 30_100, hops(2), 1)
	m := hops(2)
	for i := range b.N {
		a := client(100 + i*7919%30_000)
		h.Learn(&a, m, 1)
		h.To(&a)
	}
}
