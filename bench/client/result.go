package client

import (
	"os"
	"time"

	"penstock/bench/proc"
	"penstock/bench/tally"
)

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
func (r *run) result(from, to sample) tally.Client {
	sum := newTally(&r.cfg)
	for _, l := range r.loops {
		sum.Add(&l.tally)
	}
	sum.Seconds = to.at.Sub(from.at).Seconds()
	sum.CPU = (to.own - from.own).Seconds()
	sum.Watched = map[int]float64{}
	for pid := range to.watched {
		sum.Watched[pid] = (to.watched[pid] - from.watched[pid]).Seconds()
	}
	return sum
}

// newTally returns an empty one, with the histograms that there will be.
func newTally(cfg *Config) (t tally.Client) {
	t.Latency, t.Connect = tally.NewHistogram(), tally.NewHistogram()
	if !cfg.Patience.Zero() {
		t.Patience = tally.NewHistogram()
	}
	if cfg.Open() {
		t.Lag = tally.NewHistogram()
	}
	return t
}
