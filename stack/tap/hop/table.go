package hop

import (
	"sync/atomic"
	"time"

	"penstock/stack/tap/frame"
)

// Table is the last hops of one queue. One goroutine, the loop's, may call
// Learn, Intern and MAC; To may be called by any.
//
// It has a default hop: the first that was heard, until another one proves to
// be a router and the default does not, or has been silent. Whose last hop is
// not the default is among the others. A host's own addresses are kept even
// while it is the default, so that they are not lost when it no longer is.
type Table struct {
	word   atomic.Uint64          // the default hop, heard, and whether there are others
	others atomic.Pointer[others] // nil: none yet

	// Owned by the loop.
	last  int64        // when the default was heard
	few   []frame.Addr // of the default, while it may be a host
	rival rival
	numbers
}

// Bits of Table.word, above a MAC's.
const (
	heard  = 1 << 48
	mixed  = 1 << 49
	macLow = heard - 1
)

// mostOfHost is how many addresses a host may have; whoever has more is taken
// for a router.
const mostOfHost = 8

// silence is how long the default is not heard when another router takes its
// place.
const silence = int64(3 * time.Second)

// New returns an empty table.
func New() *Table { return &Table{few: make([]frame.Addr, 0, mostOfHost)} }

// To returns where frames for addr go; !ok if nobody was ever heard.
func (t *Table) To(addr *frame.Addr) (mac frame.MAC, ok bool) {
	w := t.word.Load()
	if w&mixed != 0 {
		if e := t.others.Load().find(addr); e != nil {
			return frame.MACOf(e.mac.Load()), true
		}
	}
	return frame.MACOf(w), w&heard != 0
}

// Learn notes that a frame of addr came from mac at the time now, in
// nanoseconds; a time in the past if it is remembered only now. A group address
// is nobody's, and passed over.
func (t *Table) Learn(addr *frame.Addr, mac frame.MAC, now int64) {
	m := mac.Word()
	w := t.word.Load()
	if m == w&macLow {
		t.last = max(t.last, now)
		if w&mixed == 0 && t.router() {
			return
		}
	}
	t.learn(addr, m, w, now)
}

// router says whether the default is one.
func (t *Table) router() bool { return t.few == nil }

func (t *Table) learn(addr *frame.Addr, m, w uint64, now int64) {
	switch {
	case m == 0 || frame.MACOf(m).Group():
	case w&heard == 0:
		t.last = now
		t.word.Store(m | heard)
		t.count(addr)
	case m == w&macLow:
		t.fromDefault(addr, m, w)
	default:
		t.fromOther(addr, m, now)
	}
}

func (t *Table) fromDefault(addr *frame.Addr, m, w uint64) {
	known := t.router() || !t.count(addr)
	if w&mixed == 0 {
		return
	}
	o := t.others.Load()
	if e := o.find(addr); e != nil {
		e.mac.Store(m)
	} else if !known {
		o.put(addr, m)
	}
}

// count adds to the addresses of the default, until they are too many for a
// host. False if it was known.
func (t *Table) count(addr *frame.Addr) bool {
	for i := range t.few {
		if t.few[i] == *addr {
			return false
		}
	}
	if len(t.few) == mostOfHost {
		t.few = nil
		return false
	}
	t.few = append(t.few, *addr)
	return true
}

func (t *Table) fromOther(addr *frame.Addr, m uint64, now int64) {
	o := t.others.Load()
	if o == nil {
		o = t.mix()
	}
	if e := o.find(addr); e == nil {
		o.put(addr, m)
	} else if e.mac.Load() == m {
		return
	} else {
		e.mac.Store(m)
	}
	if t.rival.news(m) > mostOfHost && (!t.router() || now-t.last >= silence) {
		t.few, t.last, t.rival = nil, now, rival{}
		t.word.Store(m | heard | mixed)
	}
}

// mix begins to keep others.
func (t *Table) mix() *others {
	o := newOthers()
	w := t.word.Load()
	for i := range t.few {
		o.put(&t.few[i], w&macLow)
	}
	t.others.Store(o)
	t.word.Store(w | mixed) // after others: To relies on it
	return o
}

// rival is the hop, other than the default, from which most new addresses come:
// it loses one for each of any other's (Boyer and Moore's vote).
type rival struct {
	mac   uint64
	ahead int
}

// news counts a new address and returns by how many its hop leads.
func (r *rival) news(m uint64) int {
	switch {
	case r.mac == m:
		r.ahead++
	case r.ahead == 0:
		*r = rival{m, 1}
	default:
		r.ahead--
		return 0
	}
	return r.ahead
}
