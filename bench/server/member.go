package server

import (
	"net/netip"
	"sync/atomic"

	"penstock/bench/sock"
	"penstock/bench/tally"
)

// member is one of the server's addresses, over all loops.
type member struct {
	// Constant after Listen.
	address netip.AddrPort
	guard   *guard // nil without a limit; owned by the only loop

	// Added to by the loops, read at any time.
	accepted, open, most    atomic.Int64
	ghosts, resets, starved atomic.Int64
}

// came counts a connection.
func (m *member) came() {
	m.accepted.Add(1)
	n := m.open.Add(1)
	for most := m.most.Load(); n > most && !m.most.CompareAndSwap(most, n); most = m.most.Load() {
	}
}

func (m *member) tally() tally.Member {
	t := tally.Member{
		Address:  m.address.String(),
		Accepted: m.accepted.Load(),
		MaxOpen:  m.most.Load(),
		Open:     m.open.Load(),
		Ghosts:   m.ghosts.Load(),
		Resets:   m.resets.Load(),
		Starved:  m.starved.Load(),
	}
	if g := m.guard; g != nil {
		t.Limit, t.MaxOpen = int64(g.limit), int64(g.most)
		t.Overshoots, t.First = g.overshoots, g.first
	}
	return t
}

// guard sees whether a member is held to its limit. One loop owns it: only
// then is there one order of who came and who went.
//
// Who came first and who went first is asked of the kernel. The proxy may
// close one connection and dial the next, and both are there when the loop
// wakes up, the new one first: connections whose end has come don't count. So
// it can err to the proxy's side only: it does not see a connection above the
// limit if by the time it is accepted another has ended.
//
// An end may be half a close, with the slot still in use: due, if it is set,
// says whether a connection whose client sent its end is not over yet.
type guard struct {
	limit int
	due   func(fd int) bool

	// held are the open connections but those whose end is known; places are
	// where they stand, by descriptor, plus 1. The others are only counted.
	held   []sock.Watched
	places []int32
	ended  int

	most       int // at one time, without those whose end has come
	overshoots int64
	first      []tally.Overshoot

	// freed are the slots that were freed while all were in use, and are not
	// taken again: when, the oldest first. A ring of limit places: all of
	// the slots are in use or freed.
	freed []int64
	head  int
	count int
}

// mostFirst is how many overshoots are kept with their times.
const mostFirst = 100

func newGuard(limit int) *guard { return &guard{limit: limit, freed: make([]int64, limit)} }

// take counts a connection that came at a time, in ns since the server began.
func (g *guard) take(fd int, at int64) error {
	if len(g.held) >= g.limit {
		if err := g.look(); err != nil {
			return err
		}
	}
	n := len(g.held) + 1
	g.most = max(g.most, n)
	if n > g.limit {
		g.overshoots++
		if len(g.first) < mostFirst {
			g.first = append(g.first, tally.Overshoot{At: at, Open: int64(n)})
		}
	}
	for len(g.places) <= fd {
		g.places = append(g.places, 0)
	}
	g.held = append(g.held, sock.Watch(fd))
	g.places[fd] = int32(n)
	return nil
}

// look asks the kernel who has ended. Who has is not asked about again, so
// that a crowd of them doesn't make each look longer.
func (g *guard) look() error {
	n, err := sock.Ends(g.held)
	if n == 0 || err != nil {
		return err
	}
	for i := len(g.held) - 1; i >= 0; i-- { // backwards: the last moves to its place
		if w := g.held[i]; w.Revents != 0 && !g.half(w) {
			g.drop(int(w.Fd))
			g.ended++
		}
	}
	return nil
}

func (g *guard) half(w sock.Watched) bool {
	return g.due != nil && w.Revents&sock.Broken == 0 && g.due(int(w.Fd))
}

// drop takes a connection out of held. It says whether it was there.
func (g *guard) drop(fd int) bool {
	place := g.places[fd]
	if place == 0 {
		return false
	}
	last := len(g.held) - 1
	g.held[place-1] = g.held[last]
	g.places[g.held[last].Fd] = place
	g.places[fd] = 0
	g.held = g.held[:last]
	return true
}

// release takes out a connection that is over.
func (g *guard) release(fd int, now int64) {
	saturated := len(g.held)+g.ended+g.count >= g.limit
	if !g.drop(fd) {
		g.ended--
	}
	if saturated && len(g.held)+g.ended < g.limit {
		g.freed[(g.head+g.count)%g.limit] = now
		g.count++
	}
}

// succeed says when the slot was freed that a new connection takes over, 0 if
// it takes none that is known.
func (g *guard) succeed() (freed int64) {
	if g.count == 0 {
		return 0
	}
	freed = g.freed[g.head]
	g.head = (g.head + 1) % g.limit
	g.count--
	return freed
}
