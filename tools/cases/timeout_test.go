package cases

import (
	"strings"
	"testing"
	"time"
)

// Who waits, waits for the whole queue-time-limit, and is told by a reset.
func TestC23WaitsTheWholeTime(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", hold)
	p := setup{pool: "queue-time-limit=1500", members: []string{a.limit(1)}}.start(t)
	first := p.connect()
	first.served(patience)
	c := p.connect()
	c.refused(patience)
	between(t, "expired", time.Since(c.at), 1500*time.Millisecond, 1650*time.Millisecond)
	line := p.awaitLog(1)[0]
	if line["code"] != "QT" || line["left"] != "expired" {
		t.Errorf("log: %v", line)
	}
	between(t, "wait in the log", line.span("wait"), 1490*time.Millisecond, 1550*time.Millisecond)
	first.Close()
}

// Expired clients are reset on time, and those who find the queue full at once.
func TestExpiredAndOverflowed(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", hold)
	p := setup{pool: "queue-depth-cap=members,queue-time-limit=3500ms", members: []string{a.limit(20)}}.start(t)
	var served []*client
	for range 20 {
		c := p.connect()
		c.served(patience)
		served = append(served, c)
	}
	waiting := p.connectMany(20)
	p.awaitDepth(20)
	for range 20 {
		p.turnedAway()
	}
	for _, c := range waiting {
		c.refused(patience)
		between(t, "expiry", time.Since(c.at), 3500*time.Millisecond, 3600*time.Millisecond)
	}
	if got := codes(p.awaitLog(40)); got["QF"] != 20 || got["QT"] != 20 {
		t.Errorf("codes %v", got)
	}
	for _, c := range served {
		c.Close()
	}
}

// The clocks are separate: waiting is charged to neither the dial nor the
// silence.
func TestC25SeparateClocks(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{
		virtual: "idle-timeout=4s", // a stall is a silence
		pool:    "queue-time-limit=60s,connect-timeout=500ms",
		members: []string{a.limit(1)},
	}.start(t)
	p.polite(1)
	v := a.next(patience)
	c := p.connect()
	p.awaitDepth(1)
	for range 14 { // 4.2 s: more than both other clocks
		time.Sleep(300 * time.Millisecond)
		v.greet()
	}
	v.end()
	v = a.next(atOnce)
	time.Sleep(600 * time.Millisecond) // a silence that is allowed, and longer than a dial
	spoke := time.Now()
	v.greet()
	c.served(atOnce)
	c.refused(patience)
	between(t, "silence ends it", time.Since(spoke), 3950*time.Millisecond, 4150*time.Millisecond)
	if got := codes(p.awaitLog(2)); got["IT"] != 1 {
		t.Errorf("codes %v; want IT once", got)
	}
	v.end()
}

// When all are down is one limit, when all are busy another.
func TestC26DownAndBusy(t *testing.T) {
	const keys = "when-down=queue,when-down-time-limit=1s,queue-time-limit=2500"
	t.Parallel()
	for _, s := range []struct {
		state, code string
		after       time.Duration
	}{
		{"offline", "DN", time.Second},
		{"enabled", "QT", 2500 * time.Millisecond},
	} {
		t.Run(s.state, func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", hold)
			p := setup{pool: keys, members: []string{a.limit(1) + ",state=" + s.state}}.start(t)
			if s.state == "enabled" {
				busy := p.connect()
				busy.served(patience)
			}
			c := p.connect()
			c.refused(patience)
			between(t, "refused", time.Since(c.at), s.after, s.after+100*time.Millisecond)
			if got := codes(p.awaitLog(1)); got[s.code] != 1 {
				t.Errorf("codes %v; want %s", got, s.code)
			}
			p.tidy = false // the busy one is still there
		})
	}
}

// Any byte, either way, starts the idle clock again.
func TestC28AnyByteIsActivity(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{virtual: "idle-timeout=4s", members: []string{a.limit(1)}}.start(t) // a stall is a silence
	c := p.connect()
	v := a.next(patience)
	var spoke time.Time
	for range count(11, 20) {
		time.Sleep(400 * time.Millisecond)
		spoke = time.Now()
		v.greet()
		c.served(atOnce)
	}
	c.refused(patience)
	between(t, "silence ends it", time.Since(spoke), 3950*time.Millisecond, 4150*time.Millisecond)
	v.end()
}

