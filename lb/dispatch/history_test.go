package dispatch

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// What a client does to a slot, as the history tells it.
type slotOp string

const (
	opTake   slotOp = "take"   // from the arrival to the slot, a wait included
	opRefuse slotOp = "refuse" // from the arrival to the refusal
	opGive   slotOp = "give"
)

// slots is the counter as it should look from outside: a client is admitted
// while fewer than the limit are in use, and refused while all are.
func slots(limit int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, op, _ any) (bool, any) {
			switch n := state.(int); op.(slotOp) {
			case opTake:
				return n < limit, n + 1
			case opRefuse:
				return n == limit, n
			default:
				return n > 0, n - 1
			}
		},
		DescribeOperation: func(op, _ any) string { return string(op.(slotOp)) },
	}
}

// recorder runs clients of several loops and writes down what they did.
type recorder struct {
	*rig
	ops  [][]porcupine.Operation // by loop
	stay [][]visit               // by loop
	left atomic.Int64            // clients that are to come
	busy atomic.Int64            // clients that are there
	nth  atomic.Int64            // how many were served
}

// visit is a client that was served.
type visit struct {
	called, answered int64 // of its arrival
	waited           bool
	served           int64 // its number; two may be served in one tick of a clock
}

// clock is the time of a history.
func (r *recorder) clock() int64 { return int64(time.Since(r.start)) }

// run has two clients on the loop come again and again.
func (r *recorder) run(loop int) {
	l := r.Loop(loop)
	var clients [2]struct {
		visit
		there bool
		path  *Path
	}
	note := func(op slotOp, call int64) {
		r.ops[loop] = append(r.ops[loop], porcupine.Operation{ClientId: loop, Input: op, Call: call, Return: r.clock()})
	}
	serve := func(k uint32, p Path) {
		c := &clients[k]
		c.path, c.served = &p, r.nth.Add(1)
		note(opTake, c.called)
		r.stay[loop] = append(r.stay[loop], c.visit)
	}
	for turn := 0; r.left.Load() > 0 || r.busy.Load() > 0; turn++ {
		k := uint32(turn % len(clients))
		c := &clients[k]
		switch {
		case !c.there && r.left.Add(-1) >= 0:
			c.there = true
			r.busy.Add(1)
			c.visit = visit{called: r.clock()}
			v := l.arriveAs(r.now(), 0, 0, k, Attempt{Since: r.now()})
			c.answered, c.waited = r.clock(), v.Kind == Wait
			if v.Kind == Proceed {
				serve(k, v.Path)
			} else if v.Kind == Refuse {
				note(opRefuse, c.called)
				c.there = false
				r.busy.Add(-1)
			}
		case c.path != nil:
			call := r.clock()
			l.Release(r.now(), *c.path)
			note(opGive, call)
			c.path, c.there = nil, false
			r.busy.Add(-1)
		default:
			runtime.Gosched()
		}
		r.pump(l, func(o Outcome) { serve(o.Conn, o.Path) })
	}
}

// recorded lets n clients come, and returns what they and the slots went
// through.
func recorded(t *testing.T, n int64, text string) (ops []porcupine.Operation, stay []visit) {
	const loops = 4
	r := &recorder{rig: newRig(loops, text), ops: make([][]porcupine.Operation, loops), stay: make([][]visit, loops)}
	r.left.Store(n)
	var wg sync.WaitGroup
	for i := range loops {
		wg.Go(func() { r.run(i) })
	}
	wg.Wait()
	checkEmpty(t, r.Dispatcher)
	return slices.Concat(r.ops...), slices.Concat(r.stay...)
}

// Histories of concurrent loops are those of one counter with one lock: in
// the order of some moments within the operations no more than the limit are
// in use, and a refusal meant that all were.
func TestHistoriesAreLinearizable(t *testing.T) {
	for limit := 1; limit <= 3; limit++ {
		for _, queue := range []string{"on", "off"} {
			t.Run(fmt.Sprintf("limit=%d,queue=%s", limit, queue), func(t *testing.T) {
				text := fmt.Sprintf("pool p queue=%s\nvirtual v\nmember A limit=%d", queue, limit)
				for range some(50 / slower) {
					ops, _ := recorded(t, 200, text)
					if res := porcupine.CheckOperationsTimeout(slots(limit), ops, 20*time.Second); res == porcupine.Illegal {
						t.Fatal("no order of the operations explains the history")
					} else if res == porcupine.Unknown {
						t.Log("given up on a history")
					}
				}
			})
		}
	}
}

// Waiters are served first come, first served, over all loops: if one's
// arrival was answered with Wait before another one's began, it is served
// first. With one slot the order of service can be seen from outside.
//
// There is no such rule between a waiter and a newcomer who does not wait:
// until the pass that takes the waiter over has got to its ring, the pool's
// flag is not up, and a slot that frees in that moment is anybody's. Those are
// counted only.
func TestWaitersAreServedInOrder(t *testing.T) {
	passed := 0
	for range some(100 / slower) {
		_, stay := recorded(t, 2000, oneSlot)
		slices.SortFunc(stay, func(a, b visit) int { return int(a.served - b.served) })
		// From the end: the earliest answer among those served later.
		first := int64(math.MaxInt64)
		for _, v := range slices.Backward(stay) {
			if v.called > first {
				if v.waited {
					t.Fatalf("%+v was served before one that waited since %d", v, first)
				}
				passed++
			}
			if v.waited {
				first = min(first, v.answered)
			}
		}
	}
	t.Logf("%d newcomers passed a waiter on its way to the queue", passed)
}
