package persist

import (
	"math"
	"sync/atomic"
)

// mostRecords bounds what a flood of sources can make a table hold: two
// generations of that many, 160 MB.
const mostRecords = 1 << 22

// Table holds the records of one virtual server.
type Table struct {
	// Constant after New.
	prefixes prefixes
	seed     uint64
	most     int64 // keys of one generation

	timeout atomic.Int32           // units
	list    atomic.Pointer[series] // replaced as a whole, by compare-and-swap
}

// New returns an empty table. The seed should be random: who knows it can
// choose sources that share a record. Of an IPv4 address v4bits (0 to 32)
// count, of an IPv6 address v6bits (0 to 128). The timeout is as in SetTimeout.
func New(seed uint64, v4bits, v6bits int, timeout Tick) *Table {
	t := &Table{prefixes: prefixesOf(v4bits, v6bits), seed: mix(seed + 1), most: mostRecords}
	t.SetTimeout(timeout)
	t.list.Store(&series{newest: newGeneration(0, stampOf(0))})
	return t
}

// SetTimeout says how long a record lives after its last use: at least so
// long and at most 100 ms longer if it is a multiple of 100 ms; others are
// rounded up to one, and what is below is 100 ms. Records that are there
// follow, as far as they were not let go under the old timeout.
func (t *Table) SetTimeout(timeout Tick) {
	units := timeout/unit + (timeout%unit+unit-1)/unit
	t.timeout.Store(int32(max(1, min(units, math.MaxInt32/2))))
}

// Find returns who has the source's record, and marks it used; false if there
// is no live one. An IPv4 address comes as v4-mapped: hi 0, lo 0xffff and it.
func (t *Table) Find(now Tick, hi, lo uint64) (Member, bool) {
	return t.ask(now, t.hash(hi, lo), wish{kind: find})
}

// Claim returns who has the source's record, and marks it used. If there is no
// live record, or the member that has it is not usable, it is given to want.
// usable may be asked more than once and must not block.
func (t *Table) Claim(now Tick, hi, lo uint64, want Member, usable func(Member) bool) Member {
	m, _ := t.ask(now, t.hash(hi, lo), wish{kind: claim, want: want, usable: usable})
	return m
}

// Move gives the source's record to another member, if from has it. It says
// whether the record is now with that member.
func (t *Table) Move(now Tick, hi, lo uint64, from, to Member) bool {
	m, ok := t.ask(now, t.hash(hi, lo), wish{kind: move, want: to, from: from})
	return ok && m == to
}

func (t *Table) ask(now Tick, h uint64, w wish) (Member, bool) {
	stamp := stampOf(now)
	got, put := t.settle(stamp, h, &w)
	if put {
		t.drain(stamp)
	}
	return got.member(), got != 0
}

// settle does what is wished, and returns what the record then says, or 0.
// put says that the newest generation has got a key for it.
//
// The word of a key in the newest generation decides who has the record. What
// older ones say is a proposal: it is put into the newest by compare-and-swap
// from 0, as the word of a new record is. So of all who come at once, with
// whatever proposals, one wins, and the others see its word and go by it. Even
// who wants nothing changed (a move that finds the record with somebody else)
// puts the proposal there before it answers.
//
// What can go wrong is that the newest is not the newest any more. Say G1 was
// when a caller read the list, and G2 is in front of it now. Then the caller
// may write into G1 what nobody looks at any more (they found nothing in both,
// and made a record in G2). So each one looks at the list again after its last
// read or write of a word, and if the newest has changed it does everything
// again. It follows, for every answer given:
//
//   - The word was in G1 while G1 was the newest. Whoever works with G2 in
//     front read the list later, looks into G1 as well, and proposes just that
//     word. So G2 begins with what G1 ended with: nobody has got another answer
//     on the way, and the next one goes on from this one.
//   - Words in G1 that change after G2 was put in front were written by those
//     who will do everything again. Others may take them up as a proposal or
//     not; G2's word decides, for the writer too. If one was taken up and the
//     record has gone to a third member since, the writer counts twice: once
//     when it was taken up, and once when it got its answer; and once more for
//     each other generation that came meanwhile.
//   - Of older generations the newest one that has a word counts: it was put
//     there by somebody who had looked at those behind it.
//   - A generation is let go when each word in it that could be live has been
//     carried into a newer one (see drain: carrying is a settle, with all of
//     the above), or is too old (see late). A caller who still has it in its
//     list finds nothing there that it could not have found a moment before.
//
// A caller goes round again only if another one has got something done, so
// somebody always gets on.
func (t *Table) settle(stamp uint32, h uint64, w *wish) (got word, put bool) {
	for {
		l := t.list.Load()
		s, here := l.newest.find(h)
		old := here
		if here == 0 {
			old = l.inOlder(h)
		}
		next := w.next(t.live(old, stamp, w.kind), stamp)
		if next == 0 || next == here {
			if t.list.Load().newest == l.newest {
				return next, put
			}
			continue
		}
		if t.tend(l, stamp) {
			continue
		}
		if s == nil {
			if s = l.newest.place(h); s == nil {
				t.putInFront(l, stamp)
				continue
			}
			put = true
		}
		if s.word.CompareAndSwap(uint64(here), uint64(next)) && t.list.Load().newest == l.newest {
			return next, put
		}
	}
}

// live returns the word, or 0 if the record has expired. What is carried may
// be late: for a loop whose clock is behind it may be live still.
func (t *Table) live(w word, stamp uint32, k kind) word {
	age, most := since(stamp, w.stamp()), t.timeout.Load()
	if k == carry {
		most += late
	}
	if w == 0 || age > most {
		return 0
	}
	return w
}
