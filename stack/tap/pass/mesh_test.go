package pass

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"penstock/stack/leak"
	"penstock/stack/tap/device"
)

func TestMain(m *testing.M) { leak.Main(m) }

// noise is what frames are cut out of.
var noise = func() []byte {
	b := make([]byte, 4096+device.MaxFrame)
	for i, rnd := 0, rand.New(rand.NewPCG(1, 1)); i < len(b); i++ {
		b[i] = byte(rnd.Uint32())
	}
	return b
}()

// fill makes a frame that says all over which it is.
func fill(b []byte, number uint32) []byte {
	copy(b, noise[number%4096:])
	return b
}

func vnetOf(number uint32) device.VNet {
	n := uint16(number)
	return device.VNet{Flags: uint8(n), GSO: uint8(n >> 8), HdrLen: n + 1, GSOSize: n + 2, CsumStart: n + 3, CsumOffset: n + 4}
}

type frame struct {
	n      int
	number uint32
}

// machine is a mesh beside slices of what should be in it.
type machine struct {
	*Mesh
	loops  int
	queues map[[2]int][]frame
	woken  []int
	asleep []bool // the last Take said there was no more
	number uint32
	buffer []byte
}

func (m *machine) put(t *rapid.T, from, to, n, cut int) bool {
	m.number++
	b := fill(m.buffer[:n], m.number)
	h := vnetOf(m.number)
	woken := m.woken[to]
	if !m.Put(from, to, uint8(m.number), &h, b[:cut], b[cut:]) {
		return false
	}
	clear(b) // it is a copy
	m.queues[[2]int{from, to}] = append(m.queues[[2]int{from, to}], frame{n, m.number})
	want := woken
	if m.asleep[to] {
		want++
	}
	if m.woken[to] != want {
		t.Fatalf("loop %d woken %d times, should be %d", to, m.woken[to], want)
	}
	m.asleep[to] = false
	return true
}

// room is what a ring has left for frames.
func (m *machine) room(from, to int) int {
	room := 1 << 17
	for _, f := range m.queues[[2]int{from, to}] {
		room -= 16 + (f.n+15)/16*16
	}
	return room
}

func (m *machine) Put_(t *rapid.T) {
	loop := rapid.IntRange(0, m.loops-1)
	from, to := loop.Draw(t, "from"), loop.Draw(t, "to")
	n := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, device.MaxFrame), rapid.Just(device.MaxFrame)).Draw(t, "n")
	cut := min(n, rapid.IntRange(0, 200).Draw(t, "cut"))
	for range rapid.IntRange(1, min(100, 1+500_000/(n+1))).Draw(t, "times") {
		fits := m.room(from, to) >= 16+(n+15)/16*16
		if ok := m.put(t, from, to, n, cut); ok != fits {
			t.Fatalf("Put of %d says %v with room for %d", n, ok, m.room(from, to))
		}
	}
}

func (m *machine) Take_(t *rapid.T) {
	to := rapid.IntRange(0, m.loops-1).Draw(t, "to")
	most := rapid.IntRange(1, 300).Draw(t, "most")
	taken := 0
	more := m.Take(to, most, func(from int, tag uint8, h *device.VNet, b []byte) {
		taken++
		q := m.queues[[2]int{from, to}]
		if len(q) == 0 {
			t.Fatalf("a frame of %d from loop %d, which put none", len(b), from)
		}
		f := q[0]
		m.queues[[2]int{from, to}] = q[1:]
		if len(b) != f.n || cap(b) != f.n || tag != uint8(f.number) || *h != vnetOf(f.number) {
			t.Fatalf("a frame of %d, tag %d, %+v: should be number %d of %d", len(b), tag, *h, f.number, f.n)
		}
		if !bytes.Equal(b, fill(m.buffer[:f.n], f.number)) {
			t.Fatalf("frame %d of %d is changed", f.number, f.n)
		}
		clear(b)
	})
	left := 0
	for from := range m.loops {
		left += len(m.queues[[2]int{from, to}])
	}
	if taken > most || !more && left > 0 || more && taken < most {
		t.Fatalf("%d taken of at most %d, %d left, and it says %v", taken, most, left, more)
	}
	m.asleep[to] = !more
}

// In random order and of random sizes: all that was put is taken once, whole,
// in order, and who may sleep is woken by the next frame and by no other.
func TestAgainstSlices(t *testing.T) {
	buffer := make([]byte, device.MaxFrame)
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{loops: rapid.IntRange(1, 3).Draw(t, "loops"), queues: map[[2]int][]frame{}, buffer: buffer}
		m.woken, m.asleep = make([]int, m.loops), make([]bool, m.loops)
		for i := range m.asleep {
			m.asleep[i] = true
		}
		m.Mesh = New(m.loops, 1, func(loop int) { m.woken[loop]++ })
		t.Repeat(map[string]func(*rapid.T){"put": m.Put_, "take": m.Take_})
	})
}

func TestTooLarge(t *testing.T) {
	m := New(2, 1<<20, func(int) { t.Error("woken") })
	if m.Put(0, 1, 0, &device.VNet{}, make([]byte, 100), make([]byte, device.MaxFrame-99)) {
		t.Error("a frame larger than the largest was put")
	}
}

// A ring of any size takes the largest frame wherever it begins.
func TestLargestAnywhere(t *testing.T) {
	m := New(1, 0, func(int) {})
	b, h := make([]byte, device.MaxFrame), device.VNet{}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		n := rnd.IntN(1500)
		if !m.Put(0, 0, 0, &h, b[:n], nil) || !m.Put(0, 0, 0, &h, nil, b) {
			t.Fatal("full")
		}
		binary.BigEndian.PutUint64(b[len(b)-8:], rnd.Uint64())
		if m.Put(0, 0, 0, &h, b, nil) {
			t.Fatal("two of the largest in a ring for one")
		}
		m.Take(0, 2, func(int, uint8, *device.VNet, []byte) {})
	}
}

// Nobody waits for long behind a ring that is always full.
func TestTurns(t *testing.T) {
	m := New(3, 1<<17, func(int) {})
	var h device.VNet
	b := make([]byte, 60)
	for m.Put(0, 2, 0, &h, b, nil) {
	}
	m.Put(1, 2, 0, &h, b, nil)
	m.Take(2, 2*portion, func(from int, _ uint8, _ *device.VNet, _ []byte) {
		if from == 1 {
			b = nil
		}
	})
	if b != nil {
		t.Errorf("%d frames of one loop before the first of another", 2*portion)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	m := New(2, 1<<18, func(int) {})
	var h device.VNet
	head, tail := make([]byte, 100), make([]byte, 40_000)
	n := 0
	step := func() {
		m.Put(0, 1, 3, &h, head, tail)
		m.Put(0, 1, 3, &h, head, nil)
		for m.Take(1, 10, func(_ int, _ uint8, _ *device.VNet, b []byte) { n += len(b) }) {
		}
	}
	step()
	if a := testing.AllocsPerRun(1000, step); a != 0 {
		t.Errorf("%v allocations", a)
	}
}
