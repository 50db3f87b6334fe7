package cases

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// The next try is at once, on another member.
func TestC27OtherMemberAtOnce(t *testing.T) {
	t.Parallel()
	b := listen(t, "B", hold)
	p := setup{pool: "reselect-tries=1", members: []string{refusing(t), b.addr}}.start(t)
	for range 10 {
		c := p.connect()
		if name := c.served(patience); name != "B" {
			t.Errorf("served by %q", name)
		}
		between(t, "B", time.Since(c.at), 0, 50*time.Millisecond)
		c.Close()
	}
}

// A server that refuses quickly does not use up the queue: a failed dial costs
// no turn, the member backs off, and one waiter probes it.
func TestC31RefusingServerAndQueue(t *testing.T) {
	t.Parallel()
	const stay = 200 * time.Millisecond
	b := listen(t, "B", lasting(stay))
	p := setup{
		pool:    "reselect-tries=3",
		members: []string{refusing(t) + ",connection-limit=2", b.limit(2)},
	}.start(t)
	start := time.Now()
	p.visitors(20)
	between(t, "all served", time.Since(start), 10*stay, 10*stay+500*time.Millisecond)
	if n := p.pool().Members[0].DialFailures; n < 1 || n > 10 {
		t.Errorf("the refusing server was dialled %d times; want 1 to 10", n)
	}
	if b.total.Load() != 20 || b.most.Load() != 2 {
		t.Errorf("B served %d, most %d; want 20 and 2", b.total.Load(), b.most.Load())
	}
}

// A refusing member beside a good one, with the tries that are the default.
func TestRefusingBesideGood(t *testing.T) {
	t.Parallel()
	b := listen(t, "B", lasting(100*time.Millisecond))
	p := setup{
		pool:    "reselect-tries=3",
		members: []string{refusing(t) + ",connection-limit=1", b.limit(1)},
	}.start(t)
	p.visitors(20)
	if b.total.Load() != 20 || b.most.Load() != 1 {
		t.Errorf("B served %d, most %d; want 20 and 1", b.total.Load(), b.most.Load())
	}
}

// A server that accepts and resets is up: its clients are told so, what it
// said reaches them, and nobody backs off from it.
func TestResetAtAccept(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", func(v *visit) { v.reset() })
	p := setup{members: []string{a.limit(1)}}.start(t)
	const n = 100
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if c, err := p.dial(""); err == nil { // or it was reset already
				c.refused(patience)
				c.Close()
			}
		})
	}
	all.Wait()
	if got := codes(p.awaitLog(n)); got["SR"] != n {
		t.Errorf("codes %v; want SR %d times", got, n)
	}
	if k := p.pool().Members[0].DialFailures; k != 0 {
		t.Errorf("%d dial failures", k)
	}
}

// A server that answers late: the dial holds its slot meanwhile, and its time
// is not waiting.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	h := blackHole(t)
	p := setup{pool: "connect-timeout=20s", members: []string{h.addr + ",connection-limit=1"}}.start(t)
	c := p.polite(1)[0]
	await(t, patience, "a dial", func() bool { return p.dialling(h.addr) == 1 })
	p.polite(1)
	p.awaitDepth(1)
	a := h.answer("A")
	v := a.next(patience)
	a.nobody(100 * time.Millisecond) // the other one is still parked
	v.end()
	a.next(patience).end()
	lines := p.awaitLog(2)
	if lines[0]["position"] != "0" { // lines of two loops may swap
		lines[0], lines[1] = lines[1], lines[0]
	}
	if w := lines[0].span("wait"); w != 0 {
		t.Errorf("first: waited %v", w)
	}
	between(t, "first: connected", v.at.Sub(c.at), 900*time.Millisecond, 3*time.Second)
	if d := lines[0].span("connect"); d <= 0 || d < v.at.Sub(c.at)/4 { // all of it, but for the way to the proxy and in it
		t.Errorf("first: %v for the dial of %v", d, v.at.Sub(c.at))
	}
	between(t, "second: connected", lines[1].span("connect"), 0, 100*time.Millisecond)
	if a.most.Load() != 1 {
		t.Errorf("most %d", a.most.Load())
	}
}

// No member takes anybody: when-down decides, for the clients of a pool whose
// members are all offline.
func TestC35NoMemberIsUp(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"refuse", "queue"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", hold)
			p := setup{
				pool:    "when-down-time-limit=1s,when-down=" + policy,
				members: []string{a.addr + ",connection-limit=1,state=offline"},
			}.start(t)
			start := time.Now()
			if policy == "refuse" {
				for range 5 {
					p.turnedAway()
				}
			} else {
				for _, c := range p.connectMany(5) {
					c.refused(patience)
				}
				between(t, "refused", time.Since(start), time.Second, 1100*time.Millisecond)
			}
			if got := codes(p.awaitLog(5)); got["DN"] != 5 {
				t.Errorf("codes %v; want DN five times", got)
			}
			if n := a.total.Load(); n != 0 {
				t.Errorf("%d dials", n)
			}
		})
	}
}

// A pool may be without members: clients wait for one.
func TestC76PoolWithoutMembers(t *testing.T) {
	t.Parallel()
	s := setup{pool: "when-down=queue,when-down-time-limit=1s"}
	p := s.start(t)
	c := p.connect()
	p.awaitDepth(1)
	c.refused(patience)
	between(t, "refused", time.Since(c.at), time.Second, 1100*time.Millisecond)
	if got := codes(p.awaitLog(1)); got["DN"] != 1 {
		t.Errorf("codes %v; want DN", got)
	}
	if text := s.check(t); !strings.Contains(text, "pool p") {
		t.Errorf("check says\n%s", text)
	}
}
