package dispatch

import "sync/atomic"

// Waiter names a parked connection to its own loop.
type Waiter struct {
	Slot uint32
	Gen  uint32
}

// phase is where a waiter is in its life.
//
//	          grant (home)
//	waiting ----------------> granted   the loop owns the slot, once
//	   |  \
//	   |   `-- refuse (home) -> refused  expired, pushed out, flushed, or no member is up
//	   `------ leave (loop) --> gone     the client left first
//
// The move out of waiting is one compare-and-swap, so exactly one of grant,
// refuse and leave wins (invariant 4). If grant loses, the home still holds
// the tokens and offers them to the next. If grant wins, the slot belongs to
// the loop, which must release it even if its client is gone.
//
// Granted and refused waiters lie in their loop's inbox; only the loop frees
// the record, so its generation can't change while it is in there. The entry
// of a waiter that left stays in its ring or queue until the home meets it.
type phase uint8

const (
	free phase = iota
	waiting
	granted
	grantedProbe
	expired
	noMember
	overflow
	early
	shed
	flushed
	gone
)

// A state word: generation in the upper half, then whether it was granted as
// one persisted, a member plus one, and the phase. While waiting, the member is
// the one whose queue counts the waiter (0: the pool's); when granted, the one
// to dial.
type state uint64

const persistedBit = 1 << 24

func mkState(gen uint32, member uint16, p phase) state {
	return state(gen)<<32 | state(member)<<8 | state(p)
}

func (s state) gen() uint32    { return uint32(s >> 32) }
func (s state) member() uint16 { return uint16(s >> 8) }
func (s state) phase() phase   { return phase(s) }

func (s state) persisted() bool { return s&persistedBit != 0 }

// record is one waiter, in its loop's table.
type record struct {
	state atomic.Uint64
	next  atomic.Uint32 // inbox link: slot plus one

	// Owned by the loop.
	conn    uint32
	virtual VirtualID
}

const (
	tableChunk  = 4096
	tableChunks = 4096 // 16.7 million waiters a loop
)

// table is a loop's waiters. The loop allocates and frees; homes reach records
// by slot. Chunks never move, so a slot is good for as long as it is in use.
type table struct {
	chunks  [tableChunks]atomic.Pointer[[tableChunk]record]
	sources [tableChunks]atomic.Pointer[[tableChunk]address] // nil: nobody of the chunk has one
	used    uint32                                           // slots handed out at least once
	idle    []uint32                                         // freed slots
}

// address is a waiter's source. Homes read it of waiters that may just have
// left; then it may be anybody's, and they can't be granted anyway.
type address struct{ hi, lo atomic.Uint64 }

func (t *table) at(slot uint32) *record {
	return &t.chunks[slot/tableChunk].Load()[slot%tableChunk]
}

// alloc makes a waiting record. ok is false when the table is full.
func (t *table) alloc(conn uint32, v *virtual, sticky Sticky, from Source) (w Waiter, ok bool) {
	slot, ok := t.slot()
	if !ok {
		return w, false
	}
	r := t.at(slot)
	gen := state(r.state.Load()).gen() + 1
	r.conn, r.virtual = conn, v.id
	t.setSource(slot, v, from)
	r.state.Store(uint64(mkState(gen, uint16(sticky), waiting)))
	return Waiter{slot, gen}, true
}

// setSource notes a waiter's address, if that will be asked for.
func (t *table) setSource(slot uint32, v *virtual, from Source) {
	at := &t.sources[slot/tableChunk]
	c := at.Load()
	if c == nil {
		if !v.usesAddr {
			return
		}
		c = new([tableChunk]address)
		at.Store(c)
	}
	c[slot%tableChunk].hi.Store(from.Hi)
	c[slot%tableChunk].lo.Store(from.Lo)
}

func (t *table) source(slot uint32) Source {
	c := t.sources[slot/tableChunk].Load()
	if c == nil {
		return Source{}
	}
	return Source{c[slot%tableChunk].hi.Load(), c[slot%tableChunk].lo.Load()}
}

func (t *table) slot() (uint32, bool) {
	if n := len(t.idle); n > 0 {
		slot := t.idle[n-1]
		t.idle = t.idle[:n-1]
		return slot, true
	}
	if t.used == tableChunk*tableChunks {
		return 0, false
	}
	if t.used%tableChunk == 0 {
		t.chunks[t.used/tableChunk].Store(new([tableChunk]record))
	}
	t.used++
	return t.used - 1, true
}

// release frees the slot; its generation stays, so that entries which still
// name the waiter are seen to be dead.
func (t *table) release(slot uint32) {
	r := t.at(slot)
	r.state.Store(uint64(mkState(state(r.state.Load()).gen(), 0, free)))
	t.idle = append(t.idle, slot)
}

// move tries to bring the waiter named by slot and gen from waiting to to (of
// generation 0: it keeps its own), and returns the state word it had. Won is false if it was not waiting any more.
func (t *table) move(slot, gen uint32, to state) (was state, won bool) {
	r := t.at(slot)
	for {
		was = state(r.state.Load())
		if was.gen() != gen || was.phase() != waiting {
			return was, false
		}
		if r.state.CompareAndSwap(uint64(was), uint64(gen)<<32|uint64(to)) {
			return was, true
		}
	}
}

// alive says whether the waiter is still waiting.
func (t *table) alive(slot, gen uint32) bool {
	s := state(t.at(slot).state.Load())
	return s.gen() == gen && s.phase() == waiting
}

// inbox is a loop's outcomes: a stack linked through the records, pushed by
// any home, taken whole by the loop. No allocation, no pointer, and no ABA
// problem, since nobody pops a single element.
type inbox struct {
	_   [64]byte
	top atomic.Uint32 // slot plus one
	_   [60]byte
}

// push adds a slot. first is true if the inbox was empty, so that the loop
// has to be woken.
func (b *inbox) push(t *table, slot uint32) (first bool) {
	r := t.at(slot)
	for {
		top := b.top.Load()
		r.next.Store(top)
		if b.top.CompareAndSwap(top, slot+1) {
			return top == 0
		}
	}
}
