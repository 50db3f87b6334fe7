package park

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"penstock/stack/tap/frame"
)

// unshared returns counters of which no two of the test's five prefixes have one in
// common. Of seeds at random one in 1600 is no good.
func unshared(seed uint64) *Shares {
	for ; ; seed++ {
		s, mine := NewShares(seed), map[*uint32]bool{}
		for _, a := range []frame.Addr{source4(0, 0), source4(1, 0), source4(2, 0), source4(3, 0), source6(0, 0)} {
			x, y := s.of(&a)
			mine[x], mine[y] = true, true
		}
		if len(mine) == 2*5 {
			return s
		}
	}
}

func source4(net, host byte) frame.Addr {
	return frame.Addr{10: 0xff, 11: 0xff, 12: 198, 13: 18, 14: net, 15: host}
}

func source6(net, host byte) frame.Addr {
	return frame.Addr{0: 0x20, 10: 0xff, 12: 198, 13: 18, 14: net, 15: host} // one /48 for all
}

// A map is the dumb twin: no prefix ever has more than it may, and where nobody
// else is on a prefix's counters it has just that. In the end all is zero.
func TestSharesAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := unshared(rapid.Uint64().Draw(t, "seed"))
		most := rapid.IntRange(0, 5).Draw(t, "most")
		held := map[string]int{}
		var taken []frame.Addr
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			net, host := rapid.ByteRange(0, 3).Draw(t, "net"), rapid.Byte().Draw(t, "host")
			a := source4(net, host)
			prefix := string(a[:15])
			if rapid.Bool().Draw(t, "v6") {
				a = source6(net, host)
				prefix = string(a[:6])
			}
			if rapid.Bool().Draw(t, "give") && len(taken) > 0 {
				n := rapid.IntRange(0, len(taken)-1).Draw(t, "which")
				a := taken[n]
				s.Give(&a)
				if a[0] == 0 {
					held[string(a[:15])]--
				} else {
					held[string(a[:6])]--
				}
				taken = append(taken[:n], taken[n+1:]...)
				continue
			}
			if ok := s.Take(&a, most); ok != (held[prefix] < most) {
				t.Fatalf("%v: %v with %d of %d", a, ok, held[prefix], most)
			} else if ok {
				held[prefix]++
				taken = append(taken, a)
			}
			if n := s.Held(&a); n != held[prefix] {
				t.Fatalf("%v holds %d, should be %d", a, n, held[prefix])
			}
		}
		for _, a := range taken {
			s.Give(&a)
		}
		if s.counters != [2][sharesLen]uint32{} {
			t.Fatal("counters are not zero when nothing is held")
		}
	})
}

// What counts as one source.
func TestPrefixes(t *testing.T) {
	s := NewShares(1)
	v4 := frame.Addr{10: 0xff, 11: 0xff, 12: 198, 13: 18, 14: 7, 15: 1}
	v6 := frame.Addr{0: 0x20, 1: 1, 5: 9}
	for _, c := range []struct {
		of   frame.Addr
		byte int
		same bool
	}{
		{v4, 15, true}, {v4, 14, false}, {v4, 13, false}, {v4, 12, false},
		{v6, 15, true}, {v6, 8, true}, {v6, 6, true}, {v6, 5, false}, {v6, 0, false},
	} {
		a, b := c.of, c.of
		b[c.byte] ^= 0x80
		s.Take(&a, 1)
		if ok := s.Take(&b, 1); ok == c.same {
			t.Errorf("%v and byte %d: %v", c.of, c.byte, ok)
		} else if ok {
			s.Give(&b)
		}
		s.Give(&a)
	}
	same := frame.Addr{3: 198, 4: 18, 5: 7} // the /48 with the number of that /24
	s.Take(&v4, 1)
	if !s.Take(&same, 1) {
		t.Error("IPv4 and IPv6 share")
	}
	s.Give(&v4)
	s.Give(&same)
	defer func() {
		if recover() == nil {
			t.Error("a share that nobody took can be given back")
		}
	}()
	s.Give(&v4)
}

// Collisions only refuse: with 1,000 prefixes at their share, each has it
// exactly or was refused for others, and hardly anybody else is kept out.
func TestSharesCollide(t *testing.T) {
	const greedy, most, others = 1000, 20, 200_000
	s := NewShares(3)
	rnd := rand.New(rand.NewPCG(3, 3))
	for n := range uint32(greedy) {
		a := addr4(n << 8)
		got := 0
		for range 3 * most {
			if s.Take(&a, most) {
				got++
			}
		}
		if got > most {
			t.Fatalf("prefix %d has %d of %d", n, got, most)
		}
	}
	refused := 0
	for range others {
		a := addr4((greedy + rnd.Uint32N(1<<24-greedy)) << 8)
		if s.Take(&a, most) {
			s.Give(&a)
		} else {
			refused++
		}
	}
	want := others * (greedy * greedy) / (sharesLen * sharesLen)
	t.Logf("%d of %d others refused, %d expected", refused, others, want)
	if refused > 2*want {
		t.Errorf("%d of %d others refused, %d expected", refused, others, want)
	}
}
