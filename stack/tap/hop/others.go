package hop

import (
	"hash/maphash"
	"sync/atomic"

	"penstock/stack/tap/frame"
)

// others are the addresses whose last hop is not the default, in sets of eight
// chosen by a keyed hash. A full set loses the one that came first: of as many
// addresses as there is room for about one in seven is lost, of half as many one
// in a hundred.
// The loop writes; readers never wait.
type others struct {
	seed maphash.Seed
	sets [sets]set
}

const (
	sets = 8192
	ways = 8
	// most is how many addresses are kept.
	most = sets * ways
)

// set is eight addresses. A reader looks at the tags first: most often they say
// that the address is not here, and nothing else is touched.
type set struct {
	tags atomic.Uint64 // a byte of each one's hash, never 0
	ways [ways]atomic.Pointer[entry]
	next uint8 // way that is overwritten next; the loop's
}

type entry struct {
	addr frame.Addr // constant
	mac  atomic.Uint64
}

func newOthers() *others { return &others{seed: maphash.MakeSeed()} }

func (o *others) place(addr *frame.Addr) (s *set, tag uint64) {
	h := maphash.Bytes(o.seed, addr[:])
	return &o.sets[h%sets], h>>56 | 1
}

// find returns addr's entry, nil if there is none. Any goroutine.
func (o *others) find(addr *frame.Addr) *entry {
	s, tag := o.place(addr)
	for tags, i := s.tags.Load(), 0; tags != 0; tags, i = tags>>8, i+1 {
		if tags&0xff != tag {
			continue
		}
		// A way may have been overwritten since: then it is another address.
		if e := s.ways[i].Load(); e != nil && e.addr == *addr {
			return e
		}
	}
	return nil
}

// put adds an address that is not there. Loop only.
func (o *others) put(addr *frame.Addr, mac uint64) {
	s, tag := o.place(addr)
	e := &entry{addr: *addr}
	e.mac.Store(mac)
	i := s.next % ways
	s.next = i + 1
	s.ways[i].Store(e)
	shift := 8 * i
	s.tags.Store(s.tags.Load()&^(0xff<<shift) | tag<<shift)
}
