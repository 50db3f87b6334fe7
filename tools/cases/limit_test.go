package cases

import (
	"sync"
	"testing"
	"time"
)

// unhurried is for a pool whose waits are not what is tested.
const unhurried = "queue-time-limit=60s"

// visitors has n clients connect at once, read the greeting and the end. It
// returns how long each waited for its greeting.
func (p *proxy) visitors(n int) spread {
	p.t.Helper()
	var mu sync.Mutex
	var waits spread
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			v, err := p.dial("")
			if err != nil {
				p.t.Error(err)
				return
			}
			defer v.Close()
			if v.greeting(3*patience) == "" {
				p.t.Error("not served")
				return
			}
			wait := time.Since(v.at)
			if how, _ := v.ends(patience); how != byFIN {
				p.t.Errorf("ended by %s", how)
			}
			mu.Lock()
			waits = append(waits, wait)
			mu.Unlock()
		})
	}
	all.Wait()
	return waits
}

// A limit of one is one for all loops together, not one for each.
func TestC01OneLimitForAllLoops(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", lasting(10*time.Millisecond))
	p := setup{loops: 8, pool: unhurried, members: []string{a.limit(1)}}.start(t)
	p.visitors(200)
	if a.most.Load() != 1 || a.total.Load() != 200 {
		t.Errorf("most %d, total %d; want 1 and 200", a.most.Load(), a.total.Load())
	}
}

// 300 clients in bursts at a limit of one.
func TestBurstsAtLimitOne(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", lasting(2*time.Millisecond))
	p := setup{loops: 8, pool: unhurried, members: []string{a.limit(1)}}.start(t)
	for range 6 {
		p.visitors(50)
	}
	if a.most.Load() != 1 || a.total.Load() != 300 {
		t.Errorf("most %d, total %d; want 1 and 300", a.most.Load(), a.total.Load())
	}
}

// Limits of seven over three members.
func TestSevenOverThree(t *testing.T) {
	t.Parallel()
	var members []string
	var servers []*server
	for i, limit := range []int{1, 2, 4} {
		s := listen(t, string(rune('A'+i)), lasting(15*time.Millisecond))
		servers, members = append(servers, s), append(members, s.limit(limit))
	}
	p := setup{loops: 8, pool: unhurried, members: members}.start(t)
	for range 3 {
		p.visitors(200)
	}
	for i, limit := range []int64{1, 2, 4} {
		if s := servers[i]; s.most.Load() != limit {
			t.Errorf("%s: most %d; want %d", s.name, s.most.Load(), limit)
		}
	}
}

// A dial in progress holds its slot.
func TestC03DialsHoldSlots(t *testing.T) {
	t.Parallel()
	a := blackHole(t)
	p := setup{pool: "connect-timeout=3s", members: []string{a.addr + ",connection-limit=2"}}.start(t)
	p.tidy = false // most are still waiting
	p.connectMany(2)
	await(t, patience, "2 dials", func() bool { return p.dialling(a.addr) == 2 }) // until one fails: then one probes
	p.connectMany(18)
	never(t, 4*time.Second, "more than 2 dials", func() bool { return p.dialling(a.addr) > 2 })
}

// The pool's limit is as hard as a member's, and feeds the same queue.
func TestC04PoolLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 3} {
		t.Run(itoa(limit), func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", nil)
			b, c := a.beside("B"), a.beside("C")
			p := setup{
				pool:    "connection-limit=" + itoa(limit),
				members: []string{a.limit(5), b.limit(5), c.limit(5)},
			}.start(t)
			p.polite(30)
			var in []*visit
			for range limit {
				in = append(in, a.next(patience))
			}
			a.nobody(100 * time.Millisecond)
			for range 30 - limit { // one leaves: exactly one more
				in[0].end()
				in = append(in[1:], a.next(patience))
			}
			in[0].end()
			a.nobody(50 * time.Millisecond)
			for _, v := range in[1:] {
				v.end()
			}
		})
	}
}

// A grant carries its slot: with a newcomer in the instant of a hand-over, the
// limit holds, and none of the three is lost.
func TestC05NewcomerAtHandOver(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	for range count(500, 100_000) {
		p.polite(1)
		x := a.next(patience)
		p.polite(1)
		together(
			x.end,
			func() { p.polite(1) },
			func() {
				a.next(patience).end()
				a.next(patience).end()
			},
		)
	}
	if a.most.Load() != 1 {
		t.Errorf("most %d", a.most.Load())
	}
}

// together runs functions at the same instant, as far as a machine can.
func together(fs ...func()) {
	var all sync.WaitGroup
	gate := make(chan struct{})
	for _, f := range fs {
		all.Go(func() { <-gate; f() })
	}
	close(gate)
	all.Wait()
}
