package rows

import "unsafe"

// segmentLen is how many buckets are allocated at once, 16 KiB, and the fewest
// there are.
const segmentLen = 4096

// Buckets are the heads of a table's chains, by linear hashing (Litwin, 1980):
// there may be any number of them, not only powers of two. One more is made by
// splitting one chain, the next in turn, and one less by joining two, so that
// the table never has to be hashed anew.
//
// With n buckets, of the lowest bits of a hash as many count as n needs, or one
// less if there is no such bucket yet.
type Buckets struct {
	segments []*[segmentLen]uint32 // nil: given back
	n        uint32                // a multiple of nothing, but at least segmentLen
	mask     uint32                // the bits n-1 needs
	tenths   int                   // how many there should be for ten records
	made     Made
}

// Start makes the first buckets, before anything else. There will be so many for
// ten records: 10 are 4 bytes for each, and finding one means to look at 1.5 in the
// mean; with 19 it is 1.26. made is called as for a Store.
func (b *Buckets) Start(tenths int, made Made) {
	b.tenths, b.made = tenths, made
	b.segments = append(b.segments, b.segment())
	b.n, b.mask = segmentLen, segmentLen-1
}

func (b *Buckets) segment() *[segmentLen]uint32 {
	s := new([segmentLen]uint32)
	b.made.of(unsafe.Pointer(s), unsafe.Sizeof(*s))
	return s
}

// Of returns the head of the chain that a hash belongs to.
func (b *Buckets) Of(hash uint32) *uint32 { return b.at(b.Number(hash)) }

// Number returns which bucket that is.
func (b *Buckets) Number(hash uint32) uint32 {
	if k := hash & b.mask; k < b.n {
		return k
	}
	return hash & (b.mask >> 1)
}

func (b *Buckets) at(k uint32) *uint32 { return &b.segments[k/segmentLen][k%segmentLen] }

// Crowded says whether so many records should have one more bucket: Grow.
func (b *Buckets) Crowded(used int) bool { return used*b.tenths > int(b.n)*10 }

// Sparse says whether so many records should have fewer buckets: Shrink. Four
// times for one record less keep pace, if there should be one for each.
func (b *Buckets) Sparse(used int) bool {
	return b.n > segmentLen && used*b.tenths < int(b.n/4)*10
}

// Grow makes a bucket. Those of from's chain whose Number now says so belong into to.
func (b *Buckets) Grow() (from, to *uint32, number uint32) {
	k := b.n
	if s := int(k / segmentLen); s == len(b.segments) {
		b.segments = append(b.segments, b.segment())
	} else if b.segments[s] == nil {
		b.segments[s] = b.segment()
	}
	b.n++
	if k > b.mask {
		b.mask = b.mask<<1 | 1
	}
	return b.at(k & (b.mask >> 1)), b.at(k), k
}

// Shrink takes the last bucket away, whose chain now belongs into to.
func (b *Buckets) Shrink() (from, to *uint32) {
	b.n--
	from, to = b.at(b.n), b.at(b.n&(b.mask>>1))
	if b.n-1 <= b.mask>>1 {
		b.mask >>= 1
	}
	return from, to
}

// Trim gives back segments that are not in use, but for one.
func (b *Buckets) Trim() {
	for s := int((b.n-1)/segmentLen) + 2; s < len(b.segments); s++ {
		b.segments[s] = nil
	}
}

// Bytes is the memory the buckets hold.
func (b *Buckets) Bytes() int {
	n := cap(b.segments) * int(unsafe.Sizeof(b.segments[0]))
	for _, s := range b.segments {
		if s != nil {
			n += int(unsafe.Sizeof(*s))
		}
	}
	return n
}
