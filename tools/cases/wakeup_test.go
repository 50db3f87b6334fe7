package cases

import (
	"io"
	"sync"
	"testing"
	"time"
)

// A release always finds the waiters.
func TestC07NobodyIsForgotten(t *testing.T) {
	t.Parallel()
	a, b := listen(t, "A", lasting(50*time.Millisecond)), listen(t, "B", lasting(50*time.Millisecond))
	p := setup{members: []string{a.limit(6), b.limit(6)}}.start(t)
	for range count(3, 20) {
		begun := time.Now()
		if longest := p.visitors(200).at(1); longest > 2*time.Second+slack+stalled(begun) { // who is forgotten expires, too
			t.Errorf("somebody waited %v", longest)
		}
	}
	if n := p.pool().Expired; n != 0 {
		t.Errorf("expired %d", n)
	}
	if a.most.Load() > 6 || b.most.Load() > 6 {
		t.Errorf("most %d and %d; want 6", a.most.Load(), b.most.Load())
	}
}

// Somebody parks just as the last connection leaves: nobody gets stuck, and
// nothing goes on turning when all have gone.
func TestC08ParkAsTheLastLeaves(t *testing.T) {
	a := listen(t, "A", func(v *visit) {
		v.greet()
		for time.Since(v.at) < 100*time.Microsecond { // no timer is that exact
		}
		v.end()
	})
	p := setup{members: []string{a.limit(1)}}.start(t)
	const clients = 16
	each := count(8000, 1_000_000) / clients
	if raced {
		each /= 4
	}
	var all sync.WaitGroup
	begun := time.Now()
	waits := make([]time.Duration, clients)
	for i := range clients {
		all.Go(func() { waits[i] = p.loop(each) })
	}
	all.Wait()
	if longest := spread(waits).at(1); longest > 5*time.Second+stalled(begun) { // who is stuck waits for 30
		t.Errorf("somebody waited %v", longest)
	} else {
		t.Logf("longest wait %v", longest)
	}
	if a.most.Load() != 1 {
		t.Errorf("most %d", a.most.Load())
	}
	p.awaitIdle()
	if *overTap { // it does not take turns any more to forget who is in TIME_WAIT
		time.Sleep(2 * time.Second)
	}
	p.rests("nobody there", 0.05, time.Second)
}

// loop connects n times, each time to be greeted and to the end, and returns
// the longest wait for a greeting.
func (p *proxy) loop(n int) (longest time.Duration) {
	for range n {
		c, err := p.dial("")
		if err != nil {
			p.t.Error(err)
			return longest
		}
		if c.greeting(patience) == "" {
			p.t.Error("not served")
		}
		longest = max(longest, time.Since(c.at))
		io.Copy(io.Discard, c)
		c.Close()
	}
	return longest
}

// A failed dial is a release: who waits for a member that does not answer is
// tried in turn, and told.
func TestC11FailedDialReleases(t *testing.T) {
	t.Parallel()
	a := blackHole(t)
	p := setup{
		pool:    "connect-timeout=1s,when-down=queue",
		members: []string{a.addr + ",connection-limit=1"},
	}.start(t)
	start := time.Now()
	for _, c := range p.connectMany(3) {
		c.refused(patience)
	}
	between(t, "the last ended", time.Since(start), 3*time.Second, 4*time.Second)
	if got := codes(p.awaitLog(3)); got["SF"] != 3 {
		t.Errorf("codes %v; want SF three times", got)
	}
}

