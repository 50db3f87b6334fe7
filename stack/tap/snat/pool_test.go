package snat

import (
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"
)

func all(uint16) bool { return true }

// mine is what loop i of n wants, as steer's hash has it for some address.
func mine(i, n int) func(port uint16) bool {
	return func(port uint16) bool { return uint64(uint32(port)*2654435761)*uint64(n)>>32 == uint64(i) }
}

func take(t *testing.T, p *Pool, loop int, now int64, want func(uint16) bool) uint16 {
	t.Helper()
	port, ok := p.Take(loop, now, want)
	if !ok {
		t.Fatalf("no port, %d in use", p.InUse())
	}
	return port
}

func TestSize(t *testing.T) {
	if n := unsafe.Sizeof(Pool{}); n > 256<<10 {
		t.Errorf("%d bytes", n)
	}
	if Ports%blockLen != 0 {
		t.Error("blocks that are not whole")
	}
}

// Each port is lent once, all of them are, and then none.
func TestAllPorts(t *testing.T) {
	p := New(2)
	seen := map[uint16]bool{}
	for range Ports {
		port := take(t, p, 1, 0, all)
		if port < First || seen[port] {
			t.Fatalf("port %d", port)
		}
		seen[port] = true
		if loop, ok := p.Owner(port); loop != 1 || !ok {
			t.Fatal(loop, ok)
		}
	}
	if _, ok := p.Take(0, 0, all); ok || p.InUse() != Ports {
		t.Error(ok, p.InUse())
	}
	p.Give(4711, 0)
	if _, ok := p.Owner(4711); ok || p.InUse() != Ports-1 {
		t.Error(ok, p.InUse())
	}
	if port := take(t, p, 0, 0, all); port != 4711 {
		t.Error(port)
	}
	if loop, ok := p.Owner(4711); loop != 0 || !ok {
		t.Error(loop, ok)
	}
}

func TestNobodysPorts(t *testing.T) {
	p := New(1)
	for _, port := range []uint16{0, 80, First - 1, First, Last} {
		if _, ok := p.Owner(port); ok {
			t.Errorf("port %d has an owner", port)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("port %d is taken back", port)
				}
			}()
			p.Give(port, 0)
		}()
	}
}

// A loop gets what it wants, while there is any, and goes round all of it.
func TestWanted(t *testing.T) {
	const loops = 4
	p := New(loops)
	last := map[uint16]int{}
	for n := range 3 * Ports {
		loop := n % loops
		want := mine(loop, loops)
		port := take(t, p, loop, 0, want)
		if !want(port) {
			t.Fatalf("loop %d got port %d", loop, port)
		}
		if at, ok := last[port]; ok && n-at < Ports*9/10 {
			t.Fatalf("port %d again after %d others", port, n-at)
		}
		last[port] = n
		p.Give(port, 0)
	}
	if len(last) < Ports*95/100 {
		t.Errorf("%d of %d ports were used", len(last), Ports)
	}
}

// When the wanted ones are lent it gets another one.
func TestUnwanted(t *testing.T) {
	p := New(2)
	want := mine(0, 2)
	n := 0
	for port := First; port <= Last; port++ {
		if want(uint16(port)) {
			n++
		}
	}
	early := 0
	for i := range Ports {
		if port := take(t, p, 0, 0, want); !want(port) && i < n {
			early++
		}
	}
	// Only near the end does a search give up before it has found the last ones.
	if early > n/50 {
		t.Errorf("%d of %d got an unwanted port while there were others", early, n)
	}
	if p.InUse() != Ports {
		t.Error(p.InUse())
	}
}

// Of a few ports that are not lent the free ones go first, then those that have
// rested longest, wherever they are.
func TestRest(t *testing.T) {
	const few, second = 30, int64(time.Second)
	p := New(1)
	for range Ports {
		take(t, p, 0, 0, all)
	}
	now := 1000 * second
	order := rand.New(rand.NewPCG(1, 1)).Perm(few)
	for i, at := range order {
		p.Give(uint16(First+2000*i+i), now-second+int64(at)*second) // numbers 0 and 1 have rested
	}
	var got []int
	for range few {
		i := (int(take(t, p, 0, now, all)) - First) / 2001
		got = append(got, order[i])
	}
	if got[0] > got[1] {
		got[0], got[1] = got[1], got[0]
	}
	for i, n := range got {
		if n != i {
			t.Fatalf("in the order %v", got)
		}
	}
	if _, ok := p.Take(0, now, all); ok {
		t.Error("one too many")
	}
}

// Where all rest, as at many short connections, the one that has rested longest
// is taken, or nearly, and no unwanted one.
func TestManyRest(t *testing.T) {
	const step, rest = int64(time.Millisecond), int64(time.Minute)
	p := New(2)
	want := mine(0, 2)
	given := map[uint16]int64{}
	for now := step; now < 90_000*step; now += step { // nearly three times round its half
		port := take(t, p, 0, now, want)
		if !want(port) {
			t.Fatalf("port %d at %v", port, time.Duration(now))
		}
		if at := given[port]; at != 0 && now-at < Ports/2*9/10*step {
			t.Fatalf("port %d after %v", port, time.Duration(now-at))
		}
		given[port] = now
		p.Give(port, now+rest)
	}
}

// A resting port counts as free at its time, and not much before or after.
func TestRestingTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		now := r.Int64N(1 << 60)
		rest := r.Int64N(int64(time.Hour))
		cell := resting(now + rest)
		if cell&isLent != 0 {
			t.Fatalf("%#x is lent", cell)
		}
		if rest > 0 && left(cell, now+rest-1) == 0 && (now+rest-1)>>unit < (now+rest)>>unit {
			t.Fatalf("free too early: %d for %d", now, rest)
		}
		if left(cell, now) == 0 && rest > 2<<unit {
			t.Fatalf("not resting: %d for %d", now, rest)
		}
		if left(cell, now+rest+2<<unit) != 0 {
			t.Fatalf("rests for too long: %d for %d", now, rest)
		}
	}
	if resting(0) != 0 || resting(-5) != 0 || left(0, 1<<40) != 0 {
		t.Error("free cells")
	}
}

func TestNothingIsAllocated(t *testing.T) {
	p := New(2)
	loop := 1
	if n := testing.AllocsPerRun(100, func() {
		port, _ := p.Take(loop, 1, func(port uint16) bool { return int(port)&1 == loop })
		p.Owner(port)
		p.Give(port, 100)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
