package proxy

import (
	"slices"
	"sync/atomic"

	"penstock/lb/dispatch"
)

// Stats is what one loop has seen, by the dispatcher's numbers. Written by
// that loop, read by anyone: the sum over the loops is what people want. The
// lists change while the loops stand still, and a reader may have the last
// one; what they point to is counted on.
type Stats struct {
	virtuals []*VirtualStats
	members  []*MemberStats
}

// VirtualStats counts a virtual server's clients and their bytes. It fills a
// cache line: loops don't share one.
type VirtualStats struct {
	Accepted   atomic.Uint64
	Refused    atomic.Uint64
	BytesUp    atomic.Uint64 // from clients
	BytesDown  atomic.Uint64 // to clients
	BadHeaders atomic.Uint64 // clients that brought no PROXY header, though they have to
	Open       atomic.Int64  // clients there now
	_          [16]byte
}

// MemberStats counts a member's connections and their bytes.
type MemberStats struct {
	Dialled   atomic.Uint64
	BytesUp   atomic.Uint64
	BytesDown atomic.Uint64
	Open      atomic.Int64 // sessions that name it now, dialling ones included
	_         [32]byte
}

// countVirtual makes room for a virtual server.
func (w *worker) countVirtual(id int) {
	if id >= len(w.stats.virtuals) || w.stats.virtuals[id] == nil {
		w.putVirtual(id, new(VirtualStats))
	}
}

// countMember makes room for a member.
func (w *worker) countMember(id int) {
	if id >= len(w.stats.members) || w.stats.members[id] == nil {
		w.putMember(id, new(MemberStats))
	}
}

func (w *worker) putVirtual(id int, v *VirtualStats) {
	s := w.draft()
	s.virtuals = put(s.virtuals, id, v)
}

func (w *worker) putMember(id int, m *MemberStats) {
	s := w.draft()
	s.members = put(s.members, id, m)
}

// draft returns the lists to be changed while the loop stands still: copies,
// since others may be reading the last ones. They are made once for all that
// is changed until publish; one for each member would take as long as there
// are members, squared.
func (w *worker) draft() *Stats {
	if w.shown.Load() == w.stats {
		w.stats = &Stats{slices.Clone(w.stats.virtuals), slices.Clone(w.stats.members)}
	}
	return w.stats
}

// publish shows the lists as they are now to other goroutines.
func (w *worker) publish() {
	if w.shown.Load() != w.stats {
		w.shown.Store(w.stats)
	}
}

// moved books bytes that were passed on.
func (s *Stats) moved(v dispatch.VirtualID, m dispatch.MemberID, up, down uint64) {
	s.virtuals[v].BytesUp.Add(up)
	s.virtuals[v].BytesDown.Add(down)
	s.members[m].BytesUp.Add(up)
	s.members[m].BytesDown.Add(down)
}

// Totals is Stats of one virtual server or member, summed over the loops.
type Totals struct {
	Connections uint64 // accepted, or dialled
	Refused     uint64 // virtual servers only
	BadHeaders  uint64 // virtual servers only
	BytesUp     uint64
	BytesDown   uint64
	Open        int64 // clients, or sessions on the member, now
}

// Plus is the sum of both.
func (t Totals) Plus(o Totals) Totals {
	return Totals{
		t.Connections + o.Connections, t.Refused + o.Refused, t.BadHeaders + o.BadHeaders,
		t.BytesUp + o.BytesUp, t.BytesDown + o.BytesDown, t.Open + o.Open,
	}
}

// VirtualTotals sums up what virtual server v has seen; nothing if there is no
// such.
func (p *Proxy) VirtualTotals(v int) (t Totals) {
	for _, w := range p.workers {
		list := w.shown.Load().virtuals
		if v >= len(list) || list[v] == nil {
			continue
		}
		s := list[v]
		t.Connections += s.Accepted.Load()
		t.Refused += s.Refused.Load()
		t.BadHeaders += s.BadHeaders.Load()
		t.BytesUp += s.BytesUp.Load()
		t.BytesDown += s.BytesDown.Load()
		t.Open += s.Open.Load()
	}
	return t
}

// MemberTotals sums up what member m has seen; nothing if there is no such.
func (p *Proxy) MemberTotals(m int) (t Totals) {
	for _, w := range p.workers {
		list := w.shown.Load().members
		if m >= len(list) || list[m] == nil {
			continue
		}
		s := list[m]
		t.Connections += s.Dialled.Load()
		t.BytesUp += s.BytesUp.Load()
		t.BytesDown += s.BytesDown.Load()
		t.Open += s.Open.Load()
	}
	return t
}
