package route

import (
	"slices"

	"penstock/stack/tap/frame"
)

// add gives a hop a number.
func (t *Table) add(a, from *frame.Addr) (n uint16, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.index.Load().find(a); h != nil { // another loop was here
		return h.number, true
	}
	hops := *t.hops.Load()
	if len(hops) > most {
		return t.replace(a, from)
	}
	h := t.newHop(a, from, len(hops))
	// Readers of the old slice do not look behind its end.
	hops = append(hops, h)
	t.hops.Store(&hops)
	if x := t.index.Load(); x.full(len(hops)) {
		t.index.Store(newIndex(hops, 2*len(hops)))
	} else {
		x.put(h)
	}
	return h.number, true
}

func (t *Table) newHop(a, from *frame.Addr, n int) *hop {
	h := &hop{addr: *a, from: *from, number: uint16(n)}
	h.used.Store(t.now)
	return h
}

// replace gives a hop the number of the one that was of no use for the longest
// time, if that is long enough. With that many hops it takes milliseconds.
func (t *Table) replace(a, from *frame.Addr) (n uint16, ok bool) {
	hops := slices.Clone(*t.hops.Load())
	idle := hops[1]
	for _, h := range hops[1:] {
		if h.used.Load() < idle.used.Load() {
			idle = h
		}
	}
	if t.now-idle.used.Load() < rest {
		return 0, false
	}
	hops[idle.number] = t.newHop(a, from, int(idle.number))
	t.hops.Store(&hops)
	t.index.Store(newIndex(hops, len(hops)))
	return idle.number, true
}