// What has expired is not carried out: served or expired, never both, however
// close the two are.
func TestC30ExpiredIsNeverDialled(t *testing.T) {
	t.Parallel()
	const limit = 200 * time.Millisecond
	a := listen(t, "A", nil)
	p := setup{pool: "queue-time-limit=200", members: []string{a.limit(1)}}.start(t)
	begun, served := time.Now(), 0
	rounds := count(25, 1000)
	for round := range rounds {
		p.polite(1)
		v := a.next(patience)
		c, err := p.dial("")
		if err != nil { // it has expired before the kernel said that it was connected
			if endOf(err) != byReset {
				t.Fatal(err)
			}
			v.end()
			await(t, patience, "in use 0", func() bool { return p.inUse() == 0 })
			continue
		}
		time.Sleep(time.Until(c.at.Add(limit + time.Duration(round%20-15)*100*time.Microsecond)))
		v.end()
		how, text := c.endsServed(a)
		switch {
		case how == byReset && text == "":
		case how == byFIN && text == "A\n":
			served++
		default:
			t.Errorf("%s with %q", how, text)
		}
		await(t, patience, "in use 0", func() bool { return p.inUse() == 0 && p.depth() == 0 })
	}
	if n := int(a.total.Load()); n != rounds+served {
		t.Errorf("%d dials for %d holders and %d served", n, rounds, served)
	}
	crossed := p.crossed(2*rounds, begun)
	if n := p.pool().Expired; n < rounds-served || n > rounds-served+crossed {
		t.Errorf("expired %d; want %d", n, rounds-served)
	}
	t.Logf("%d served, %d expired", served, rounds-served)
}

// endsServed greets and ends the client if it gets to a, and says how the
// client ended.
func (c *client) endsServed(a *server) (how ending, text string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		how, text = c.ends(patience)
		c.Close()
	}()
	for {
		select {
		case v := <-a.came:
			v.greet()
			v.end()
		case <-done:
			return how, text
		}
	}
}

// Each outcome has a code, a counter and a form on the wire.
func TestC24OutcomesToldApart(t *testing.T) {
	t.Parallel()
	t.Run("QF QT", func(t *testing.T) {
		t.Parallel()
		a := listen(t, "A", hold)
		p := setup{pool: "queue-depth-limit=1,queue-time-limit=60s", members: []string{a.limit(1)}}.start(t)
		busy := p.connect()
		busy.served(patience)
		waits := p.connect()
		p.awaitDepth(1)
		p.turnedAway()
		p.ended("QF") // before there is more to write
		p.setPool("queue-time-limit", "100ms")
		waits.refused(patience)
		p.ended("QF", "QT")
		if s := p.pool(); s.Overflowed != 1 || s.Expired != 1 {
			t.Errorf("overflowed %d, expired %d", s.Overflowed, s.Expired)
		}
		busy.Close()
	})
	t.Run("DN", func(t *testing.T) {
		t.Parallel()
		p := setup{pool: "when-down=refuse", members: []string{refusing(t) + ",state=offline"}}.start(t)
		p.turnedAway()
		p.ended("DN")
		if n := p.pool().RefusedNoMember; n != 1 {
			t.Errorf("refusedNoMember %d", n)
		}
	})
	t.Run("SF", func(t *testing.T) {
		t.Parallel()
		p := setup{members: []string{refusing(t)}}.start(t)
		p.turnedAway()
		p.ended("SF")
		if n := p.pool().Members[0].DialFailures; n != 1 {
			t.Errorf("dialFailures %d", n)
		}
	})
	t.Run("SR", func(t *testing.T) {
		t.Parallel()
		a := listen(t, "A", func(v *visit) { v.line(); v.reset() })
		p := setup{members: []string{a.addr}}.start(t)
		c := p.connect()
		c.say("\n")
		c.refused(atOnce)
		p.ended("SR")
	})
}

// ended says with which codes connections have ended, in this order.
func (p *proxy) ended(codes ...string) {
	p.t.Helper()
	for i, line := range p.awaitLog(len(codes)) {
		if i >= len(codes) || line["code"] != codes[i] {
			p.t.Errorf("ended with %v; want %v", line, codes)
		}
	}
}

// refuse= says what a client sees that can't be served.
func TestC24WaysToRefuse(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"close", "http-503"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p := setup{virtual: "refuse=" + way, pool: "when-down=refuse"}.start(t)
			c := p.connect()
			c.say("GET / HTTP/1.1\r\n\r\n")
			how, text := c.ends(patience)
			if how != byFIN || way == "close" && text != "" {
				t.Errorf("%s with %q", how, text)
			}
			if way == "http-503" && (!strings.HasPrefix(text, "HTTP/1.1 503 ") || !strings.Contains(text, "\r\nRetry-After: ")) {
				t.Errorf("%q", text)
			}
			c.Close()
			p.ended("DN")
		})
	}
}
