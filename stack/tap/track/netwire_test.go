package track

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/faketime"
)

// network is a client and a server with real TCPs, and between them two wires with
// the tracker, and its caller, in the middle. Time passes when the test says so.
type network struct {
	t     *testing.T
	rnd   *rand.Rand
	clock *faketime.ManualClock
	hosts [2]*netHost
	loss  int // per cent
	log   []string
	check func() // is called at each turn

	mu    sync.Mutex
	wires []transit

	caller
}

// transit is a frame under way.
type transit struct {
	due time.Time
	to  Side
	mid bool // it has passed the middle
	b   []byte
}

const serverPort = 80

func newNetwork(t *testing.T, seed uint64) *network {
	n := &network{t: t, rnd: rand.New(rand.NewPCG(seed, 2)), clock: faketime.NewManualClock(), loss: 8}
	n.caller = caller{network: n, flows: map[uint16]*netFlow{}, muted: map[uint16]bool{}, events: map[Event]int{}}
	for side := range n.hosts {
		to := Side(1 - side)
		n.hosts[side] = newNetHost(n.clock, addrs[side], func(b []byte) { n.send(to, false, b) })
	}
	t.Cleanup(func() {
		for _, h := range n.hosts {
			h.net.Destroy()
		}
	})
	return n
}

func (n *network) note(f string, args ...any) {
	if len(n.log) > 4000 {
		n.log = n.log[2000:]
	}
	n.log = append(n.log, fmt.Sprintf("%.3f ", n.clock.Now().Sub(time.Unix(0, 0)).Seconds())+fmt.Sprintf(f, args...))
}

func (n *network) fatal(f string, args ...any) {
	n.t.Helper()
	for _, l := range n.log[max(0, len(n.log)-150):] {
		n.t.Log(l)
	}
	n.t.Fatalf(f, args...)
}

// send puts a frame on a wire, if it is not lost.
func (n *network) send(to Side, mid bool, b []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	copies := 1
	switch x := n.rnd.IntN(100); {
	case x < n.loss:
		return
	case x < n.loss+n.loss/2:
		copies = 2
	}
	for range copies {
		delay := time.Millisecond
		if n.loss > 0 && n.rnd.IntN(5) == 0 {
			delay += time.Duration(n.rnd.IntN(40)) * time.Millisecond
		}
		n.wires = append(n.wires, transit{n.clock.Now().Add(delay), to, mid, b})
	}
}

// take returns the oldest frame that is due, or when the next one is.
func (n *network) take() (x transit, ok bool, next time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	best := -1
	for i := range n.wires {
		if best < 0 || n.wires[i].due.Before(n.wires[best].due) {
			best = i
		}
	}
	if best < 0 {
		return x, false, n.clock.Now().Add(time.Hour)
	}
	if x = n.wires[best]; x.due.After(n.clock.Now()) {
		return x, false, x.due
	}
	n.wires = append(n.wires[:best], n.wires[best+1:]...)
	return x, true, x.due
}

// run lets time pass.
func (n *network) run(d time.Duration) {
	until := n.clock.Now().Add(d)
	for {
		n.settle()
		x, ok, next := n.take()
		if ok {
			if x.mid {
				n.deliver(x.to, x.b)
			} else {
				n.pass(1-x.to, x.b)
			}
			continue
		}
		n.timers()
		n.check()
		now := n.clock.Now()
		if !now.Before(until) {
			return
		}
		step := min(until.Sub(now), next.Sub(now), 20*time.Millisecond)
		n.clock.Advance(max(step, 0))
	}
}

func (n *network) settle() {
	for _, h := range n.hosts {
		h.settle()
	}
	n.clock.RunImmediatelyScheduledJobs()
}
