package park

import "penstock/stack/tap/frame"

const (
	ms = int64(1e6) // nanoseconds

	// apart is the least time between two SYNs of a client's own making; what
	// comes sooner was doubled on the way.
	apart = 250 // milliseconds

	gapUnit = 4 // milliseconds of Record.gap, so that it reaches 262 s
)

// Repeat notes a SYN of a record again: the same sequence number. What it says
// now holds: many a system leaves options out after some tries, and will then
// not understand an answer that uses them.
func (t *Table) Repeat(i uint32, s *Syn, hop uint16, now int64) {
	r := t.records.At(i)
	at := uint32(now / ms)
	passed := int32(at - r.last)
	if passed < apart && s.Options.TSVal == r.tsval && s.Options.TS == (r.flags&stamped != 0) {
		return // the same segment, doubled: it was sent when the first one came
	}
	if passed >= apart {
		r.gap = max(r.gap, gapOf(passed))
		r.judge(&s.Options, passed)
	}
	r.put(s)
	r.last, r.Hop = at, hop // which only puts off when it is due: see wait
}

func gapOf(passed int32) uint16 { return uint16(min((passed+gapUnit-1)/gapUnit, 1<<16-1)) }

// judge finds out if the client's timestamps count milliseconds, from those of
// two SYNs in a row. Other rates in use are 100, 250 and 500 a second, or a
// million; the room left is for what the network does to the time between the
// two.
//
// One pair that agrees is enough: no other clock gets that near. What was found
// out so stays until two pairs in a row say that the clock is slower. A SYN that
// lay in a queue of ours for long looks like that once, and then like a faster one.
func (r *Record) judge(o *frame.Options, passed int32) {
	if !o.TS || r.flags&stamped == 0 {
		r.flags &^= steady | doubted
		return
	}
	off := int32(o.TSVal-r.tsval) - passed
	room := passed/8 + 50
	switch {
	case off > room:
		r.flags &^= doubted
	case off >= -room:
		r.flags = r.flags&^doubted | steady
	case r.flags&doubted != 0:
		r.flags &^= steady
	default:
		r.flags |= doubted
	}
}

// Heard returns when a record's last SYN came, to the millisecond.
func (t *Table) Heard(i uint32, now int64) int64 {
	return now - int64(int32(uint32(now/ms)-t.records.At(i).last))*ms
}

// Syn returns a record's SYN as the client would send it now. The answer to it
// echoes its timestamp, and the client takes the time since then for the
// network's: so the timestamp of a SYN that waited is brought forward.
//
// Not further than the client's own clock is by now, on no account: it resets an
// answer that echoes the future. If it can't be told how fast that clock goes,
// which takes two SYNs, the timestamp stays as it was.
func (t *Table) Syn(i uint32, now int64) Syn {
	r := t.records.At(i)
	s := r.said()
	if r.flags&steady != 0 {
		s.Options.TSVal += ahead(int32(uint32(now/ms) - r.last))
	}
	return s
}

// ahead says how far a clock of milliseconds has surely gone on: 5 ms less than
// what passed, for clocks that go in steps, and a thousandth less, since a
// clock that is being set right goes up to 500 ppm slower, and ours faster.
func ahead(passed int32) uint32 { return uint32(max(0, passed-5-passed/1000)) }
