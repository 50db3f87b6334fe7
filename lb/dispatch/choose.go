package dispatch

import "penstock/lb/method"

// chooser is what a loop, or a home, remembers of a pool to balance it.
type chooser struct {
	turn  method.RoundRobin
	ratio method.Ratio
}

// took tells that the member which any has found got the connection. If the
// connection did not take it after all, nobody's turn is over.
func (c *chooser) took(pl *pool, w *wish, now Tick) {
	if w.member != nil {
		return
	}
	switch pl.mode {
	case InTurn:
		c.turn.Chose(w.at)
		return
	case ByRatio:
		c.ratio.Chose(w.at)
	}
	pl.members[w.at].given.Store(int64(now))
}

// any takes a slot of the member that the pool's method prefers among those
// that have one.
func (t *taking) any(pl *pool, w *wish, next *chooser) (*member, bool) {
	if pl.mode == InTurn && pl.minActive == 0 {
		return t.inTurn(pl.members, w, &next.turn)
	}
	// What was found to have a slot may have lost it to another loop before it
	// could be taken: then there is another one to prefer. But a slot may also
	// lie in another loop's shard, out of reach; then the waiter is parked, and
	// the home sees it: better than another member than the rule says.
	for range len(pl.members) + 1 {
		m, probe, lost := t.preferred(pl, w, next)
		if m != nil {
			return m, probe
		}
		if !lost || !t.words && !t.swept {
			break
		}
	}
	return nil, false
}

// preferred takes a slot of the member that is preferred now. Lost says that
// there was one, but it could not be taken.
func (t *taking) preferred(pl *pool, w *wish, next *chooser) (m *member, probe, lost bool) {
	open := pl.members
	if pl.minActive > 0 {
		open = pl.open(func(m *member) bool { return t.active(m, w) })
	}
	if pl.mode == InTurn {
		m, probe = t.inTurn(open, w, &next.turn)
		return m, probe, len(open) < len(pl.members)
	}
	i := t.best(pl, open, w, next)
	if i < 0 {
		return nil, false, false
	}
	probe, ok := t.one(open[i], false)
	if !ok {
		return nil, false, true
	}
	w.at = i
	return open[i], probe, false
}

// inTurn asks one after the other, beginning behind the one that was last.
func (t *taking) inTurn(open []*member, w *wish, turn *method.RoundRobin) (*member, bool) {
	n := len(open)
	for i, k := turn.First(max(n, 1)), 0; k < n; i, k = i+1, k+1 {
		if i == n {
			i = 0
		}
		m := open[i]
		if w.tried&m.bit() != 0 {
			continue
		}
		if probe, ok := t.one(m, false); ok {
			w.at = i
			return m, probe
		}
	}
	return nil, false
}

// open returns the members that may be chosen: those of the highest priority
// groups that together have min-active-members active ones. A member is active
// if it is up and below its limit (F5 manual, "priority group activation"), so a
// lower group opens before anybody waits.
func (pl *pool) open(active func(*member) bool) []*member {
	n, from := 0, 0
	for _, end := range pl.levels {
		for _, m := range pl.members[from:end] {
			if active(m) {
				n++
			}
		}
		if n >= pl.minActive {
			return pl.members[:end]
		}
		from = end
	}
	return pl.members
}

// active says whether the member could be given a connection as far as its own
// limits go, be the slot in reach or not.
func (t *taking) active(m *member, w *wish) bool {
	return w.tried&m.bit() == 0 && m.eligible(t.now, false) && m.below()
}

// best returns which of the open members the pool's method prefers, of those
// that are active; -1 if none is.
func (t *taking) best(pl *pool, open []*member, w *wish, next *chooser) int {
	switch pl.mode {
	case ByRatio:
		return next.ratio.Next(pl.weights[:len(open)], func(i int) bool { return !t.active(open[i], w) })
	case BySource:
		return bestHash(open, w.source, func(m *member) bool { return t.active(m, w) })
	default:
		return t.leastLoaded(open, w)
	}
}

// bestHash returns which of the members that may be chosen a source hashes to;
// -1 if there is none.
func bestHash(open []*member, from Source, may func(*member) bool) int {
	best, most := -1, method.Score{}
	for i, m := range open {
		if !may(m) {
			continue
		}
		if s := method.ScoreOf(m.key, m.ratio, from.Hi, from.Lo); best < 0 || most.Less(s) {
			best, most = i, s
		}
	}
	return best
}

// leastLoaded counts connections, dials and those who wait for the member.
func (t *taking) leastLoaded(open []*member, w *wish) int {
	best, least := -1, method.Load{}
	for i, m := range open {
		if !t.active(m, w) {
			continue
		}
		l := method.Load{N: m.slots.InUse() + m.depth.Load(), Ratio: m.ratio, Since: m.given.Load()}
		if best < 0 || l.Less(least) {
			best, least = i, l
		}
	}
	return best
}
