package cases

import (
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// rudeness is how a client can end it: after connecting, or when it was
// greeted.
var rudeness = []struct {
	name    string
	greeted bool // it is served first
	leave   func(*client)
}{
	{name: "reset", leave: (*client).reset},
	{name: "close", leave: func(c *client) { c.Close() }},
	{name: "request and reset", leave: func(c *client) { c.say("hello\n"); c.reset() }},
	{name: "request and close", leave: func(c *client) { c.say("hello\n"); c.Close() }},
	{name: "half-close and reset", leave: func(c *client) { c.say("hello\n"); c.CloseWrite(); c.reset() }},
	{name: "reset when greeted", greeted: true, leave: (*client).reset},
	{name: "close when greeted", greeted: true, leave: func(c *client) { c.Close() }},
	{name: "half-close and reset when greeted", greeted: true, leave: func(c *client) { c.CloseWrite(); c.reset() }},
}

// Many connections in closed loops, a fifth of them ended rudely: nobody
// waits long, and at the end nobody is there.
func TestRudeClients(t *testing.T) {
	a, b := listen(t, "A", brief), listen(t, "B", brief)
	p := setup{members: []string{a.limit(3), b.limit(3)}}.start(t)
	const clients = 32
	each := count(3000, 20_000) / clients
	begun := time.Now()
	var all sync.WaitGroup
	var mu sync.Mutex
	var waits spread
	for seed := range clients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(seed)))
			for range each {
				if d, served := p.maybeRude(r); served {
					mu.Lock()
					waits = append(waits, d)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d served; waits: p50 %v, p99 %v, longest %v", len(waits), waits.at(0.5), waits.at(0.99), waits.at(1))
	if longest := waits.at(1); longest > 5*time.Second+stalled(begun) { // who is forgotten waits for 30
		t.Errorf("somebody waited %v", longest)
	}
	if n := p.pool().Expired; n != 0 {
		t.Errorf("expired %d", n)
	}
}

// brief answers a request, or an end, and closes.
func brief(v *visit) {
	v.greet()
	time.Sleep(time.Millisecond)
	v.end()
}

// maybeRude connects once and leaves rudely one time in five. It returns how
// long it waited for its greeting, if it was served.
func (p *proxy) maybeRude(r *rand.Rand) (wait time.Duration, served bool) {
	c, err := p.dial("")
	if err != nil {
		p.t.Error(err)
		return 0, false
	}
	defer c.Close()
	way := &rudeness[r.IntN(len(rudeness))]
	rude := r.IntN(5) == 0
	if rude && !way.greeted {
		time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
		way.leave(c)
		return 0, false
	}
	if c.greeting(patience) == "" {
		p.t.Error("not served")
		return 0, false
	}
	wait = time.Since(c.at)
	if rude {
		way.leave(c)
	} else {
		io.Copy(io.Discard, c)
	}
	return wait, true
}

// Nothing is ever opened to a server for clients that left while parked, in
// whichever way.
func TestParkedLeaversAreNeverDialled(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	v := p.fill(a, 1)[0]
	var leavers []*client
	for i := range 60 {
		c := p.connect()
		if i%3 == 2 {
			c.say("request")
		}
		leavers = append(leavers, c)
	}
	p.awaitDepth(60)
	p.polite(1)[0].say("stays\n")
	p.awaitDepth(61)
	for i, c := range leavers {
		if i%3 == 0 && *synProof != "always" { // or there is no window for it
			c.Close() // a bare FIN
		} else {
			c.reset()
		}
	}
	await(t, leaving(), "depth 1", func() bool { return p.depth() == 1 })
	v.end()
	v = a.next(patience)
	if text, _ := v.line(); text != "stays" {
		t.Errorf("served %q", text)
	}
	v.end()
	a.nobody(200 * time.Millisecond)
}

// From the instant in which a server frees a slot to the next dial at that
// server, with few parked and with many: in turns, so that both have the same
// machine.
func TestSlotToDial(t *testing.T) {
	n := count(200, 1000)
	few, many := newHandOvers(t, n+50), newHandOvers(t, count(4000, 15_000))
	for range n {
		few.one()
		many.one()
	}
	f, m := few.end().at(0.5), many.end().at(0.5)
	if f > 2*time.Millisecond*raceFactor || m > 2*time.Millisecond*raceFactor {
		t.Errorf("p50 %v and %v", f, m)
	}
	if m > 2*f+200*time.Microsecond {
		t.Errorf("%v with many parked, %v with few", m, f)
	}
}

// BenchmarkSlotToDial tells the same in figures.
func BenchmarkSlotToDial(b *testing.B) {
	for _, parked := range []int{100, 15_000} {
		b.Run("parked="+itoa(parked), func(b *testing.B) {
			h := newHandOvers(b, parked)
			for range min(parked*9/10, 2000) {
				h.one()
			}
			s := h.end()
			b.ReportMetric(float64(s.at(0.5).Microseconds()), "p50-µs")
			b.ReportMetric(float64(s.at(0.99).Microseconds()), "p99-µs")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// handOvers are measured of a server with one slot. A server's reset frees it
// with no help from its client.
type handOvers struct {
	t       testing.TB
	parked  int
	a       *server
	waiters *crowd
	v       *visit // who has the slot
	times   untroubled
}

func newHandOvers(t testing.TB, parked int) *handOvers {
	t.Helper()
	h := &handOvers{t: t, parked: parked, a: listen(t, "A", nil)}
	p := setup{pool: "queue-time-limit=0", members: []string{h.a.limit(1)}}.start(t)
	h.waiters = newCrowd(t)
	h.waiters.connect(p.addr, parked+1)
	h.v = h.a.next(patience)
	p.awaitDepth(parked)
	return h
}

func (h *handOvers) one() {
	h.t.Helper()
	h.v.line() // it is connected all the way
	freed := time.Now()
	h.v.reset()
	h.v = h.a.next(patience)
	h.times.add(freed, h.v.at)
}

func (h *handOvers) end() spread {
	h.waiters.leave()
	h.v.end()
	times := h.times.spread()
	h.t.Logf("%d parked: slot to dial p50 %v, p90 %v, p99 %v", h.parked, times.at(0.5), times.at(0.9), times.at(0.99))
	return times
}
