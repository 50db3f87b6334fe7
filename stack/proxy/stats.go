package proxy

import (
	"sync/atomic"

	"penstock/lb/dispatch"
)

// Stats is what one loop has seen. Written by that loop, read by anyone: the
// sum over the loops is what people want.
type Stats struct {
	_        [64]byte
	virtuals []VirtualStats
	members  []MemberStats
}

// VirtualStats counts a virtual server's clients and their bytes.
type VirtualStats struct {
	Accepted  atomic.Uint64
	Refused   atomic.Uint64
	BytesUp   atomic.Uint64 // from clients
	BytesDown atomic.Uint64 // to clients
}

// MemberStats counts a member's connections and their bytes.
type MemberStats struct {
	Dialled   atomic.Uint64
	BytesUp   atomic.Uint64
	BytesDown atomic.Uint64
}

func newStats(virtuals, members int) *Stats {
	return &Stats{virtuals: make([]VirtualStats, virtuals), members: make([]MemberStats, members)}
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
	BytesUp     uint64
	BytesDown   uint64
}

// VirtualTotals sums up what virtual server v has seen.
func (p *Proxy) VirtualTotals(v int) (t Totals) {
	for _, w := range p.workers {
		s := &w.stats.virtuals[v]
		t.Connections += s.Accepted.Load()
		t.Refused += s.Refused.Load()
		t.BytesUp += s.BytesUp.Load()
		t.BytesDown += s.BytesDown.Load()
	}
	return t
}

// MemberTotals sums up what member m has seen.
func (p *Proxy) MemberTotals(m int) (t Totals) {
	for _, w := range p.workers {
		s := &w.stats.members[m]
		t.Connections += s.Dialled.Load()
		t.BytesUp += s.BytesUp.Load()
		t.BytesDown += s.BytesDown.Load()
	}
	return t
}
