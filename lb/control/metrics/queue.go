package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"penstock/lb/dispatch"
)

// queueRows are the numbers that F5 has of a queue. Prefix tells a pool's own
// queue from all of its queues.
func queueRows[T any](t *table[T], prefix, whose string, of func(T) queue) {
	t.gauge(prefix+"_depth", "Clients that wait "+whose+".", func(o T) float64 { return float64(of(o).depth) })
	t.gauge(prefix+"_age_head_seconds", "How long the oldest that waits "+whose+" has waited, 0 if nobody waits.",
		func(o T) float64 { return of(o).ageHead() })
	t.gauge(prefix+"_age_max_seconds", "Longest wait of those served that waited "+whose+".",
		func(o T) float64 { return seconds(of(o).stats.AgeMax.Load()) })
	t.gauge(prefix+"_age_ema_seconds", "Exponential moving average of the waits of those served that waited "+whose+".",
		func(o T) float64 { return seconds(of(o).stats.AgeEma.Load()) })
	t.gauge(prefix+"_age_edm_seconds", "Exponentially decaying maximum of the waits of those served that waited "+whose+".",
		func(o T) float64 { return seconds(of(o).stats.AgeEdm.Load()) })
	t.counter(prefix+"_serviced", "Clients that were served after they waited "+whose+".",
		func(o T) float64 { return float64(of(o).stats.Serviced.Load()) })
}

// outcomeRows count how the clients of an object were refused, and what else
// became of those who waited.
func outcomeRows[T any](t *table[T], of func(T) queue) {
	for _, c := range []struct {
		name, help string
		n          func(*dispatch.QueueStats) uint64
	}{
		{"expired", "Clients refused since they waited too long.",
			func(s *dispatch.QueueStats) uint64 { return s.Expired.Load() }},
		{"overflowed", "Clients refused since the queue was full or off.",
			func(s *dispatch.QueueStats) uint64 { return s.Overflowed.Load() }},
		{"abandoned", "Clients that left while they waited.",
			func(s *dispatch.QueueStats) uint64 { return s.Abandoned.Load() }},
		{"moved", "Clients moved from a member's queue to the pool's.",
			func(s *dispatch.QueueStats) uint64 { return s.Moved.Load() }},
		{"requeued", "Clients put back to their place after a dial failed.",
			func(s *dispatch.QueueStats) uint64 { return s.Requeued.Load() }},
		{"refused_no_member", "Clients refused since no member took any.",
			func(s *dispatch.QueueStats) uint64 { return s.RefusedNoMember.Load() }},
		{"early", "Clients refused at once since their turn would have come too late.",
			func(s *dispatch.QueueStats) uint64 { return s.Early.Load() }},
		{"shed", "Clients refused since the queue was slow for too long.",
			func(s *dispatch.QueueStats) uint64 { return s.Shed.Load() }},
		{"flushed", "Clients refused by an operator.",
			func(s *dispatch.QueueStats) uint64 { return s.Flushed.Load() }},
	} {
		t.counter(c.name, c.help, func(o T) float64 { return float64(c.n(of(o).stats)) })
	}
}

// waits is a histogram by how the wait ended.
type waits struct {
	desc *prometheus.Desc
	of   func(*dispatch.QueueStats) *dispatch.Waits
}

// waitsOf are the histograms of a kind of object.
func waitsOf[T any](t *table[T]) (all []waits) {
	add := func(outcome string, of func(*dispatch.QueueStats) *dispatch.Waits) {
		all = append(all, waits{t.desc("wait_seconds", "Waits by how they ended.", []string{"outcome", outcome}), of})
	}
	add("served", func(s *dispatch.QueueStats) *dispatch.Waits { return &s.ServedWaits })
	add("refused", func(s *dispatch.QueueStats) *dispatch.Waits { return &s.RefusedWaits })
	add("abandoned", func(s *dispatch.QueueStats) *dispatch.Waits { return &s.AbandonedWaits })
	return all
}

func collectWaits(ch chan<- prometheus.Metric, all []waits, q queue, labels ...string) {
	for _, w := range all {
		count, sum, upTo := w.of(q.stats).Snapshot()
		ch <- prometheus.MustNewConstHistogram(w.desc, count, sum, upTo, labels...)
	}
}
