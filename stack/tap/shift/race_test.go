package shift

import (
	"sync"
	"sync/atomic"
	"testing"

	"penstock/stack/tap/frame"
)

// Others send segments of flows that the loop makes, sets and takes out. Each
// segment is swallowed, or passes as it was, or translated by one set of numbers,
// never by half of one; and each answer reaches the loop.
func TestOthersSendMeanwhile(t *testing.T) {
	const flows, senders = 40, 3
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	woken := make(chan struct{}, 1)
	tab := New(64, grace, func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	flow := func(i int) Flow { f := four; f.ClientPort = uint16(i); return f }
	var stop atomic.Bool
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := s; !stop.Load(); i++ {
				b := plain(flow(i%flows), 1000, 2000)
				if !send(tab, b) {
					continue
				}
				got := read(t, b)
				// The loop sets both by the same number.
				if got.seq-1000 != got.opts.TSVal-2000 {
					t.Errorf("by %d and %d", got.seq-1000, got.opts.TSVal-2000)
					return
				}
			}
		})
	}
	now := int64(0)
	for round := range rounds {
		for i := range flows {
			tab.Pend(flow(i))
			wg.Go(func() { send(tab, synAck(flow(i), 0, 0)) })
		}
		for left := flows; left > 0; {
			<-woken
			tab.Answers(func(a *Answer) {
				left--
				if by := uint32(round + 1); !tab.Set(a, by, by) {
					t.Errorf("%+v is not pending", a)
				}
			})
		}
		for i := range flows {
			b := frame.AppendTCP(nil, in(flow(i)), &frame.Header{Ack: 500, Flags: frame.ACK}, nil)
			if !receive(tab, b) || read(t, b).ack != uint32(499-round) {
				t.Fatalf("round %d: %+v", round, read(t, b))
			}
			if i%2 == 0 {
				tab.Remove(flow(i), now)
			}
		}
		now += int64(grace)
		tab.Expire(now)
	}
	stop.Store(true)
	wg.Wait()
}
