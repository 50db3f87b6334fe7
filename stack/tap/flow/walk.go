package flow

import "penstock/stack/tap/rows"

// Never is when a flow is due that wants nothing.
const Never = rows.Never

const trimEvery = int64(10e9) // nanoseconds

// Due says that a flow wants to be looked at then, or sooner. Needed when that is
// sooner than it was; if it has longer, the walk finds out. A new flow wants
// nothing.
func (t *Table) Due(i uint32, at int64) { t.flows.Due(i, at) }

// Soonest is when some flow is due, or earlier; Never if none will be. It costs as much
// as a walk in which none is.
func (t *Table) Soonest() int64 { return t.flows.Soonest() }

// Walk goes on with a walk through all flows, over at most budget of them, and
// calls look for those that may be due. look says when the flow is due next, or
// Never; it may free flows, its own and others, and its word on one that it
// freed does not count. It is done when all have been looked at; then the next
// call begins anew.
//
// A row of 512 flows is passed over as long as none in it is due, which costs as
// much as one flow; if one is, look is called for all.
func (t *Table) Walk(now int64, budget int, look func(i uint32) (due int64)) (done bool) {
	if !t.flows.Walk(now, budget, look) {
		return false
	}
	if now-t.trimmed >= trimEvery {
		t.trimmed = now
		t.flows.Trim()
		t.annex.Trim()
		for s := range t.by {
			t.by[s].buckets.Trim()
		}
	}
	return true
}
