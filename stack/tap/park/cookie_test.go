package park

import (
	"math/rand/v2"
	"testing"

	"penstock/stack/tap/frame"
)

// Values of OpenSSL 3.0 (openssl mac -macopt hexkey:00..0f -macopt size:8
// SIPHASH) of nothing and of the bytes from 0 on; the first is also in the
// reference implementation's table.
func TestSip(t *testing.T) {
	key := [2]uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	all := []uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110, 0x1f1e1d1c1b1a1918}
	for n, want := range map[int]uint64{0: 0x726fdb47dd0e0e31, 1: 0x93f5f5799a932462, 4: 0x7127512f72f27cce} {
		if got := sip(&key, all[:n]...); got != want {
			t.Errorf("%d words: %x, should be %x", n, got, want)
		}
	}
}

var (
	secret = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	noon   = 12 * 60 * minute
)

// echo is what a client sends back: its options and window, not shifted.
func echo(s *Syn, tsval uint32) frame.Options {
	o := frame.Options{WS: -1}
	if s.Options.TS {
		o.TS, o.TSVal, o.TSEcr = true, s.Options.TSVal+3, tsval
	}
	return o
}

// What a client said comes back, in all combinations; without timestamps only
// the MSS does.
func TestCookieKeepsOptions(t *testing.T) {
	c := NewCookie(secret)
	rnd := rand.New(rand.NewPCG(1, 1))
	for n := range uint32(20_000 / slower) {
		k := key4(n)
		if n%2 == 0 {
			k = key6(n)
		}
		s := linux(rnd.Uint32(), rnd.Uint32())
		s.Options.WS, s.Options.SACK, s.Options.TS = int8(rnd.IntN(16)-1), rnd.IntN(2) == 0, rnd.IntN(4) != 0
		s.Options.WS = min(s.Options.WS, 14)
		s.Options.MSS = sizes[rnd.IntN(len(sizes))] + uint16(rnd.IntN(2))
		now := noon + rnd.Int64N(10*minute)
		iss, tsval := c.Issue(&k, &s, now)
		if ago := int32(c.Clock(now) - tsval); ago < 0 || ago > 31 {
			t.Fatalf("timestamp %d ms behind the clock", ago)
		}
		window := uint16(rnd.Uint32())
		got, ok := c.Check(&k, s.Seq, iss, echo(&s, tsval), window, now+rnd.Int64N(minute))
		want := s
		want.Options.TSVal += 3
		want.Options.MSS &^= 1 // all that come back are even
		want.Window = uint16(min(int(window)<<max(0, s.Options.WS), 65535))
		if !s.Options.TS {
			want.Options.WS, want.Options.SACK, want.Options.TSVal, want.Window = -1, false, 0, window
		}
		if !ok || got != want {
			t.Fatalf("%v, %+v, should be %+v", ok, got, want)
		}
	}
}

func TestCookieMSS(t *testing.T) {
	c := NewCookie(secret)
	for mss, want := range map[uint16][2]uint16{
		0: {536, 1220}, 1: {88, 88}, 88: {88, 88}, 535: {88, 88}, 536: {536, 536}, 1219: {536, 536}, 1452: {1440, 1440},
		1460: {1460, 1460}, 8939: {1460, 1460}, 65535: {8940, 8940},
	} {
		for v, k := range []Key{key4(1), key6(1)} {
			s := linux(5, 5)
			s.Options.MSS = mss
			iss, tsval := c.Issue(&k, &s, noon)
			got, ok := c.Check(&k, 5, iss, echo(&s, tsval), 100, noon)
			if !ok || got.Options.MSS != want[v] {
				t.Errorf("MSS %d comes back as %d, should be %d", mss, got.Options.MSS, want[v])
			}
		}
	}
}

// It holds in its minute and the next.
func TestCookieHolds(t *testing.T) {
	c := NewCookie(secret)
	k, s := key4(1), linux(5, 5)
	for _, at := range []int64{0, 1, minute / 2, minute - 1} {
		for _, begin := range []int64{0, noon} {
			now := begin + at
			iss, tsval := c.Issue(&k, &s, now)
			for later, want := range map[int64]bool{
				now: true, now + minute: true, begin + 2*minute - 1: true, begin + 2*minute: false, now + 3*minute: false,
				now - minute: false, now + 1<<16*minute: false,
			} {
				if _, ok := c.Check(&k, 5, iss, echo(&s, tsval), 100, later); ok != want && later >= 0 {
					t.Errorf("issued at %d, checked at %d: %v", now, later, ok)
				}
			}
		}
	}
}

// Change anything that was said, and it fails.
func TestCookieForged(t *testing.T) {
	c := NewCookie(secret)
	for n := range uint32(2000 / slower) {
		k, s := key4(n), linux(n*7, 5)
		iss, tsval := c.Issue(&k, &s, noon)
		type claim struct {
			c        *Cookie
			k        Key
			isn, iss uint32
			o        frame.Options
		}
		for what, forge := range map[string]func(*claim){
			"secret":     func(f *claim) { f.c = NewCookie([16]byte{15: 1}) },
			"address":    func(f *claim) { f.k.Peer[15]++ },
			"family":     func(f *claim) { f.k.Peer[10] = 0 },
			"port":       func(f *claim) { f.k.Port++ },
			"virtual":    func(f *claim) { f.k.Virtual++ },
			"isn":        func(f *claim) { f.isn++ },
			"ack":        func(f *claim) { f.iss += 8 },
			"MSS":        func(f *claim) { f.iss ^= 1 },
			"shift":      func(f *claim) { f.o.TSEcr ^= 1 },
			"SACK":       func(f *claim) { f.o.TSEcr ^= carrySACK },
			"timestamps": func(f *claim) { f.o = frame.Options{WS: -1} },
		} {
			f := claim{c, k, s.Seq, iss, echo(&s, tsval)}
			forge(&f)
			if _, ok := f.c.Check(&f.k, f.isn, f.iss, f.o, 100, noon); ok {
				t.Errorf("client %d: passed with another %s", n, what)
			}
		}
		if _, ok := c.Check(&k, s.Seq, iss, echo(&s, tsval), 100, noon); !ok {
			t.Errorf("client %d: does not pass", n)
		}
	}
}

// A million numbers out of the blue: none passes, but for a chance of 1 in 270.
// The seed is one without.
func TestCookieBlind(t *testing.T) {
	c := NewCookie(secret)
	rnd := rand.New(rand.NewPCG(1, 9))
	for n := range uint32(1_000_000 / slower) {
		k := key4(n % 100)
		o := frame.Options{TS: n%2 == 0, TSVal: rnd.Uint32(), TSEcr: rnd.Uint32(), WS: -1}
		if _, ok := c.Check(&k, rnd.Uint32(), rnd.Uint32(), o, 100, noon); ok {
			t.Fatalf("number %d passed", n)
		}
	}
}

func TestCookieAllocatesNothing(t *testing.T) {
	c := NewCookie(secret)
	k, s := key6(1), linux(5, 5)
	if n := testing.AllocsPerRun(1000, func() {
		iss, tsval := c.Issue(&k, &s, noon)
		c.Check(&k, s.Seq, iss, echo(&s, tsval), 100, noon)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
