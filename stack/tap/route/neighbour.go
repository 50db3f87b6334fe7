package route

import (
	"net/netip"
	"time"

	"penstock/stack/tap/frame"
)

// State is what is known of a hop, for people.
type State uint8

const (
	Asking  State = iota // it is not known yet where it is, or no longer
	Known                // it said so less than 30 s ago
	Stale                // that is longer ago, and it is asked again if it is in use
	Missing              // it does not answer
)

var states = [...]string{"asking", "known", "stale", "missing"}

func (s State) String() string {
	if int(s) < len(states) {
		return states[s]
	}
	return "state?"
}

// Neighbour is a hop for people.
type Neighbour struct {
	Addr  netip.Addr
	MAC   frame.MAC // zero if it is not known
	State State
	Age   time.Duration // since it was heard; 0: never
}

// Neighbours returns all hops in the order of their numbers.
func (t *Table) Neighbours(now int64) []Neighbour {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Neighbour
	for _, h := range (*t.hops.Load())[1:] {
		n := Neighbour{Addr: netip.AddrFrom16(h.addr).Unmap(), State: h.state(now)}
		n.MAC, _ = h.mac()
		if h.heard != 0 {
			n.Age = time.Duration(now - h.heard)
		}
		all = append(all, n)
	}
	return all
}

func (h *hop) state(now int64) State {
	_, ok := h.mac()
	switch {
	case ok && now-h.heard < fresh:
		return Known
	case ok:
		return Stale
	case h.failed(now):
		return Missing
	}
	return Asking
}
