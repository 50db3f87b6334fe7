package method

import "math"

// Score says how much a source prefers a member, for source-hash: the one with
// the highest score is asked first, then the next highest. The zero Score is
// lower than that of any member.
//
// It is rendezvous hashing ("highest random weight": Thaler and Ravishankar,
// "Using Name-Based Mappings to Increase Hit Rates", IEEE/ACM Transactions on
// Networking 6(1), 1998), weighted as -ratio/ln(u), u being the hash as a
// number between 0 and 1 (Schindelhauer and Schomaker, "Weighted Distributed
// Hash Tables", 2005; Resch, "New Hashing Algorithms for Data Storage", 2015).
// So members get sources exactly in proportion to their ratios; a member that
// comes takes its share from all others and moves nobody else; the sources of
// one that goes are shared by the others in proportion.
//
// Nothing in it is random: every penstock in front of the same members sends a
// source to the same one, after a restart, too. Who controls many addresses can
// therefore choose those that go to one member; limits are there for that.
type Score struct {
	score float64
	hash  uint64 // decides between equals
}

// ScoreOf returns the score of a member for a source address (IPv6, or IPv4 as
// v4-mapped). Its key must not depend on the members beside it: hash its
// address, not its place in the pool. The ratio is 1 to 65535.
func ScoreOf(key uint64, ratio uint32, hi, lo uint64) Score {
	h := mix(mix(mix(key+golden)^hi) ^ lo)
	// 52 bits and a half: neither 0 nor 1, and exact.
	u := (float64(h>>12) + 0.5) / (1 << 52)
	return Score{score: -float64(ratio) / math.Log(u), hash: h}
}

// Less says whether the member of o is preferred.
func (s Score) Less(o Score) bool {
	if s.score != o.score {
		return s.score < o.score
	}
	return s.hash < o.hash
}

const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio

// mix is the finalizer of SplitMix64 (variant 13 of D. Stafford, "Better Bit
// Mixing", 2011): a bijection in which each bit depends on all.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
