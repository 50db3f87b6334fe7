package method

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// server is a member as source-hash sees it.
type server struct {
	key   uint64
	ratio uint32
}

// hashed returns the key of the member to which a source goes.
func hashed(servers []server, hi, lo uint64) uint64 {
	var best Score
	key := uint64(0)
	for _, s := range servers {
		if score := ScoreOf(s.key, s.ratio, hi, lo); best.Less(score) {
			best, key = score, s.key
		}
	}
	return key
}

// sources calls f for the addresses of some networks: neighbours, as they come.
func sources(n int, f func(hi, lo uint64)) {
	for i := range uint64(n) {
		switch i % 3 {
		case 0:
			f(0, 0xffff<<32|10<<24|i) // 10.0.0.0/8
		case 1:
			f(0x20010db8<<32|i, 1) // one address of each /64
		case 2:
			f(0x20010db8<<32, i) // all of one /64
		}
	}
}

func TestSourcesAreShared(t *testing.T) {
	const n = 120_000
	for _, servers := range [][]server{
		{{1, 1}, {2, 1}, {3, 1}, {4, 1}},
		{{0, 1}, {1 << 63, 2}, {7, 5}},
		{{10, 1}, {11, 1}, {12, 100}},
		{{10, 65535}, {11, 65535}},
	} {
		count := map[uint64]float64{}
		sources(n, func(hi, lo uint64) { count[hashed(servers, hi, lo)]++ })
		total := 0.0
		for _, s := range servers {
			total += float64(s.ratio)
		}
		chi := 0.0
		for _, s := range servers {
			due := n * float64(s.ratio) / total
			chi += (count[s.key] - due) * (count[s.key] - due) / due
		}
		if chi > 16.3 { // 0.1 % of good hashes have more, with 3 degrees of freedom
			t.Errorf("%v: %v, chi-square %.1f", servers, count, chi)
		}
	}
}

// Who goes where does not change from one program to the next.
func TestSourceHashIsStable(t *testing.T) {
	servers := []server{{101, 1}, {102, 2}, {103, 3}}
	got := ""
	for i := range uint64(24) {
		got += string(rune('a' + hashed(servers, 0, 0xffff<<32|0xc0000200|i) - 101))
	}
	if want := "cacbbabcccbabcaabcbcaabb"; got != want {
		t.Errorf("sources go to %s, want %s", got, want)
	}
}

var drawServers = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) server {
	return server{rapid.Uint64().Draw(t, "key"), rapid.Uint32Range(1, 65535).Draw(t, "ratio")}
}), 1, 8, func(s server) uint64 { return s.key })

// A member that comes, or gets a higher ratio, only takes from others; one
// that goes, or gets a lower one, only gives.
func TestOthersStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		less := drawServers.Draw(t, "servers")
		more := append([]server{}, less...)
		if len(less) > 1 && rapid.Bool().Draw(t, "comes") {
			less = less[1:]
		} else {
			more[0].ratio = less[0].ratio + rapid.Uint32Range(1, 65535).Draw(t, "raise")
		}
		sources(300, func(hi, lo uint64) {
			a, b := hashed(less, hi, lo), hashed(more, hi, lo)
			if a != b && b != more[0].key {
				t.Fatalf("%x %x moves from %x to %x", hi, lo, a, b)
			}
		})
	})
}

// The order of the members in the pool means nothing.
func TestOrderMeansNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := drawServers.Draw(t, "servers")
		other := rapid.Permutation(servers).Draw(t, "other")
		hi, lo := rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo")
		if hashed(servers, hi, lo) != hashed(other, hi, lo) {
			t.Fatal("another member")
		}
	})
}

func TestScoresAreFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := ScoreOf(rapid.Uint64().Draw(t, "key"), rapid.Uint32Range(1, 65535).Draw(t, "ratio"),
			rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo"))
		if !(s.score > 0) || math.IsInf(s.score, 0) || !(Score{}).Less(s) {
			t.Fatalf("%v", s)
		}
	})
	for _, h := range []uint64{0, math.MaxUint64} { // the ends of what u can be
		if u := (float64(h>>12) + 0.5) / (1 << 52); u <= 0 || u >= 1 {
			t.Errorf("u of %x is %v", h, u)
		}
	}
}

func TestChoosingAllocatesNothing(t *testing.T) {
	var r RoundRobin
	less := false
	if n := testing.AllocsPerRun(100, func() {
		r.Chose(r.First(3))
		less = ScoreOf(1, 2, 3, 4).Less(ScoreOf(2, 2, 3, 4)) != less
		less = Load{1, 2, 3}.Less(Load{2, 2, 3}) != less
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkScore(b *testing.B) {
	var best Score
	lo := uint64(0)
	for b.Loop() {
		lo++
		if s := ScoreOf(7, 3, 0, lo); best.Less(s) {
			best = s
		}
	}
}
