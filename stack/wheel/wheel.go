// Package wheel keeps the deadlines of one loop's connections, at most one
// each, in a hierarchical timing wheel (Varghese and Lauck, 1987): starting
// and stopping cost the same few instructions however many there are, and
// time that passes with nothing due costs nothing.
//
// Resolution is a millisecond; a timer fires up to one late, never early. It
// knows no clock: the caller passes the time, and asks Next when to come back.
package wheel

import "math/bits"

const (
	levels   = 4
	slotBits = 8
	slots    = 1 << slotBits

	farthest = 1 << 31 // milliseconds; later deadlines fire then
)

// Wheel holds timers named by small integers from 1. Make one with New.
type Wheel struct {
	now   int64 // milliseconds; all before it has fired
	heads [levels][slots]uint32
	used  [levels][slots / 64]uint64 // a bit for each list that is not empty
	links []*[linkChunk]link
}

const linkChunk = 512

// link is one timer's place. A list is doubly linked and ends with 0.
type link struct {
	next, prev uint32
	at         int64  // milliseconds; 0: not running
	list       uint16 // level*slots + slot
}

const ms = int64(1e6)

// New returns a wheel that starts at the given nanosecond.
func New(now int64) *Wheel { return &Wheel{now: now / ms} }

func (w *Wheel) link(id uint32) *link {
	for int(id/linkChunk) >= len(w.links) {
		w.links = append(w.links, new([linkChunk]link))
	}
	return &w.links[id/linkChunk][id%linkChunk]
}

// Start makes timer id fire at the given nanosecond; a running one is moved.
func (w *Wheel) Start(id uint32, at int64) {
	l := w.link(id)
	if l.at != 0 {
		w.unlink(l)
	}
	l.at = min(max((at+ms-1)/ms, w.now+1), w.now+farthest)
	w.insert(id, l)
}

// Stop stops timer id if it runs.
func (w *Wheel) Stop(id uint32) {
	l := w.link(id)
	if l.at == 0 {
		return
	}
	w.unlink(l)
	l.at = 0
}

// place returns the list for a deadline: the level is the highest digit, to
// base 256, in which it differs from now.
func (w *Wheel) place(at int64) (level, slot int) {
	diff := uint64(at ^ w.now)
	level = min((bits.Len64(diff|1)-1)/slotBits, levels-1)
	return level, int(at>>(level*slotBits)) & (slots - 1)
}

func (w *Wheel) insert(id uint32, l *link) {
	level, slot := w.place(l.at)
	head := &w.heads[level][slot]
	l.prev, l.next, l.list = 0, *head, uint16(level*slots+slot)
	if *head != 0 {
		w.link(*head).prev = id
	}
	*head = id
	w.used[level][slot/64] |= 1 << (slot % 64)
}

func (w *Wheel) unlink(l *link) {
	if l.next != 0 {
		w.link(l.next).prev = l.prev
	}
	if l.prev != 0 {
		w.link(l.prev).next = l.next
		return
	}
	level, slot := l.list/slots, l.list%slots
	w.heads[level][slot] = l.next
	if l.next == 0 {
		w.used[level][slot/64] &^= 1 << (slot % 64)
	}
}

// Next returns the nanosecond at which Advance should be called next: when a
// timer fires, or when a coarser list has to be spread. ok is false if no
// timer runs.
func (w *Wheel) Next() (at int64, ok bool) {
	for level := range levels {
		cur := int(w.now>>(level*slotBits)) & (slots - 1)
		if slot, found := w.nextSlot(level, cur); found {
			base := w.now >> ((level + 1) * slotBits) << ((level + 1) * slotBits)
			if slot <= cur { // only on the last level: a full turn from here
				base += 1 << ((level + 1) * slotBits)
			}
			return (base + int64(slot)<<(level*slotBits)) * ms, true
		}
	}
	return 0, false
}

// nextSlot finds the first list in use behind cur; on the last level, where
// the hand goes round, also before it.
func (w *Wheel) nextSlot(level, cur int) (slot int, found bool) {
	for s := cur + 1; s < slots; s = s/64*64 + 64 {
		if b := w.used[level][s/64] >> (s % 64); b != 0 {
			return s + bits.TrailingZeros64(b), true
		}
	}
	if level < levels-1 {
		return 0, false
	}
	for i, b := range w.used[level] {
		if b != 0 {
			return i*64 + bits.TrailingZeros64(b), true
		}
	}
	return 0, false
}

// Advance moves to now (nanoseconds) and calls fire for each timer that is
// due. fire may start and stop timers, the one that fired included.
func (w *Wheel) Advance(now int64, fire func(id uint32)) {
	for {
		at, ok := w.Next()
		if !ok || at > now {
			break
		}
		w.step(at/ms, fire)
	}
	w.now = max(w.now, now/ms) // no list in use lies in between
}

// step moves the hand to a list that is in use, and fires or spreads it.
func (w *Wheel) step(to int64, fire func(id uint32)) {
	w.now = to
	for level := levels - 1; level >= 0; level-- {
		if to&(1<<(level*slotBits)-1) == 0 { // the hand enters a list here
			w.empty(level, int(to>>(level*slotBits))&(slots-1), fire)
		}
	}
}

// empty puts each timer of a list where it belongs now, which is never the
// same list, and fires those that are due.
func (w *Wheel) empty(level, slot int, fire func(id uint32)) {
	for {
		id := w.heads[level][slot]
		if id == 0 {
			return
		}
		l := w.link(id)
		w.unlink(l)
		if l.at > w.now {
			w.insert(id, l)
			continue
		}
		l.at = 0
		fire(id)
	}
}
