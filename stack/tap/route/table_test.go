package route

import (
	"math"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"penstock/stack/tap/frame"
)

var ten = prefixes("10.255.255.254/8")

// As many hops as there are numbers, each with its own.
func TestNumbers(t *testing.T) {
	r := New(Config{Own: ten, MAC: own})
	for round := range 2 {
		for i := range most {
			a := numbered(i + 1)
			if n, ok := r.Hop(&a); int(n) != i+1 || !ok {
				t.Fatalf("round %d: hop %d has %d, %v", round, i, n, ok)
			}
		}
	}
	a := numbered(most + 1)
	if n, ok := r.Hop(&a); ok {
		t.Fatal(n, "is somebody else's")
	}
	// A day later those that were in use are still there.
	day := 24 * int64(time.Hour)
	for n := range most {
		if n != 77 {
			r.Ask(uint16(n+1), day, nil)
		}
	}
	r.Ask(1, day+1, nil)
	if n, ok := r.Hop(&a); n != 78 || !ok {
		t.Fatal(n, ok)
	}
	if m, ok := r.MAC(78, day); ok {
		t.Error("known at", m)
	}
	if q, _ := r.Ask(78, day+second, nil); read(t, q).target != a {
		t.Error("another is asked for")
	}
	old := numbered(78)
	r.Heard(&old, host, day)
	if _, ok := r.MAC(78, day); ok {
		t.Error("the number's old owner is heard")
	}
}

func TestUnknownNumber(t *testing.T) {
	r, _ := one(t)
	for _, n := range []uint16{0, 2, math.MaxUint16} {
		is(t, r, n, 0, frame.MAC{}, false)
		if due := quiet(t, r, n, 0); due != math.MaxInt64 {
			t.Error(n, due)
		}
	}
}

// What is in use is kept fresh; what is not is left alone.
func TestTurn(t *testing.T) {
	r := New(Config{Own: ten, MAC: own})
	for i := range 3 {
		a := numbered(i + 1)
		r.Hop(&a)
		r.Heard(&a, host, 0)
	}
	var asked []frame.Addr
	now, buf := int64(0), make([]byte, 0, 100)
	turn := func() int64 {
		asked = nil
		return r.Turn(now, buf, func(b []byte) { asked = append(asked, read(t, b).target) })
	}
	for now < 30*second {
		r.MAC(2, now)
		due := turn()
		if len(asked) > 0 || due > now+second || due <= now {
			t.Fatal(now, asked, due)
		}
		now = due
	}
	r.MAC(2, now)
	if due := turn(); !slices.Equal(asked, []frame.Addr{numbered(2)}) || due != now+250*ms {
		t.Error(asked, due)
	}
	now += second
	r.MAC(1, now)
	r.MAC(3, now)
	if turn(); len(asked) != 3 {
		t.Error(asked)
	}
}

func TestNeighbours(t *testing.T) {
	r := New(Config{Own: us, MAC: own})
	var want []Neighbour
	for i, n := range []Neighbour{
		{State: Known, MAC: host, Age: 10 * time.Second},
		{State: Stale, MAC: next, Age: 100 * time.Second},
		{State: Asking},
		{State: Missing},
	} {
		n.Addr = netip.AddrFrom4([4]byte{198, 18, 5, byte(10 + i)})
		a := frame.Addr(n.Addr.As16())
		h, _ := r.Hop(&a)
		if n.Age > 0 {
			r.Heard(&a, n.MAC, 200*second-int64(n.Age))
		}
		if n.State == Missing {
			for _, at := range []int64{197, 198, 199} {
				r.Ask(h, at*second, nil)
			}
		}
		want = append(want, n)
	}
	if got := r.Neighbours(200 * second); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if s := Missing.String() + State(9).String(); s != "missingstate?" {
		t.Error(s)
	}
}

func TestAllocatesNothing(t *testing.T) {
	r, n := one(t)
	r.Heard(&server, host, 0)
	r.Hop(&serv6)
	buf := make([]byte, 0, 200)
	now := int64(0)
	send := func([]byte) {}
	if a := testing.AllocsPerRun(1000, func() {
		now += second
		r.Hop(&server)
		r.MAC(n, now)
		r.Failed(n, now)
		r.Ask(n, now, buf)
		r.Ask(2, now, buf)
		r.Turn(now, buf, send)
		r.Heard(&server, host, now)
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

// Loops look up and ask while others hear and add: nobody sees an address that
// is not the hop's, and of each question one frame goes out.
func TestLoops(t *testing.T) {
	const loops, hops = 4, 300
	r := New(Config{Own: ten, MAC: own})
	its := func(n uint16) frame.MAC { return frame.MAC{2, 1, 0, 0, byte(n >> 8), byte(n)} }
	var mu sync.Mutex
	first := map[frame.Addr]int{}
	var wg sync.WaitGroup
	for loop := range loops {
		wg.Go(func() {
			buf := make([]byte, 0, 100)
			for i := range hops {
				a := numbered(1 + (i+loop*hops/loops)%hops)
				n, ok := r.Hop(&a)
				if !ok {
					t.Error("no way to", a)
					return
				}
				if q, _ := r.Ask(n, 0, buf); len(q) > 0 {
					mu.Lock()
					first[read(t, q).target]++
					mu.Unlock()
				}
				r.Heard(&a, its(n), int64(i))
				for k := range n {
					if m, ok := r.MAC(k, int64(i)); ok && m != its(k) {
						t.Errorf("%d is at %v", k, m)
					}
				}
				r.Doubt(n, int64(i))
				r.Failed(n, int64(i))
				if i%50 == 0 {
					r.Turn(int64(i), buf, func([]byte) {})
					r.Neighbours(int64(i))
				}
			}
		})
	}
	wg.Wait()
	if l := r.Neighbours(0); len(l) != hops {
		t.Errorf("%d hops", len(l))
	}
	for a, n := range first {
		if n != 1 {
			t.Errorf("%v was asked for %d times at once", netip.AddrFrom16(a), n)
		}
	}
}

func BenchmarkMAC(b *testing.B) {
	r := New(Config{Own: us, MAC: own})
	n, _ := r.Hop(&server)
	r.Heard(&server, host, 0)
	for b.Loop() {
		r.MAC(n, 1)
	}
}

func BenchmarkHop(b *testing.B) {
	r := New(Config{Own: ten, MAC: own})
	for i := range 30_000 {
		a := numbered(i + 1)
		r.Hop(&a)
	}
	i := 0
	for b.Loop() {
		i++
		a := numbered(1 + i*7919%30_000)
		r.Hop(&a)
	}
}
