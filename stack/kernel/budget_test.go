package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestBudget(t *testing.T) {
	b := NewBudget(16, 0, func() { t.Error("resumed, and nobody pauses") })
	clients := 0
	for b.accept() {
		clients++
	}
	if clients != 13 { // an eighth and one are kept back
		t.Errorf("%d clients in a budget of 16, want 13", clients)
	}
	dials := 0
	for b.dial() {
		dials++
	}
	if dials != 3 || b.Used() != 16 {
		t.Errorf("%d dials, %d used, want 3 and 16", dials, b.Used())
	}
	for range dials + clients {
		b.give()
	}
	for range clients {
		b.left()
	}
	if b.Used() != 0 || b.Clients() != 0 {
		t.Errorf("%d used, %d clients at the end", b.Used(), b.Clients())
	}
}

func TestBudgetOfClients(t *testing.T) {
	b := NewBudget(100, 2, func() {})
	if !b.accept() || !b.accept() || b.accept() {
		t.Error("want two clients and no third")
	}
	b.give()
	if b.accept() {
		t.Error("a descriptor was taken for a client's place")
	}
	b.left()
	if !b.accept() {
		t.Error("no place, and one is free")
	}
	if b.Clients() != 2 {
		t.Errorf("%d clients", b.Clients())
	}
}

// pauser does what a loop does with the budget; see Loop.pause and tryResume.
type pauser struct {
	b     *Budget
	woken atomic.Bool
}

func (p *pauser) pause() {
	p.b.paused.Add(1)
	if p.b.room() {
		p.woken.Store(true)
	}
}

// One loop pauses; meanwhile another tries to accept, in vain or not, and a
// connection ends. When all that is over and there is room, the one that
// pauses has been told.
func TestBudgetLosesNoWakeUp(t *testing.T) {
	const rounds = 10_000
	for name, full := range map[string]func(*Budget){
		"descriptors": func(b *Budget) { b.clients = 100 },
		"clients":     func(b *Budget) { b.max = 100 },
	} {
		t.Run(name, func(t *testing.T) {
			for round := range rounds {
				var p pauser
				b := NewBudget(3, 2, func() { p.woken.Store(true) })
				full(b)
				p.b = b
				for b.accept() {
				}
				var start, done sync.WaitGroup
				start.Add(1)
				together := func(f func()) {
					done.Go(func() { start.Wait(); f() })
				}
				together(p.pause)
				together(func() {
					if b.accept() {
						b.unaccept()
					}
				})
				together(func() {
					runtime.Gosched()
					b.give()
					b.left()
				})
				start.Done()
				done.Wait()
				if b.room() && !p.woken.Load() {
					t.Fatalf("round %d: there is room, and who pauses sleeps", round)
				}
			}
		})
	}
}
