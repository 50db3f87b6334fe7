package persist

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// history brings sources to a table and counts by itself how many records
// must be live. Source n is address n; they come in the order of numbers, and
// source n goes to member n modulo 65536.
type history struct {
	*Table
	now   Tick
	next  uint32  // the first source that hasn't come
	worst float64 // bytes a live record
}

// enough is how many records there must be for the bound to count: a small
// table is segments of 16 KiB, mostly empty.
const enough = 20_000

func (h *history) come() {
	h.claim4(h.now, h.next, uint16(h.next))
	h.next++
}

func (h *history) look(live uint32) {
	if live >= enough {
		h.worst = max(h.worst, float64(h.Bytes())/float64(live))
	}
}

// check sees if the bound was kept and the last sources are there.
func (h *history) check(t *testing.T, live uint32) {
	t.Helper()
	if h.worst > 64 || h.worst == 0 {
		t.Errorf("up to %.1f bytes a record", h.worst)
	}
	if n := h.Len(h.now); float64(n) < 0.93*float64(live) || float64(n) > 1.07*float64(live) {
		t.Errorf("%d records, should be about %d", n, live)
	}
	t.Logf("%d records: up to %.1f bytes each, at the end %.1f, in %d generations",
		live, h.worst, float64(h.Bytes())/float64(live), 1+len(h.list.Load().older))
	for i := h.next - live; i < h.next; i++ {
		if id, ok := h.find4(h.now, i); !ok || id != uint16(i) {
			t.Fatalf("source %d: member %d, %v", i, id, ok)
		}
	}
}

// serial skips a test that has one goroutine and is long, where the race
// detector looks on.
func serial(t *testing.T) {
	if slower > 1 {
		t.Skip("nothing runs at once here")
	}
}

func TestMemoryOfAMillion(t *testing.T) {
	serial(t)
	h := &history{Table: New(1, 32, 128, 180*second)}
	for h.next < 1_000_000 {
		h.come()
		if h.next%1000 == 0 {
			h.look(h.next)
		}
	}
	h.check(t, h.next)
}

// Sources come and stay: while they come all of them are used, in turn, twice
// within each timeout, and at last a million times without newcomers.
func TestMemoryWithSourcesThatStay(t *testing.T) {
	serial(t)
	const most, timeout = 200_000, 20
	for _, perSecond := range []uint32{most / 3, most / 20, most / 90} {
		t.Run(fmt.Sprint(perSecond), func(t *testing.T) {
			h := &history{Table: New(1, 32, 128, timeout*second)}
			turn, due := uint32(0), 0.0
			for h.next < most {
				h.now += second / Tick(perSecond)
				h.come()
				for due += 2 * float64(h.next) / float64(timeout*perSecond); due > 1; due-- {
					turn = (turn + 1) % h.next
					h.claim4(h.now, turn, 0)
				}
				h.look(h.next)
			}
			h.check(t, most)
		})
	}
}

// Each source comes once and its record expires. The pace is steady, or goes
// up and down at random by a half.
func TestMemoryWithSourcesThatLeave(t *testing.T) {
	serial(t)
	const perSecond, timeout = 2000, 60
	for _, unsteady := range []bool{false, true} {
		h := &history{Table: New(1, 32, 128, timeout*second)}
		rnd := rand.New(rand.NewPCG(1, 1))
		var came []uint32 // by second: the first source of it
		live := uint32(0)
		for s := range 6 * timeout {
			came = append(came, h.next)
			n := uint32(perSecond)
			if unsteady {
				n = perSecond/2 + rnd.Uint32N(perSecond)
			}
			for range n {
				h.now += second / Tick(n)
				h.come()
			}
			h.now = Tick(s+1) * second
			live = h.next - came[max(0, s-timeout+1)]
			h.look(live)
		}
		h.check(t, live)
	}
}

// A flood of sources does not make a table hold more than its most; those that
// are in use stay.
func TestMost(t *testing.T) {
	serial(t)
	h := &history{Table: New(1, 32, 128, 180*second)}
	h.most = 20_000
	for h.next < 400_000 {
		h.come()
		if h.next%1000 == 0 {
			for i := range uint32(100) {
				if id := h.claim4(h.now, i, 7); id != uint16(i) {
					t.Fatalf("source %d lost its record", i)
				}
			}
		}
		if n := h.Bytes(); n > 3*20_000*20 {
			t.Fatalf("%d bytes", n)
		}
	}
}

// After a lull the table gives up what it held.
func TestMemoryAfterALull(t *testing.T) {
	serial(t)
	h := &history{Table: New(1, 32, 128, 10*second)}
	for h.next < 200_000 {
		h.come()
	}
	for range 3 {
		h.now += 20 * second
		h.come()
	}
	if n := h.Bytes(); n > 100_000 {
		t.Errorf("%d bytes for one record", n)
	}
}
