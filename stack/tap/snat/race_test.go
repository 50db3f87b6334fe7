package snat

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// claims are who has which port, by the test's own count.
type claims [Ports]atomic.Int32

func (c *claims) take(t *testing.T, loop int, port uint16) {
	if !c[port-First].CompareAndSwap(0, int32(loop)+1) {
		t.Errorf("port %d is lent to loop %d and to loop %d", port, c[port-First].Load()-1, loop)
	}
}

func (c *claims) give(port uint16) { c[port-First].Store(0) }

// Many loops on few ports that are free, all wanted by all: no port is lent
// twice, none is lost, and one is only refused when there are none.
func TestManyLoops(t *testing.T) {
	const loops, free, rounds = 6, 200, 10_000
	p := New(loops + 1)
	c := new(claims)
	for range Ports - free {
		port, _ := p.Take(loops, 0, all)
		c.take(t, loops, port)
	}
	var refused atomic.Int64
	var wg sync.WaitGroup
	for loop := range loops {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(loop)))
			mine := []uint16{}
			for now := range int64(rounds) {
				if r.IntN(2) == 0 || len(mine) == 0 {
					port, ok := p.Take(loop, now<<unit, all)
					if !ok {
						refused.Add(1)
						continue
					}
					c.take(t, loop, port)
					mine = append(mine, port)
					continue
				}
				i := r.IntN(len(mine))
				port := mine[i]
				if at, ok := p.Owner(port); !ok || at != loop {
					t.Errorf("port %d is loop %d's, not %d's", port, at, loop)
				}
				mine[i] = mine[len(mine)-1]
				mine = mine[:len(mine)-1]
				c.give(port)
				p.Give(port, (now+r.Int64N(100)-50)<<unit)
			}
			for _, port := range mine {
				c.give(port)
				p.Give(port, 0)
			}
		})
	}
	wg.Wait()
	if n := p.InUse(); n != Ports-free {
		t.Errorf("%d in use, want %d", n, Ports-free)
	}
	for i := range p.lent {
		n := int32(0)
		for j := range blockLen {
			if p.cells[i*blockLen+j].Load()&isLent != 0 {
				n++
			}
		}
		if p.lent[i].Load() != n {
			t.Errorf("block %d counts %d, and has %d", i, p.lent[i].Load(), n)
		}
	}
	for range free {
		take(t, p, 0, 0, all)
	}
	if _, ok := p.Take(0, 0, all); ok {
		t.Error("one too many")
	}
	t.Logf("refused %d times", refused.Load())
}

// With fewer takers than ports nobody is refused, whoever gives and takes at the
// same time.
func TestNobodyIsRefused(t *testing.T) {
	const loops, rounds = 4, 10_000
	p := New(loops + 1)
	c := new(claims)
	for range Ports - 10*loops {
		port, _ := p.Take(loops, 0, all)
		c.take(t, loops, port)
	}
	var wg sync.WaitGroup
	for loop := range loops {
		wg.Go(func() {
			for range rounds {
				port, ok := p.Take(loop, 0, all)
				if !ok {
					t.Error("refused")
					return
				}
				c.take(t, loop, port)
				c.give(port)
				p.Give(port, 0)
			}
		})
	}
	wg.Wait()
}

func bench(b *testing.B, lent int, rest int64) {
	p := New(2)
	for range lent {
		p.Take(1, 0, all)
	}
	want := mine(0, 2)
	now := int64(0)
	for b.Loop() {
		now += 1000
		port, ok := p.Take(0, now, want)
		if !ok {
			b.Fatal("refused")
		}
		p.Give(port, rest+min(rest, 1)*now)
	}
}

func BenchmarkTake(b *testing.B) {
	b.Run("free", func(b *testing.B) { bench(b, 0, 0) })
	b.Run("resting", func(b *testing.B) { bench(b, 0, 60e9) })
	b.Run("90%", func(b *testing.B) { bench(b, Ports*9/10, 0) })
	b.Run("99%", func(b *testing.B) { bench(b, Ports*99/100, 0) })
	b.Run("all but 5", func(b *testing.B) { bench(b, Ports-5, 0) })
}
