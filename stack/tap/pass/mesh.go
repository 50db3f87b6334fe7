package pass

import (
	"sync/atomic"

	"penstock/stack/tap/device"
)

// Mesh joins all loops with each other.
type Mesh struct {
	// Constant.
	loops, bytes int
	wake         func(loop int)

	rings []atomic.Pointer[ring] // of from to to: at to*loops+from. Made by from at its first use
	ends  []end                  // of each loop
}

// end is what the taking end of a loop's rings has in common.
type end struct {
	asleep atomic.Bool // set by the loop, cleared by who wakes it; see the package's comment

	_ [cacheLine]byte

	// Owned by the loop.
	turn int         // whose ring is next
	vnet device.VNet // of the frame that is being looked at

	_ [cacheLine]byte
}

// New returns a mesh of so many loops. Each ordered pair of them that has passed
// a frame takes memory for so many bytes of frames, a power of two and at least
// the largest frame, and as much as that behind it.
//
// wake must have the loop call Take some time after, though it may be anywhere in
// its turn; it is called on the loop of Put.
func New(loops, bytes int, wake func(loop int)) *Mesh {
	m := &Mesh{loops: loops, bytes: bytes, wake: wake}
	m.rings = make([]atomic.Pointer[ring], loops*loops)
	m.ends = make([]end, loops)
	for i := range m.ends {
		m.ends[i].asleep.Store(true)
	}
	return m
}

// Put copies a frame, whose two parts follow each other, from a loop to another,
// with a tag and with what stands before it. Loop from only. If it is not ok the
// frame is lost: the ring is full, or the frame larger than device.MaxFrame.
func (m *Mesh) Put(from, to int, tag uint8, h *device.VNet, head, tail []byte) bool {
	p := &m.rings[to*m.loops+from]
	r := p.Load()
	if r == nil {
		r = newRing(m.bytes)
		p.Store(r)
	}
	if len(head)+len(tail) > device.MaxFrame || !r.put(tag, h, head, tail) {
		return false
	}
	if e := &m.ends[to]; e.asleep.Load() && e.asleep.CompareAndSwap(true, false) {
		m.wake(to)
	}
	return true
}

// Take calls f with frames that others passed to a loop, at most so many, in each
// one's order. b is whole and may be changed, and is valid until f returns, as h.
// Loop to only, and not from within f.
//
// If there is more, the loop must call Take again without being woken.
func (m *Mesh) Take(to, most int, f func(from int, tag uint8, h *device.VNet, b []byte)) (more bool) {
	e := &m.ends[to]
	if e.asleep.Load() {
		return false // nothing has come since, or who put it is about to wake us
	}
	for idle := 0; most > 0; {
		from := e.turn
		e.turn = (from + 1) % m.loops
		if n := m.ring(from, to).take(from, min(most, portion), &e.vnet, f); n > 0 {
			most, idle = most-n, 0
			continue
		}
		if idle++; idle < m.loops {
			continue
		}
		e.asleep.Store(true)
		if m.empty(to) {
			return false
		}
		e.asleep.Store(false)
		idle = 0
	}
	return true
}

// portion is how many frames of one ring are taken before another's turn.
const portion = 32

// ring returns the one between two loops, or nil.
func (m *Mesh) ring(from, to int) *ring { return m.rings[to*m.loops+from].Load() }

func (m *Mesh) empty(to int) bool {
	for from := range m.loops {
		if !m.ring(from, to).empty() {
			return false
		}
	}
	return true
}