// Each way in which a connection ends serves the waiter at once.
func TestC12EveryExitReleases(t *testing.T) {
	const limit = 3 * time.Second // not over before somebody waits, on a machine that stalls
	idle, half := "idle-timeout="+limit.String(), "half-close-timeout="+limit.String()
	for _, exit := range []struct {
		name    string
		virtual string
		end     func(c *client, v *visit) // ends the holder's connection
		after   time.Duration             // what the exit takes by itself
	}{
		{"client FIN", "", func(c *client, v *visit) { c.CloseWrite(); io.Copy(io.Discard, v); v.end() }, 0},
		{"client reset", "", func(c *client, v *visit) { c.reset() }, 0},
		{"server FIN", "", func(c *client, v *visit) { v.end(); io.Copy(io.Discard, c); c.Close() }, 0},
		{"server reset", "", func(c *client, v *visit) { v.reset() }, 0},
		{"idle timeout", idle, func(*client, *visit) {}, limit},
		{"half-close timeout after client", half, func(c *client, v *visit) { c.CloseWrite() }, limit},
		{"half-close timeout after server", half, func(c *client, v *visit) { v.CloseWrite() }, limit},
	} {
		t.Run(exit.name, func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", nil)
			p := setup{virtual: exit.virtual, members: []string{a.limit(1)}}.start(t)
			c := p.connect()
			v := a.next(patience)
			waiter := p.connect()
			p.awaitDepth(1)
			ended := time.Now()
			exit.end(c, v)
			w := a.next(exit.after + atOnce)
			between(t, "the waiter is served", w.at.Sub(ended), 0, exit.after+100*time.Millisecond)
			c.Close()
			waiter.Close()
			v.end()
			w.end()
		})
	}
}

// The same for dials that fail. The pool's limit is what the waiter waits for;
// it goes to B.
func TestC12FailedDialServesTheNext(t *testing.T) {
	for _, exit := range []struct {
		name   string
		fail   func(a *hole)
		within time.Duration
	}{
		{"timeout", func(*hole) {}, 2900 * time.Millisecond},
		{"refused", (*hole).refuse, 1200 * time.Millisecond}, // when the SYN is sent again, after a second
	} {
		t.Run(exit.name, func(t *testing.T) {
			t.Parallel()
			a, b := blackHole(t), listen(t, "B", hold)
			p := setup{
				loops: 1, // A is asked first
				pool:  "connection-limit=1,connect-timeout=2900ms", members: []string{a.addr, b.addr},
			}.start(t)
			first := p.connect()
			await(t, patience, "a dial to A", func() bool { return p.dialling(a.addr) == 1 })
			second := p.connect()
			p.awaitDepth(1)
			exit.fail(a)
			first.refused(exit.within + atOnce)
			told := time.Now()
			second.served(atOnce)
			between(t, "the waiter is served", time.Since(told), 0, 100*time.Millisecond)
			second.Close()
			if got := codes(p.awaitLog(2)); got["SF"] != 1 {
				t.Errorf("codes %v", got)
			}
		})
	}
}

// Releases are events: no looking again now and then.
func TestC13EventsNoPolling(t *testing.T) {
	a := listen(t, "A", nil)
	p := setup{pool: "queue-time-limit=60s", members: []string{a.limit(1)}}.start(t)
	n := count(500, 1000)
	for _, c := range p.polite(n + 1) {
		c.say("hello\n")
	}
	v := a.next(patience)
	p.awaitDepth(n)
	idle := 0.01
	if *overTap { // who is connecting says so again, and with a proof, asks whether it may speak
		idle = 0.1
	}
	p.rests("nothing happens", idle, 2*time.Second)
	released := untroubled{}
	for range n {
		v.line() // or the reset could overtake the dial
		freed := time.Now()
		v.reset()
		v = a.next(patience)
		released.add(freed, v.at)
	}
	v.reset()
	times := released.spread()
	t.Logf("release to dial: p50 %v, p99 %v", times.at(0.5), times.at(0.99))
	// Who polled would be late by half a period, mostly.
	if p50, p99 := times.at(0.5), times.at(0.99); p50 > 5*time.Millisecond*raceFactor || p99 > 5*time.Millisecond+slack {
		t.Errorf("release to dial: p50 %v, p99 %v", p50, p99)
	}
}
