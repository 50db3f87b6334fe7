package persist

import "unsafe"

// sampled is how many segments of a generation are read to count its records.
const sampled = 8

// Len returns how many live records there are: exactly (at rest) in a table
// of a few thousand, and from a sample, to a few percent, in a larger one.
func (t *Table) Len(now Tick) int { return t.count(t.list.Load(), stampOf(now)) }

func (t *Table) count(l *series, stamp uint32) int {
	n := t.countIn(l.newest, stamp, nil)
	for i := range l.older {
		n += t.countIn(l.older[i].generation, stamp, &series{newest: l.newest, older: l.older[:i]})
	}
	return n
}

// countIn counts the live records of g that no newer generation has.
func (t *Table) countIn(g *generation, stamp uint32, newer *series) (n int) {
	all := len(g.segments)
	some := min(all, sampled)
	for i := range some {
		if seg := g.segments[i*all/some].Load(); seg != nil {
			n += t.countSegment(seg, stamp, newer)
		}
	}
	return n * all / some
}

func (t *Table) countSegment(seg *segment, stamp uint32, newer *series) (n int) {
	for i := range seg {
		s := &seg[i]
		if t.live(word(s.word.Load()), stamp, find) == 0 {
			continue
		}
		if newer == nil || !newer.has(s.key.Load()) {
			n++
		}
	}
	return n
}

func (l *series) has(h uint64) bool {
	_, w := l.newest.find(h)
	return w != 0 || l.inOlder(h) != 0
}

// Bytes returns the memory that the table holds.
func (t *Table) Bytes() int {
	l := t.list.Load()
	n := l.newest.bytes()
	for i := range l.older {
		n += l.older[i].bytes()
	}
	return n
}

func (g *generation) bytes() int {
	const pointer = int(unsafe.Sizeof(g))
	return int(unsafe.Sizeof(*g)) + len(g.segments)*pointer + int(g.held.Load())*int(unsafe.Sizeof(segment{}))
}
