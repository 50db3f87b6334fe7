package dispatch

import (
	"slices"

	"penstock/lb/method"
)

// The twin's rules of balancing, slow ramp and persistence.

// limit is the member's limit now: less while it ramps up.
func (t *twin) limit(m MemberID) int64 {
	tm := t.members[m]
	slow, age := t.pools[tm.Pool].SlowRamp, t.now-tm.rampFrom
	if tm.rampFrom == 0 || slow == 0 || tm.Limit == 0 || age >= slow {
		return tm.Limit
	}
	return max(1, (tm.Limit*int64(age)+int64(slow)-1)/int64(slow))
}

// endRamps forgets the ramps that have come to their end, or can't be.
func (t *twin) endRamps() {
	for i, m := range t.members {
		if m != nil && !m.removed && t.limit(MemberID(i)) == m.Limit {
			m.rampFrom = 0
		}
	}
}

// choice is which members a client for any of them may be given now: by the
// priority groups and the pool's method, as far as that leaves no choice.
func (t *twin) choice(p PoolID, tried uint64, from Source) (of []MemberID) {
	active := func(m MemberID) bool { return !t.avoided(m, tried) && t.eligible(m, false) && t.roomAt(m) }
	for _, m := range t.open(p, active) {
		if active(m) {
			of = append(of, m)
		}
	}
	if len(of) == 0 {
		return nil
	}
	switch t.pools[p].Mode {
	case LeastConnections:
		return []MemberID{slices.MinFunc(of, t.lessLoaded)}
	case BySource:
		return []MemberID{t.best(of, from)}
	}
	return of
}

// open are the members of the priority groups that are open: so many, from the
// highest down, that enough of them are active.
func (t *twin) open(p PoolID, active func(MemberID) bool) (open []MemberID) {
	all := t.membersOf(p)
	if t.pools[p].MinActive == 0 {
		return all
	}
	priorities := []uint16{}
	for _, m := range all {
		priorities = append(priorities, t.members[m].Priority)
	}
	slices.Sort(priorities)
	n := 0
	for _, priority := range slices.Backward(slices.Compact(priorities)) {
		for _, m := range all {
			if t.members[m].Priority == priority {
				open = append(open, m)
				if active(m) {
					n++
				}
			}
		}
		if n >= t.pools[p].MinActive {
			break
		}
	}
	return open
}

// lessLoaded compares connections and waiters, weighted; then who got its last
// one longer ago.
func (t *twin) lessLoaded(a, b MemberID) int {
	ma, mb := t.members[a], t.members[b]
	x := (ma.use + t.waiting(ma.Pool, Sticky(a)+1)) * int64(max(mb.Ratio, 1))
	y := (mb.use + t.waiting(mb.Pool, Sticky(b)+1)) * int64(max(ma.Ratio, 1))
	switch {
	case x != y:
		return int(x - y)
	case ma.given != mb.given:
		return int(ma.given - mb.given)
	}
	return 0 // MinFunc takes the first
}

// best is the member that the source hashes to.
func (t *twin) best(of []MemberID, from Source) MemberID {
	score := func(m MemberID) method.Score {
		return method.ScoreOf(t.members[m].Key, max(t.members[m].Ratio, 1), from.Hi, from.Lo)
	}
	best := of[0]
	for _, m := range of {
		if score(best).Less(score(m)) {
			best = m
		}
	}
	return best
}

// record returns the source's record, if the member it names may be used.
func (t *twin) record(v VirtualID, from Source) Sticky {
	tv := t.virtuals[v]
	if !tv.Persist.on() || from == unknown {
		return 0
	}
	m := tv.records[tv.Persist.of(from)]
	id := slices.Index(t.members, m)
	if m == nil || id < 0 || m.Pool != tv.Pool || t.state(MemberID(id)) == Offline {
		return 0
	}
	return Sticky(id) + 1
}

// memberFor is whom a newcomer has to wait for.
func (t *twin) memberFor(v VirtualID, from Source) Sticky {
	tv, p := t.virtuals[v], t.poolOf(v)
	switch {
	case tv.Persist.on():
		return t.record(v, from)
	case p.Mode == BySource && p.PersistWait > 0 && from != unknown:
		open := slices.DeleteFunc(t.open(tv.Pool, t.isUp), func(m MemberID) bool { return !t.isUp(m) })
		if len(open) > 0 {
			return Sticky(t.best(open, from)) + 1
		}
	}
	return 0
}

// remember makes m the member of the source, unless it has one it stays with.
func (t *twin) remember(v VirtualID, from Source, m MemberID, leaves bool) {
	if tv := t.virtuals[v]; tv.Persist.on() && from != unknown && (leaves || t.record(v, from) == 0) {
		key := tv.Persist.of(from)
		tv.had[key] = append(tv.had[key], tv.records[key])
		tv.records[key] = t.members[m]
	}
}

// said says whether the source's record says m, or has a moment ago.
func (t *twin) said(v VirtualID, from Source, m Sticky) bool {
	tv, tm := t.virtuals[v], t.members[m-1]
	key := tv.Persist.of(from)
	return tm != nil && (tv.records[key] == tm || slices.Contains(tv.had[key], tm))
}

// wants is whom a waiter waits for, and whether that is its record's word: it
// has made its way to that member's queue only when it gets to the head of its
// own.
func (t *twin) wants(w *twinWaiter) (s Sticky, byRecord bool) {
	if w.sticky != 0 || w.waived || t.waitedLong(w) {
		return w.sticky, false
	}
	s = t.record(w.virtual, w.a.Source)
	return s, s != 0
}

// waitedLong says whether it has waited long enough for a single member.
func (t *twin) waitedLong(w *twinWaiter) bool {
	long := t.poolOf(w.virtual).PersistWait
	return long > 0 && w.a.Since+long <= t.now
}

// moveLate moves those to the pool's queue whose time at their member is over.
func (t *twin) moveLate() {
	for _, w := range t.waiters {
		if w.sticky != 0 && t.waitedLong(w) && !t.overdue(w) {
			t.move(w)
			w.waived = true
		}
	}
}

// moveStranded moves those persisted to a member that takes nobody.
func (t *twin) moveStranded() {
	for _, w := range t.waiters {
		if w.sticky != 0 && t.state(MemberID(w.sticky-1)) == Offline && !t.overdue(w) && !t.poolOf(w.virtual).paused {
			t.move(w)
		}
	}
}

func (t *twin) move(w *twinWaiter) {
	if w.in != 0 {
		t.poolOf(w.virtual).seen.moved++
	}
	w.sticky, w.in = 0, 0
}

// next is who must be served next, or was: the oldest with a whole path. Nil if
// nobody has one. Who has got a record while it waited need not have got to
// where that counts.
func (t *twin) next(got map[int]Outcome) (w *twinWaiter, s Sticky) {
	for _, w := range t.waiters {
		s, byRecord := t.wants(w)
		if t.overdue(w) || !t.anyFree(w.virtual, s, w.tried, w.a.Source) {
			continue
		}
		if _, ok := got[w.id]; ok || !byRecord {
			return w, s
		}
	}
	return nil, 0
}
