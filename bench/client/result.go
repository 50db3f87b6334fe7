package load

import (
	"os"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"penstock/bench/proc"
)

// Result is what a client has seen.
type Result struct {
	Work     Work     `json:"work"`
	Seconds  float64  `json:"seconds"`
	Outcomes Outcomes `json:"outcomes"`
	Bytes    uint64   `json:"bytes"` // received
	Latency  Latency  `json:"latency_us"`
	Cause    string   `json:"cause,omitempty"` // of the first local failure

	// CPU seconds, of the client itself and of the processes watched.
	CPU     float64         `json:"cpu"`
	Watched map[int]float64 `json:"watched,omitempty"`
}

// Latency is of what was served: in Short from the connect to the server's
// end, in Keep from the request to the whole response. In µs.
//
// The loop is closed: a client that waits asks nothing meanwhile, so a stall
// shows once and not for all who would have come. Compare, do not promise.
type Latency struct {
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p999"`
	Max  int64 `json:"max"`
}

// sample is the CPU time used until a moment.
type sample struct {
	at      time.Time
	own     time.Duration
	watched map[int]time.Duration
}

func (r *run) sample() (s sample, err error) {
	s = sample{at: time.Now(), watched: map[int]time.Duration{}}
	if s.own, err = proc.CPU(os.Getpid()); err != nil {
		return s, err
	}
	for _, pid := range r.cfg.Watch {
		if s.watched[pid], err = proc.CPU(pid); err != nil {
			return s, err
		}
	}
	return s, nil
}

// result sums what the loops counted. They must have ended.
func (r *run) result(from, to sample) Result {
	res := Result{
		Work:    r.cfg.Work,
		Seconds: to.at.Sub(from.at).Seconds(),
		CPU:     (to.own - from.own).Seconds(),
		Watched: map[int]float64{},
	}
	for pid := range to.watched {
		res.Watched[pid] = (to.watched[pid] - from.watched[pid]).Seconds()
	}
	latency := newHistogram()
	for _, l := range r.loops {
		res.Outcomes.add(&l.tally.outcomes)
		res.Bytes += l.tally.bytes
		latency.Merge(l.tally.latency)
		if l.tally.cause != nil && res.Cause == "" {
			res.Cause = l.tally.cause.Error()
		}
	}
	res.Latency = summary(latency)
	return res
}

func summary(h *hdrhistogram.Histogram) Latency {
	at := h.ValueAtPercentile
	return Latency{P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: h.Max()}
}
