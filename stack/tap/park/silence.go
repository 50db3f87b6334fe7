package park

import "penstock/stack/tap/rows"

// A client that gives up says nothing: it only stops repeating its SYN. Systems
// repeat it, in seconds after the one before:
//
//	Linux      1 1 1 1 1 2 4 8 16 32, then it waits for 64 more
//	before 6.5 1 2 4 8 16 32, then 64
//	macOS      1 1 1 1 1 2 4 8 16 32
//	Windows    1 2, then 4; or 3 6, then 12
//	others     3 6 12 24, then 48
//
// So the next SYN is expected after twice the longest gap so far, and the client
// is taken to be gone when it is overdue by twice that time again: after 6 gaps,
// and one for timers that are late. A SYN that was lost on the way is forgiven
// by this, since the one behind it comes after 6 gaps. As long as there was one
// SYN only, nothing is known of the gaps.
//
// Rejected: half of that, which is enough as long as nothing is lost. But an
// honest client loses its place then by one lost packet, and one that is gone
// costs little: it is found out when its turn comes, by its reset, or after 3 s.
const (
	firstPatience = 4000 // milliseconds; also the least: those who start with 3 s may be late
	gaps          = 7

	trimEvery = 10_000 // milliseconds
)

// patience is how long after its last SYN a client may say nothing.
func (r *Record) patience() int64 {
	return max(firstPatience, gaps*gapUnit*int64(r.gap))
}

// due is when the record becomes silent, in milliseconds like now.
func (r *Record) due(now int64) int64 {
	if r.flags&expected == 0 {
		return rows.Never
	}
	return now - int64(int32(uint32(now)-r.last)) + r.patience()
}

// wait lets the walk come by in time. Needed when a record may be due sooner than
// it was, not when it says something.
func (t *Table) wait(i uint32, r *Record, now int64) {
	t.records.Due(i, r.due(now/ms))
}

// Expect says whether silence of a client means anything. It does from Add on;
// it does not while the client may have got an answer. When it does again, time
// counts from its last SYN as before.
func (t *Table) Expect(i uint32, on bool, now int64) {
	r := t.records.At(i)
	r.flags &^= expected
	if on {
		r.flags |= expected
		t.wait(i, r, now)
	}
}

// Late says whether a client's next SYN is overdue already, though not by enough
// to take it for gone: it was expected after the longest gap so far, or a second.
func (t *Table) Late(i uint32, now int64) bool {
	r := t.records.At(i)
	if r.flags&expected == 0 {
		return false
	}
	return int64(int32(uint32(now/ms)-r.last)) > late(gapUnit*int64(r.gap))
}

// late is after how many milliseconds the SYN behind a gap is overdue.
func late(gap int64) int64 { return max(gap, 1000) * 3 / 2 }

// Silent goes on with a walk through all records, over at most budget of them,
// and calls gone for each client whose next SYN is overdue. It is done when all
// have been looked at; then the next call begins anew.
//
// A row of records is passed over as long as none of it can be due, which costs
// as much as one record. gone may free records, its own and others; one that it
// leaves is told of in the next walk again.
func (t *Table) Silent(now int64, budget int, gone func(i uint32)) (done bool) {
	now /= ms
	done = t.records.Walk(now, budget, func(i uint32) (due int64) {
		if due = t.records.At(i).due(now); due <= now {
			gone(i)
		}
		return due
	})
	if done {
		t.trim(now)
	}
	return done
}

// trim gives back memory that nobody needed for a while.
func (t *Table) trim(now int64) {
	if now-t.trimmed < trimEvery {
		return
	}
	t.trimmed = now
	t.records.Trim()
	t.annex.Trim()
	t.buckets.Trim()
}
