package rows

import (
	"math/rand/v2"
	"testing"
)

// Buckets with one number in each place stand for chains: whichever way they
// grow and shrink, a hash is looked for where a split or a join has put it.
func TestBuckets(t *testing.T) {
	for _, tenths := range []int{10, 15, 19} {
		var b Buckets
		b.Start(tenths, nil)
		rnd := rand.New(rand.NewPCG(uint64(tenths), 1))
		hashes := make([]uint32, 500)
		where := make([]uint32, len(hashes)) // the bucket each is in
		for i := range hashes {
			hashes[i] = rnd.Uint32()
			where[i] = b.Number(hashes[i])
		}
		move := func(from, to uint32, all bool) {
			for i, w := range where {
				if w == from && (all || b.Number(hashes[i]) == to) {
					where[i] = to
				}
			}
		}
		numbers := map[*uint32]uint32{}
		for k := range b.n {
			numbers[b.at(k)] = k
		}
		used := 0
		check := func() {
			for i, h := range hashes {
				if b.Number(h) != where[i] || b.Of(h) != b.at(where[i]) {
					t.Fatalf("%d buckets: %#x is looked for in %d, and is in %d", b.n, h, b.Number(h), where[i])
				}
			}
		}
		for _, to := range []int{5000, 9000, 100, 7000, 0} {
			for ; used < to; used++ {
				for b.Crowded(used) {
					from, into, k := b.Grow()
					numbers[into] = k
					move(numbers[from], k, false)
				}
			}
			check()
			for ; used > to; used-- {
				for b.Sparse(used) {
					from, into := b.Shrink()
					move(numbers[from], numbers[into], true)
				}
			}
			check()
			b.Trim()
			if most := (int(b.n)/segmentLen+2)*segmentLen*4 + 16*8; b.Bytes() > most {
				t.Errorf("%d bytes for %d buckets, at most %d", b.Bytes(), b.n, most)
			}
		}
		if b.n != segmentLen {
			t.Errorf("%d buckets for nothing", b.n)
		}
	}
}

func TestHash(t *testing.T) {
	a, b := NewSeeds(1), NewSeeds(2)
	addr := [16]byte{10: 0xff, 11: 0xff, 12: 198, 13: 51, 14: 100, 15: 7}
	if a.Hash(&addr, 9) != a.Hash4(198<<24|51<<16|100<<8|7, 9) {
		t.Error("an IPv4 address has two hashes")
	}
	// Each byte and the rest count, and so does the seed.
	for i := range addr {
		other := addr
		other[i] ^= 0x10
		if a.Hash(&other, 9) == a.Hash(&addr, 9) {
			t.Errorf("byte %d does not count", i)
		}
	}
	if a.Hash(&addr, 9) == a.Hash(&addr, 8) || a.Hash(&addr, 9) == b.Hash(&addr, 9) {
		t.Error("the rest does not count, or the seed")
	}
	if a.Hash(&[16]byte{1}, 9) == a.Hash(&[16]byte{1}, 8) || a.Hash(&[16]byte{1}, 9) == b.Hash(&[16]byte{1}, 9) {
		t.Error("the rest does not count, or the seed, with IPv6")
	}
}

// Hashes of addresses in a row fall into buckets as if by chance: the fullest of
// 4,096 with 16,384 in them has no more than 20.
func TestHashSpreads(t *testing.T) {
	s := NewSeeds(3)
	var v4, v6 [4096]int
	for n := range uint32(16_384) {
		v4[s.Hash4(198<<24|n>>4, n&15<<16|3)%4096]++
		a := [16]byte{0: 0x20, 1: 1, 14: byte(n >> 12), 15: byte(n >> 4)}
		v6[s.Hash(&a, n&15<<16|3)%4096]++
	}
	for i := range v4 {
		if v4[i] > 20 || v6[i] > 20 {
			t.Errorf("bucket %d has %d and %d", i, v4[i], v6[i])
		}
	}
}
