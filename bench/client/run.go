package client

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"penstock/bench/sock"
	"penstock/bench/tally"
)

// Events are told by Run while it runs, each once and in this order, from its
// goroutine. Any may be nil.
type Events struct {
	Standing func(n int) // hold: all have sent their request or are lost; n stand
	Counting func()      // the measured time has begun
}

// lead is how long before the first is due the loops begin, so that they are
// ready for it.
const lead = 10 * time.Millisecond

// run is one client at work.
type run struct {
	// Constant while the loops work.
	cfg      Config
	clock    sock.Clock
	begin    int64 // open model: when the schedule begins
	from     int64 // open model: who is due from then on is counted
	loops    []*loop
	opened   latch         // closed: each flow began once; hold: stands or is lost
	finished chan struct{} // closed when all loops have ended

	// Set by the run, read by the loops.
	to       atomic.Int64 // open model: who is due from then on is not begun
	counting atomic.Bool  // closed: what ends now is counted
	stopped  atomic.Bool

	standing atomic.Int64 // hold: connections
}

// latch opens when it was told a number of times.
type latch struct {
	left atomic.Int64
	open chan struct{}
}

func (l *latch) tell() {
	if l.left.Add(-1) == 0 {
		close(l.open)
	}
}

// Run does the work until its end, and tells what became of it. Ended early by
// ctx it returns what it has, and no error. The error tells all mistakes of the
// Config, or what is wrong with this machine.
func Run(ctx context.Context, cfg Config, on Events) (tally.Client, error) {
	r, err := newRun(cfg)
	if err != nil {
		return tally.Client{}, err
	}
	r.start()
	r.reach(ctx)
	before, err := r.sample()
	if ctx.Err() == nil {
		r.told(on)
	}
	r.measure(ctx)
	after, err2 := r.sample()
	r.end(ctx)
	return r.result(before, after), errors.Join(err, err2)
}

func newRun(cfg Config) (*run, error) {
	if err := cfg.complaint(); err != nil {
		return nil, err
	}
	cfg.complete()
	sock.Reserve() // connections may take all that there are
	r := &run{cfg: cfg, clock: sock.NewClock(), finished: make(chan struct{})}
	r.opened.open = make(chan struct{})
	r.opened.left.Store(int64(cfg.Flows))
	for i := range cfg.Loops {
		l, err := newLoop(r, i)
		if err != nil {
			r.discard()
			return nil, err
		}
		r.loops = append(r.loops, l)
	}
	return r, nil
}

// discard closes the loops that were not run.
func (r *run) discard() {
	for _, l := range r.loops {
		l.poll.Close()
	}
}

// start sets the times that are known beforehand, and the loops to work.
func (r *run) start() {
	r.begin = r.clock.Now() + int64(lead)
	r.from = r.begin
	r.to.Store(math.MaxInt64)
	if r.cfg.Total == 0 {
		r.from += int64(r.cfg.Warm)
		r.to.Store(r.from + int64(r.cfg.For))
	}
	r.counting.Store(r.cfg.Total > 0 || r.cfg.Work == Hold)
	var working sync.WaitGroup
	for _, l := range r.loops {
		working.Go(l.work)
	}
	go func() { working.Wait(); close(r.finished) }()
}

// reach waits until the measured time begins.
func (r *run) reach(ctx context.Context) {
	switch {
	case r.cfg.Open():
		r.pause(ctx, r.from, nil)
	case r.cfg.Work == Hold:
		r.pause(ctx, math.MaxInt64, r.opened.open)
	case r.cfg.Total == 0:
		r.pause(ctx, math.MaxInt64, r.opened.open)
		r.pause(ctx, r.clock.Now()+int64(r.cfg.Warm), nil)
		r.counting.Store(true)
	}
}

func (r *run) told(on Events) {
	if r.cfg.Work == Hold && on.Standing != nil {
		on.Standing(int(r.standing.Load()))
	}
	if on.Counting != nil {
		on.Counting()
	}
}

// measure waits until the measured time ends.
func (r *run) measure(ctx context.Context) {
	switch {
	case r.cfg.Work == Hold:
		<-ctx.Done()
	case r.cfg.Total > 0:
		r.pause(ctx, math.MaxInt64, r.finished)
	case r.cfg.Open():
		r.pause(ctx, r.to.Load(), nil)
	default:
		r.pause(ctx, r.clock.Now()+int64(r.cfg.For), nil)
	}
	r.counting.Store(false)
}

// end waits until the loops have ended. Those of the open model end by
// themselves, unless the run is ended early.
func (r *run) end(ctx context.Context) {
	if r.cfg.Open() {
		r.pause(ctx, math.MaxInt64, r.finished)
		r.to.Store(min(r.to.Load(), r.clock.Now()))
	}
	r.stopped.Store(true)
	<-r.finished
}

// pause waits until a time on the run's clock, done, or the end of ctx.
func (r *run) pause(ctx context.Context, until int64, done <-chan struct{}) {
	over := time.NewTimer(time.Duration(until - r.clock.Now()))
	defer over.Stop()
	select {
	case <-over.C:
	case <-done:
	case <-ctx.Done():
	}
}
