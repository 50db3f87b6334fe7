package cases

import (
	"testing"
	"time"

	"penstock/bench/wire"
)

// An ACK for which there was no SYN never establishes anything, nor does one
// that does not answer the SYN-ACK that was sent. A cookie can be guessed once in
// 2^28 tries, so with 3000 tries one may be right, but not two.
func TestTapBlindACKs(t *testing.T) {
	tapOnly(t)
	for proof, most := range map[string]int64{"off": 0, "always": 1} {
		t.Run("syn-proof="+proof, func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", hold)
			p := setup{virtual: "syn-proof=" + proof, members: []string{a.limit(10)}}.start(t)
			s := newStranger(t, p)
			for i := range 3000 {
				s.put(s.write(wire.Segment{
					From: s.from(i), Seq: uint32(i) * 0x9e3779b1, Ack: uint32(i) * 0x85ebca6b, Flags: wire.ACK | wire.PSH, Window: 5000,
				}, "request\n"))
			}
			for i := range 10 { // in the middle of a handshake, too
				g := syn(s.from(10_000 + i))
				s.say(g)
				h := s.answered(g)
				for _, off := range []uint32{1, 0xffffffff, 1000, 1 << 31} {
					s.put(s.write(wire.Segment{From: g.From, Seq: g.Seq + 1, Ack: h.Seq + 1 + off, Flags: wire.ACK, Window: 5000}, "request\n"))
				}
			}
			if n := p.metric(`penstock_tap_accepted_total{device="` + p.link.dev + `"}`); n > float64(most) {
				t.Errorf("%v accepted", n)
			}
			if n := a.total.Load(); n > most {
				t.Errorf("%d dials", n)
			}
			await(t, patience, "in use 0", func() bool { return p.inUse() <= int(a.total.Load()) && p.depth() == 0 })
			guessed := a.total.Load()
			c := p.connect()
			c.served(patience)
			c.Close()
			if n := a.total.Load(); n != guessed+1 {
				t.Errorf("%d dials for one client", n-guessed)
			}
			p.tidy = guessed == 0
		})
	}
}

// A guessed cookie parks nobody: not both of two clients, of which each guesses a
// thousand times, as one try in 2^28 is right.
func TestTapGuessedCookies(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{virtual: "syn-proof=always", members: []string{a.limit(1)}}.start(t)
	v := p.fill(a, 1)[0]
	s := newStranger(t, p)
	passed := 0
	for n := range 2 {
		g, right := s.proof(n)
		for i := range 1000 {
			wrong := right
			wrong.Ack += 1 + uint32(i)*0x9e3779b1
			s.say(wrong)
		}
		p.api.get("/metrics")
		if p.depth() != 0 {
			passed++
			s.say(wire.Segment{From: g.From, Seq: g.Seq + 1, Flags: wire.RST})
			p.awaitDepth(0)
		}
	}
	if passed == 2 {
		t.Error("both wait")
	}
	g, right := s.proof(2)
	moved := right
	moved.From = s.from(3) // of somebody else's cookie
	s.say(moved)
	never(t, 50*time.Millisecond, "it waits", func() bool { return p.depth() != 0 })
	s.say(right)
	p.awaitDepth(1)
	s.say(wire.Segment{From: g.From, Seq: g.Seq + 1, Flags: wire.RST})
	p.awaitDepth(0)
	v.end()
	a.nobody(20 * time.Millisecond)
}

// proof is the SYN of a stranger that is asked for a proof, and the right answer.
func (s *stranger) proof(n int) (g, right wire.Segment) {
	s.t.Helper()
	g = syn(s.from(n))
	s.say(g)
	h := s.answered(g)
	if w := s.p.depth(); w != 0 {
		s.t.Errorf("%d wait, and nobody has proven that it hears", w)
	}
	return g, wire.Segment{
		From: g.From, Seq: g.Seq + 1, Ack: h.Seq + 1, Flags: wire.ACK, Window: 500,
		Stamped: true, Stamp: g.Stamp, Echo: h.Stamp,
	}
}

// Only a reset with the right number ends a parked handshake.
func TestTapResetsOutOfSequence(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{virtual: "syn-proof=off", members: []string{a.limit(1)}}.start(t)
	v := p.fill(a, 1)[0]
	s := newStranger(t, p)
	const clients = 20
	there := func(gone int) { // who is still there says so again, or it would be missed
		for k := range clients {
			if k == 0 || k > gone {
				s.say(syn(s.from(k)))
			}
		}
	}
	there(0)
	p.awaitDepth(clients)
	ignored := func() float64 {
		return p.metric(`penstock_tap_resets_ignored_total{device="` + p.link.dev + `"}`)
	}
	for i := range 200 { // the first sends some that are wrong, and none is right
		for _, off := range []uint32{2, 0xffffffff, 64240, 1 << 31, uint32(i) * 0x9e3779b1 &^ 1 << 3} {
			g := syn(s.from(0))
			s.say(wire.Segment{From: g.From, Seq: g.Seq + off | 2*btoi(off <= 1), Flags: wire.RST})
		}
		if i%20 == 19 {
			await(t, patience, "the resets are ignored", func() bool { return ignored() >= float64(5*(i+1)) })
			there(0)
		}
	}
	if n := p.depth(); n != clients {
		t.Errorf("%d wait; want %d", n, clients)
	}
	for i := 1; i < clients; i++ {
		g := syn(s.from(i))
		s.say(wire.Segment{From: g.From, Seq: g.Seq + uint32(i%2), Flags: wire.RST})
		await(t, atOnce, "it has left", func() bool { return p.depth() == clients-i })
		there(i)
	}
	if n := p.pool().Abandoned; n != clients-1 {
		t.Errorf("abandoned %d; want %d", n, clients-1)
	}
	if n := ignored(); n != 1000 {
		t.Errorf("%v resets are ignored; want 1000", n)
	}
	v.end()
	s.answered(syn(s.from(0))) // whom nobody could cancel
}

func btoi(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Who does not answer the SYN-ACK has its slot for 3 s, no longer.
func TestTapBlackHoledClient(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}}.start(t)
	s := newStranger(t, p)
	g := syn(s.from(0))
	granted := time.Now()
	s.say(g)
	s.answered(g)
	c := p.connect() // waits, or comes when all that is over, on a machine that stalls
	v := a.next(patience)
	between(t, "the next is served", time.Since(granted), 2900*time.Millisecond, 3200*time.Millisecond)
	if n := p.metric(`penstock_tap_handshake_timeouts_total{device="` + p.link.dev + `"}`); n != 1 {
		t.Errorf("%v timeouts", n)
	}
	v.end()
	c.Close()
}

// Where no more handshakes can be kept, a SYN is dropped and counted; its
// client asks again, and waits then.
func TestTapTableFull(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{virtual: "syn-proof=off", members: []string{a.limit(1)}, loops: 1, tap: "syn-table=2"}.start(t)
	v := p.fill(a, 1)[0]
	const clients = 5
	p.polite(clients)
	dropped := func() float64 {
		return p.metric(`penstock_tap_syn_drops_total{device="` + p.link.dev + `",reason="full"}`)
	}
	await(t, patience, "three are dropped", func() bool { return dropped() >= 3 }) // they ask each second
	if n := p.depth(); n != 2 {
		t.Errorf("%d wait; want 2", n)
	}
	for range clients {
		v.end()
		v = a.next(patience)
	}
	v.end()
	if n := p.pool().Overflowed; n != 0 {
		t.Errorf("overflowed %d", n)
	}
}
