package cases

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// A real client that was parked is connected as soon as it is released, however
// long that took, and its kernel is not misled about the path: it does not take
// the time in the queue for a round trip.
func TestTapReleasedAtOnce(t *testing.T) {
	tapOnly(t)
	spans := []time.Duration{100 * time.Millisecond, 5 * time.Second}
	if *long {
		spans = append(spans, 60*time.Second)
	}
	for _, span := range spans {
		for _, family := range []string{"127.0.0.1", "[::1]"} {
			t.Run(fmt.Sprint(span, " ", family), func(t *testing.T) { t.Parallel(); released(t, family, span) })
		}
	}
}

func released(t *testing.T, family string, span time.Duration) {
	const clients = 20
	a := listenFor(t, family, "A", nil)
	p := setup{
		virtual: "syn-proof=off,listen=" + family + ":0", pool: "queue-time-limit=0", members: []string{a.limit(1)},
	}.start(t)
	v := p.fill(a, 1)[0]
	var parked []*client
	for i := range clients {
		parked = append(parked, p.polite(1)...)
		p.awaitDepth(i + 1)
	}
	time.Sleep(time.Until(parked[0].at.Add(span)))
	connected := untroubled{}
	var rtos spread
	for _, c := range parked {
		if !c.connecting() {
			t.Fatal("connected without a slot")
		}
		freed := time.Now()
		v.reset() // frees the slot with no help of its client
		c.connected(patience)
		connected.add(freed, time.Now())
		v = a.next(patience)
		v.greet()
		await(t, patience, "the greeting is acknowledged", func() bool { return c.info().Bytes_received > 0 })
		rtos = append(rtos, time.Duration(c.info().Rto)*time.Microsecond)
	}
	v.end()
	times := connected.spread()
	t.Logf("parked %v: connected p50 %v, longest %v after release; RTO %v to %v",
		span, times.at(0.5), times.at(1), rtos.at(0), rtos.at(1))
	if p50, longest := times.at(0.5), times.at(1); p50 > 10*time.Millisecond*raceFactor || longest > 10*time.Millisecond+slack {
		t.Errorf("connected p50 %v, longest %v after release", p50, longest)
	}
	// A SYN that a stall holds up looks sent when it was seen, and a first round
	// trip of d makes an RTO of 3 d: of 15 s, were it the time in the queue.
	if rto := rtos.at(1); rto >= 5*time.Second+3*stalledIn(parked[0].at, time.Now()) {
		t.Errorf("RTO %v", rto)
	}
}

// Many short connections, without an error.
func TestTapShortConnections(t *testing.T) {
	tapOnly(t)
	const clients = 8
	a := listen(t, "A", lasting(0))
	p := setup{members: []string{a.limit(4)}}.start(t)
	total := count(8000, 100_000)
	if testing.Short() {
		total = 2000
	}
	start := time.Now()
	var all sync.WaitGroup
	for range clients {
		all.Go(func() { p.loop(total / clients) })
	}
	all.Wait()
	t.Logf("%.0f connections a second", float64(total)/time.Since(start).Seconds())
	if n := a.total.Load(); n != int64(total) || a.most.Load() > 4 {
		t.Errorf("%d served, most %d; want %d and 4", n, a.most.Load(), total)
	}
}

// The same addresses and ports connect again: at once after a reset, from
// whichever side, and after an orderly end.
func TestTapSamePortAgain(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	for name, end := range map[string]func(c *client, v *visit){
		"client resets": func(c *client, v *visit) { c.reset(); v.rest(); v.end() },
		"server resets": func(c *client, v *visit) { v.reset(); c.refused(patience); c.Close() },
		"server closes": func(c *client, v *visit) { v.end(); c.ends(patience); c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", nil)
			p := setup{members: []string{a.limit(1)}}.start(t)
			from := p.link.at(1).String() + ":4000"
			for range 50 {
				var c *client
				await(t, patience, "the kernel lets go of the port", func() (ok bool) {
					var err error
					c, err = p.dial(from)
					return err == nil
				})
				v := a.next(patience)
				between(t, "served", time.Since(c.at), 0, 100*time.Millisecond)
				c.connected(patience)
				end(c, v)
			}
		})
	}
}

// Who gave up and comes again from the same port is one client, not two: it
// stands where it came again.
func TestTapSamePortWhileParked(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	v := p.fill(a, 1)[0]
	from := p.link.at(1).String() + ":4000"
	p.from(from).Close()
	came := func(n int) { // ever: who has closed is missed after 4 s
		t.Helper()
		await(t, patience, itoa(n)+" have come", func() bool { return p.accepted() == n })
	}
	came(2)
	p.polite(1)[0].say("other\n")
	came(3)
	c := p.politeFrom(from)
	c.say("again\n")
	await(t, patience, "it is noticed", func() bool { return p.pool().Abandoned == 1 && p.depth() == 2 })
	for _, want := range []string{"other", "again"} {
		v.end()
		v = a.next(atOnce)
		if text, _ := v.line(); text != want {
			t.Errorf("served %q; want %s", text, want)
		}
	}
	v.end()
	a.nobody(20 * time.Millisecond)
}

// Whom nobody serves is refused while connecting, or hears nothing and is
// served when it asks again.
func TestTapWaysToRefuse(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	for _, way := range []string{"reset", "drop"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", nil)
			p := setup{
				virtual: "refuse=" + way, pool: "queue-on-connection-limit=off", members: []string{a.limit(1)},
			}.start(t)
			v := p.fill(a, 1)[0]
			c := p.connect()
			if way == "reset" {
				<-c.late.over
				between(t, "refused", time.Since(c.at), 0, 50*time.Millisecond)
				if _, err := c.Read(make([]byte, 1)); endOf(err) != byReset || c.info().State != closed {
					t.Errorf("refused with %v", err)
				}
				v.end()
				return
			}
			never(t, 300*time.Millisecond, "an answer", func() bool { return !c.connecting() })
			v.end()
			a.next(patience).end() // the SYN comes again after a second
			c.Close()
			await(t, patience, "in use 0", func() bool { return p.inUse() == 0 })
			if n := p.pool().Overflowed; n < 1 { // once for each time it asked
				t.Errorf("overflowed %d", n)
			}
		})
	}
}

// Both families, each on its virtual server.
func TestTapFamilies(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", hold)
	p := setup{members: []string{a.limit(2)}, flags: []string{"-virtual", "six,listen=[::1]:0,pool=p"}}.start(t)
	six := &proxy{t: t, addr: fields(p.awaitLine("virtual=six"))["address"]}
	four := &proxy{t: t, addr: fields(p.awaitLine("virtual=v"))["address"]}
	for _, p := range []*proxy{four, six, four, six} {
		c := p.connect()
		c.served(patience)
		if got := c.RemoteAddr().String(); got != p.addr {
			t.Errorf("connected to %s", got)
		}
		c.Close()
	}
	lines := p.awaitLog(4)
	for _, want := range []string{p.link.at(1).String() + ":", "[" + p.link.at6(1).String() + "]:"} {
		n := 0
		for _, line := range lines {
			if len(line["client"]) > len(want) && line["client"][:len(want)] == want {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%d clients of %s in the log", n, want)
		}
	}
}
