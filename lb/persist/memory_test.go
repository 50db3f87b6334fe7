package persist

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// crowd brings sources to a table and counts by itself how many records
// must be live. Source n is address n; they come in the order of numbers, and
// source n goes to member n modulo 65536.
type crowd struct {
	*Table
	now   Tick
	next  uint32  // the first source that hasn't come
	worst float64 // bytes a live record
}

// enough is how many records there must be for the bound to count: a small
// table is segments of 16 KiB, mostly empty.
const enough = 20_000

func (c *crowd) come() {
	c.claim4(c.now, c.next, uint16(c.next))
	c.next++
}

func (c *crowd) look(live uint32) {
	if live >= enough {
		c.worst = max(c.worst, float64(c.Bytes())/float64(live))
	}
}

// check sees if the bound was kept and the last sources are there.
func (c *crowd) check(t *testing.T, live uint32) {
	t.Helper()
	if c.worst > 64 || c.worst == 0 {
		t.Errorf("up to %.1f bytes a record", c.worst)
	}
	if n := c.Len(c.now); float64(n) < 0.93*float64(live) || float64(n) > 1.07*float64(live) {
		t.Errorf("%d records, should be about %d", n, live)
	}
	t.Logf("%d records: up to %.1f bytes each, at the end %.1f, in %d generations",
		live, c.worst, float64(c.Bytes())/float64(live), 1+len(c.list.Load().older))
	for i := c.next - live; i < c.next; i++ {
		if id, ok := c.find4(c.now, i); !ok || id != uint16(i) {
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
	c := &crowd{Table: New(1, 32, 128, 180*second)}
	for c.next < 1_000_000 {
		c.come()
		if c.next%1000 == 0 {
			c.look(c.next)
		}
	}
	c.check(t, c.next)
}

// Sources come and stay: while they come all of them are used, in turn, twice
// within each timeout, and at last a million times without newcomers.
func TestMemoryWithSourcesThatStay(t *testing.T) {
	serial(t)
	const most, timeout = 200_000, 20
	for _, perSecond := range []uint32{most / 3, most / 20, most / 90} {
		t.Run(fmt.Sprint(perSecond), func(t *testing.T) {
			c := &crowd{Table: New(1, 32, 128, timeout*second)}
			turn, due := uint32(0), 0.0
			for c.next < most {
				c.now += second / Tick(perSecond)
				c.come()
				for due += 2 * float64(c.next) / float64(timeout*perSecond); due > 1; due-- {
					turn = (turn + 1) % c.next
					c.claim4(c.now, turn, 0)
				}
				c.look(c.next)
			}
			c.check(t, most)
		})
	}
}

// Each source comes once and its record expires. The pace is steady, or goes
// up and down at random by a half.
func TestMemoryWithSourcesThatLeave(t *testing.T) {
	serial(t)
	const perSecond, timeout = 2000, 60
	for _, unsteady := range []bool{false, true} {
		c := &crowd{Table: New(1, 32, 128, timeout*second)}
		rnd := rand.New(rand.NewPCG(1, 1))
		var came []uint32 // by second: the first source of it
		live := uint32(0)
		for s := range 6 * timeout {
			came = append(came, c.next)
			n := uint32(perSecond)
			if unsteady {
				n = perSecond/2 + rnd.Uint32N(perSecond)
			}
			for range n {
				c.now += second / Tick(n)
				c.come()
			}
			c.now = Tick(s+1) * second
			live = c.next - came[max(0, s-timeout+1)]
			c.look(live)
		}
		c.check(t, live)
	}
}

// A flood of sources does not make a table hold more than its most; those that
// are in use stay.
func TestMost(t *testing.T) {
	serial(t)
	c := &crowd{Table: New(1, 32, 128, 180*second)}
	c.most = 20_000
	for c.next < 400_000 {
		c.come()
		if c.next%1000 == 0 {
			for i := range uint32(100) {
				if id := c.claim4(c.now, i, 7); id != uint16(i) {
					t.Fatalf("source %d lost its record", i)
				}
			}
		}
		if n := c.Bytes(); n > 3*20_000*20 {
			t.Fatalf("%d bytes", n)
		}
	}
}

// After a lull the table gives up what it held.
func TestMemoryAfterALull(t *testing.T) {
	serial(t)
	c := &crowd{Table: New(1, 32, 128, 10*second)}
	for c.next < 200_000 {
		c.come()
	}
	for range 3 {
		c.now += 20 * second
		c.come()
	}
	if n := c.Bytes(); n > 100_000 {
		t.Errorf("%d bytes for one record", n)
	}
}
