package persist

import "slices"

// late is how far behind (in units) the clock of one loop may be when another
// one decides by its own that a generation can go. Whether a single record is
// live doesn't depend on it.
const late = 10

// drainStep is how many slots of an older generation are carried over for each
// key that somebody puts into the newest one.
const drainStep = 8

// series is the generations there are. It never changes: a new one takes its
// place.
//
//	        full, or older than            all carried over, or
//	newest  the timeout      ----> older   timeout since then    ----> gone
//
// What is live in an older generation goes over to the newest by its use, and
// slot by slot with each key put there, so that the older one is soon gone.
// Without the latter (records that nobody uses wait for their end where they
// are, and nothing is copied) a growing table holds all the sizes that it had,
// and records that came once lie in tables made for all who come in two
// timeouts: 80 bytes a live record, measured, instead of 58.
type series struct {
	newest *generation
	older  []sealed // newest first
}

type sealed struct {
	*generation
	at uint32 // stamp; no use is noted in it later than that, but by late clocks
	// stays says that it is not carried over: the table is at its most. What is
	// used goes on, what isn't goes with the generation.
	stays bool
}

// inOlder returns the word of a key that is not in the newest generation.
func (l *series) inOlder(h uint64) word {
	for i := range l.older {
		if _, w := l.older[i].find(h); w != 0 {
			return w
		}
	}
	return 0
}

func (l *series) slots() int64 {
	n := l.newest.slots
	for i := range l.older {
		n += l.older[i].slots
	}
	return int64(n)
}

// tend does what is due, and says if the list has changed.
func (t *Table) tend(l *series, stamp uint32) bool {
	age := t.timeout.Load() + late
	switch n := len(l.older); {
	case since(stamp, l.newest.born) > age:
		t.putInFront(l, stamp)
	case n > 0 && since(stamp, l.older[n-1].at) > age:
		t.list.CompareAndSwap(l, &series{newest: l.newest, older: t.kept(l.older, stamp)})
	default:
		return false
	}
	return true
}

// kept returns the generations that can have something live in them.
func (t *Table) kept(older []sealed, stamp uint32) []sealed {
	age := t.timeout.Load() + late
	return slices.DeleteFunc(slices.Clone(older), func(s sealed) bool { return since(stamp, s.at) > age })
}

// putInFront makes a new newest generation. It has room for all live records
// and half as many new ones, and at least for so many new ones that the older
// generations are gone before it is full.
func (t *Table) putInFront(l *series, stamp uint32) {
	live := int64(t.count(l, stamp))
	room := live + max(live/2, l.slots()/drainStep)
	next := &series{newest: newGeneration(min(room, t.most), stamp)}
	next.older = append(next.older, sealed{l.newest, stamp, room > t.most})
	if room <= t.most {
		next.older = append(next.older, t.kept(l.older, stamp)...)
	}
	t.list.CompareAndSwap(l, next)
}

// drain carries a few slots of the oldest generation into the newest. Who has
// carried the last of them takes it out of the list. Until then a slot handed
// out to a slow caller keeps it there.
func (t *Table) drain(stamp uint32) {
	l := t.list.Load()
	n := len(l.older)
	if n == 0 || l.older[n-1].stays {
		return
	}
	g := l.older[n-1].generation
	from := g.drawn.Add(drainStep) - drainStep
	if from >= g.slots {
		return
	}
	if seg := g.segments[from/segmentLen].Load(); seg != nil {
		at := from % segmentLen
		t.carry(seg[at:at+drainStep], stamp)
	}
	if g.dry.Add(drainStep) == g.slots {
		t.letGo(g)
	}
}

func (t *Table) carry(slots []slot, stamp uint32) {
	for i := range slots {
		if w := word(slots[i].word.Load()); t.live(w, stamp, carry) != 0 {
			t.settle(stamp, slots[i].key.Load(), &wish{kind: carry})
		}
	}
}

// letGo takes a generation out of the list.
func (t *Table) letGo(g *generation) {
	for {
		l := t.list.Load()
		i := slices.IndexFunc(l.older, func(s sealed) bool { return s.generation == g })
		if i < 0 {
			return
		}
		older := slices.Delete(slices.Clone(l.older), i, i+1)
		if t.list.CompareAndSwap(l, &series{newest: l.newest, older: older}) {
			return
		}
	}
}
