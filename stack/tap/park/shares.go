package park

import (
	"penstock/stack/tap/frame"
	"penstock/stack/tap/rows"
)

// sharesLen is how many counters there are of each kind; 256 KiB in all.
const sharesLen = 1 << 15

// Shares counts, for each source prefix (/24 of IPv4, /48 of IPv6), the
// handshakes that may be forged. Its size is fixed, whatever comes.
//
// A prefix has two counters, at places that two salted hashes give, and counts
// as often as the lower one says. Other prefixes may have the same counters, so
// that may be too many, never too few: no prefix ever has more than it may,
// but one that shares each of its counters with others that have much is refused
// before it has its share. With p prefixes at their share that meets one in
// (32,768 / p)^2 of the others.
type Shares struct {
	seeds    [2]uint64
	counters [2][sharesLen]uint32
}

// NewShares returns counters at zero. The seed should be random: who knows it
// can choose prefixes that keep another one out.
func NewShares(seed uint64) *Shares {
	return &Shares{seeds: [2]uint64{rows.Mix(seed + 1), rows.Mix(seed + 0x9e3779b97f4a7c15)}}
}

// Take counts one more of a's prefix, if there are fewer than most.
func (s *Shares) Take(a *frame.Addr, most int) bool {
	x, y := s.of(a)
	if int(min(*x, *y)) >= most {
		return false
	}
	*x++
	*y++
	return true
}

// Give takes back what one Take counted.
func (s *Shares) Give(a *frame.Addr) {
	x, y := s.of(a)
	if *x == 0 || *y == 0 {
		panic("park: a share given back that was not taken")
	}
	*x--
	*y--
}

// Held returns how many a's prefix has, or more (see above).
func (s *Shares) Held(a *frame.Addr) int {
	x, y := s.of(a)
	return int(min(*x, *y))
}

func (s *Shares) of(a *frame.Addr) (x, y *uint32) {
	hi, _ := words(a)
	prefix := hi >> 16 << 16
	if ip, ok := is4(a); ok {
		prefix = uint64(ip>>8)<<16 | 1
	}
	return &s.counters[0][rows.Mix(prefix^s.seeds[0])%sharesLen], &s.counters[1][rows.Mix(prefix^s.seeds[1])%sharesLen]
}
