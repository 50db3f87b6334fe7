package admin

import (
	"maps"
	"slices"

	"penstock/lb/dispatch"
)

// queue is what there is to say of one queue, or of several as one.
func (r *reader) queue(waiting int64, s *dispatch.QueueStats) connq {
	q := connq{
		Depth: waiting, Serviced: s.Serviced.Load(), AgeMaxMs: msOf(s.AgeMax.Load()),
		AgeEmaMs: msOf(s.AgeEma.Load()), AgeEdmMs: msOf(s.AgeEdm.Load()),
	}
	if head := s.Head.Load(); head != 0 {
		q.AgeHeadMs = msOf(max(int64(r.now)-head, 0))
	}
	return q
}

func outcomesOf(s *dispatch.QueueStats) outcomes {
	return outcomes{
		Expired: s.Expired.Load(), Overflowed: s.Overflowed.Load(), Abandoned: s.Abandoned.Load(),
		Moved: s.Moved.Load(), Requeued: s.Requeued.Load(), RefusedNoMember: s.RefusedNoMember.Load(),
		Early: s.Early.Load(), Shed: s.Shed.Load(), Flushed: s.Flushed.Load(),
	}
}

func waitsOf(s *dispatch.QueueStats) waits {
	return waits{histogramOf(&s.ServedWaits), histogramOf(&s.RefusedWaits), histogramOf(&s.AbandonedWaits)}
}

// histogram counts waits by how long they were. Buckets without any are left
// out.
type (
	histogram struct {
		Count   uint64   `json:"count"`
		SumMs   ms       `json:"sumMs"`
		Buckets []bucket `json:"buckets"`
	}
	bucket struct {
		UpToMs *ms    `json:"upToMs"` // more than the bucket before; null: any time
		Count  uint64 `json:"count"`
	}
)

func histogramOf(w *dispatch.Waits) *histogram {
	count, sum, upTo := w.Snapshot()
	if count == 0 {
		return nil
	}
	h := &histogram{Count: count, SumMs: msOf(int64(sum * 1e9)), Buckets: []bucket{}}
	before := uint64(0)
	for _, bound := range slices.Sorted(maps.Keys(upTo)) {
		if n := upTo[bound] - before; n > 0 {
			limit := msOf(int64(bound * 1e9))
			h.Buckets = append(h.Buckets, bucket{&limit, n})
		}
		before = upTo[bound]
	}
	if n := count - before; n > 0 {
		h.Buckets = append(h.Buckets, bucket{nil, n})
	}
	return h
}
