package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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

// A loop pauses. Meanwhile another tries to accept, in vain or not, and a
// connection ends, both in the same instant. When that is over and there is
// room, the loop that pauses has been told.
func TestBudgetLosesNoWakeUp(t *testing.T) {
	for name, limits := range map[string]struct{ max, clients int }{
		"descriptors": {3, 100},
		"clients":     {100, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var woken atomic.Bool
			b := NewBudget(limits.max, limits.clients, func() { woken.Store(true) })
			b.paused.Store(1)
			accepted := false
			tryAccept := func() { accepted = b.accept() }
			end := func() { b.give(); b.left() }
			for b.accept() {
			}
			inStep(50_000, tryAccept, end, func(round int) {
				if b.room() && !woken.Load() {
					t.Fatalf("round %d: there is room, and who pauses sleeps", round)
				}
				if !accepted {
					b.accept()
				}
				woken.Store(false)
			})
		})
	}
}

// ample is how long inStep goes on: while others have the processors, two threads
// that wait for each other take a hundred times as long as usual.
const ample = 4 * time.Second

// inStep calls f and g at the same time, as closely as two threads can, and then
// check, so many times, or as often as there is time for, and at least a
// hundredth.
func inStep(rounds int, f, g func(), check func(round int)) {
	var begin, ended atomic.Int64
	var over atomic.Bool
	var second sync.WaitGroup
	await := func(n *atomic.Int64, to int) {
		for n.Load() < int64(to) {
			runtime.Gosched()
		}
	}
	second.Go(func() {
		for round := 1; ; round++ {
			await(&begin, round)
			if over.Load() {
				return
			}
			g()
			ended.Add(1)
		}
	})
	defer second.Wait()
	defer func() { over.Store(true); begin.Add(1) }() // be it that check fails
	end := time.Now().Add(ample)
	for round := 0; round < rounds && (round < rounds/100 || time.Now().Before(end)); round++ {
		begin.Add(1)
		for range round % 64 { // each a little later
			begin.Load()
		}
		f()
		await(&ended, round+1)
		check(round)
	}
}
