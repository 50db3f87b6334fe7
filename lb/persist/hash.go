package persist

// Member names who has a record: a member's number, and the generation of that
// number, since numbers are used again.
type Member struct{ ID, Gen uint16 }

// prefixes cuts addresses down to what counts as one source.
type prefixes struct {
	v4     uint64 // mask for lo of a v4-mapped address
	hi, lo uint64 // masks for all others
}

func prefixesOf(v4bits, v6bits int) prefixes {
	return prefixes{
		v4: ones(32 + v4bits),
		hi: ones(min(v6bits, 64)),
		lo: ones(max(v6bits-64, 0)),
	}
}

// ones has the n highest bits set.
func ones(n int) uint64 { return ^(^uint64(0) >> n) }

func (p *prefixes) cut(hi, lo uint64) (uint64, uint64) {
	if hi == 0 && lo>>32 == 0xffff {
		return 0, lo & p.v4
	}
	return hi & p.hi, lo & p.lo
}

// hash is never 0, which marks an empty slot. Of one hi, different lo never
// collide (but for the 0): so IPv4 addresses don't.
func (t *Table) hash(hi, lo uint64) uint64 {
	hi, lo = t.prefixes.cut(hi, lo)
	h := mix(mix(hi^t.seed) ^ lo)
	if h == 0 {
		return 1
	}
	return h
}

// mix is the finalizer of SplitMix64 (variant 13 of D. Stafford, "Better Bit
// Mixing", 2011): a bijection in which each bit depends on all.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
