package cases

import (
	"testing"
	"time"

	"penstock/bench/wire"
)

// No SYN-ACK without a slot: a client is connected when there is a server for
// it, in that instant and not when it asks again.
func TestC67ConnectedWhenServed(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{virtual: "syn-proof=off", members: []string{a.limit(1)}}.start(t)
	v := p.fill(a, 1)[0]
	s := newStranger(t, p)
	c := p.connect()
	p.awaitDepth(1)
	s.silence(wire.FlowOf(addrPort(c.LocalAddr())), time.Until(c.at.Add(2*time.Second)))
	if !c.connecting() {
		t.Error("connected without a slot")
	}
	freed := time.Now()
	v.end()
	c.connected(patience)
	between(t, "connected", time.Since(freed), 0, 50*time.Millisecond)
	a.next(patience).end()
	c.Close()
}

// SYN, SYN-ACK, reset: the slot is back on the reset, and nothing is left that
// stands in somebody's way.
func TestC68ResetAfterSYNACK(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(10)}}.start(t)
	s := newStranger(t, p)
	for i := range 1000 {
		g := syn(s.from(i))
		s.say(g)
		s.answered(g)
		s.say(wire.Segment{From: g.From, Seq: g.Seq + 1, Flags: wire.RST})
	}
	await(t, time.Second+slack, "in use 0", func() bool { return p.inUse() == 0 && p.depth() == 0 })
	p.fill(a, 1)[0].end()
	if n := a.total.Load(); n != 1 {
		t.Errorf("%d dials for one client", n)
	}
}

// As many may be in mid-handshake as the queue may be deep.
func TestC69ThousandsInMidHandshake(t *testing.T) {
	tapOnly(t)
	const clients, prefixes = 10_000 / raceFactor, 100
	a := listen(t, "A", func(v *visit) { v.line(); v.end() })
	l := newLink(t)
	l.reach()
	l.ip("link set DEV txqueuelen 16384") // they come faster than a busy machine reads them
	if l.arm != nil {
		l.ip("link set ARM txqueuelen 16384")
	}
	p := setup{
		virtual: "syn-proof=off", pool: "queue-time-limit=0,queue-depth-limit=" + itoa(clients),
		members: []string{a.limit(1)}, link: l,
	}.start(t)
	holder := p.connect()
	await(t, patience, "a holder", func() bool { return a.total.Load() == 1 })
	crowd := newCrowd(t)
	came := time.Now()
	crowd.spread(p.addr, clients, prefixes)
	p.awaitDepth(clients)
	// Who is not heard of for 4 s has left, also if it is the proxy that stands still.
	if s := p.pool(); s.Overflowed != 0 || s.Abandoned != 0 && stalledIn(came, time.Now()) < time.Second {
		t.Errorf("overflowed %d, abandoned %d", s.Overflowed, s.Abandoned)
	}
	if n := crowd.answered(); n != 0 {
		t.Errorf("%d are connected", n)
	}
	// As many at once as the machine can serve in a moment: a client that is not
	// heard in time, once it is released, is given up.
	freed := time.Now()
	given := func() int { return int(p.metric(`penstock_tap_handshake_timeouts_total{device="` + l.dev + `"}`)) }
	for n, step := 1, clients/40; n <= clients; {
		begun := time.Now()
		n = min(n+step, clients+1)
		p.setMember(a, "connection-limit", itoa(n))
		await(t, 3*patience, itoa(n)+" are served", func() bool {
			served := int(a.total.Load())
			return served >= n || time.Since(begun) > time.Second && served+given() >= n
		})
		if step *= 2; time.Since(begun) > time.Second/2 {
			step = max(step/8, 10)
		}
	}
	t.Logf("%d released and served in %v, but for %d", clients, time.Since(freed), given())
	if n := given(); n > 0 && stalledIn(freed, time.Now()) < time.Second {
		t.Errorf("%d are given up", n)
	}
	await(t, patience, "all are connected", func() bool { return crowd.answered() >= clients-given() })
	crowd.leave()
	holder.Close()
}

// Frames that are for somebody else, or nonsense, are skipped.
func TestC70ForeignFrames(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", hold)
	p := setup{members: []string{a.limit(1)}}.start(t)
	s := newStranger(t, p)
	g := syn(s.from(0))
	good := s.write(g, "")
	for name, spoil := range map[string]func(b []byte) []byte{
		"another MAC":       func(b []byte) []byte { b[5] ^= 1; return b },
		"a runt":            func(b []byte) []byte { return b[:15] },
		"cut in the IP":     func(b []byte) []byte { return b[:30] },
		"cut in the TCP":    func(b []byte) []byte { return b[:50] },
		"broken TCP sum":    func(b []byte) []byte { b[50] ^= 0x55; return b },
		"broken IP sum":     func(b []byte) []byte { b[24] ^= 0x55; return b },
		"longer than it is": func(b []byte) []byte { b[16], b[17] = 0xff, 0xff; return b },
		"header too long":   func(b []byte) []byte { b[46] |= 0xf0; return b },
		"another type":      func(b []byte) []byte { b[12], b[13] = 0x88, 0xcc; return b },
	} {
		s.put(spoil(append([]byte(nil), good...)))
		if h, ok := s.heard(g.From, 10*time.Millisecond); ok {
			t.Errorf("%s is answered: %+v", name, h)
		}
	}
	if n := p.accepted(); n != 0 {
		t.Errorf("%d clients", n)
	}
	c := p.connect()
	c.served(patience)
	c.Close()
	s.put(good)
	s.answered(g)
	s.say(wire.Segment{From: g.From, Seq: g.Seq + 1, Flags: wire.RST})
}

// Handshakes that are never finished give back slot and memory.
func TestC71NeverFinished(t *testing.T) {
	tapOnly(t)
	const syns = 5000
	a := listen(t, "A", nil)
	p := setup{virtual: "syn-proof=off", members: []string{a.limit(100)}, loops: 1}.start(t)
	s := newStranger(t, p)
	round := func(n int) {
		for i := range syns {
			s.say(syn(s.from(n*syns + i)))
		}
		last := time.Now()
		most := 0
		await(t, patience, "all slots free", func() bool {
			n := p.inUse()
			most = max(most, n)
			return n == 0 && p.depth() == 0
		})
		t.Logf("all free %v after the last; most in use %d; %d kB", time.Since(last), most, p.memory()>>10)
		between(t, "all free", time.Since(last), 0, 7*time.Second) // 4 s of silence, 1 s until it is noticed, and 1 s for who gets a slot meanwhile
		if most > 100 {
			t.Errorf("%d in use", most)
		}
	}
	// It takes some rounds until there is so much garbage that it is collected.
	rounds, most := count(1, 6), int64(count(48<<20, 16<<20))
	for n := range rounds {
		round(n)
	}
	before := p.memory()
	for n := range rounds {
		round(rounds + n)
	}
	if grown := p.memory() - before; grown > most*raceFactor {
		t.Errorf("grew by %d kB", grown>>10)
	}
	if n := a.total.Load(); n != 0 {
		t.Errorf("%d dials", n)
	}
	p.fill(a, 1)[0].end()
}
