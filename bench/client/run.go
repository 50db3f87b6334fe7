package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// run is one client at work.
type run struct {
	cfg     Config
	loops   []*loop
	working sync.WaitGroup

	phase atomic.Int32
	held  held
}

// Run does closed-loop work: for a time, or until the total is reached. Ended
// early by ctx it returns what it has, and no error.
func Run(ctx context.Context, cfg Config) (Result, error) {
	r, err := newRun(cfg)
	if err != nil {
		return Result{}, err
	}
	if cfg.Total == 0 {
		r.start(warming)
		pause(ctx, cfg.Warm, nil)
	}
	before, err := r.sample()
	if cfg.Total == 0 {
		r.phase.Store(counting)
		pause(ctx, cfg.For, nil)
	} else {
		r.start(counting)
		pause(ctx, 0, r.finished())
	}
	r.phase.Store(stopped)
	after, err2 := r.sample()
	r.working.Wait()
	if err == nil {
		err = err2
	}
	return r.result(before, after), err
}

// Hold opens cfg.Flows connections and calls ready with the number that stand
// once each is open or lost. It keeps them until ctx is done. Its result counts
// as served what stood to the end.
func Hold(ctx context.Context, cfg Config, ready func(standing int)) (Result, error) {
	cfg.Work = Idle
	r, err := newRun(cfg)
	if err != nil {
		return Result{}, err
	}
	before, err := r.sample()
	r.start(counting)
	if r.settle(ctx) {
		ready(int(r.held.standing.Load()))
		<-ctx.Done()
	}
	r.phase.Store(stopped)
	after, err2 := r.sample()
	r.working.Wait()
	if err == nil {
		err = err2
	}
	return r.result(before, after), err
}

func newRun(cfg Config) (*run, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	r := &run{cfg: cfg}
	for i := range cfg.Loops {
		l, err := newLoop(r, cfg.share(i))
		if err != nil {
			return nil, err
		}
		r.loops = append(r.loops, l)
	}
	return r, nil
}

// share is the part of the numbers that loop i gets.
func (c Config) share(i int) Config {
	part := func(n int) int { return n/c.Loops + (c.Loops-1-i+n%c.Loops)/c.Loops }
	c.Flows, c.Total, c.Rate = part(c.Flows), part(c.Total), part(c.Rate)
	return c
}

func (r *run) start(phase int32) {
	r.phase.Store(phase)
	for _, l := range r.loops {
		r.working.Go(l.run)
	}
}

// finished is closed when all loops have ended.
func (r *run) finished() <-chan struct{} {
	c := make(chan struct{})
	go func() { r.working.Wait(); close(c) }()
	return c
}

// pause waits for a time, if it is not 0, until done or the end of ctx.
func pause(ctx context.Context, d time.Duration, done <-chan struct{}) {
	var over <-chan time.Time
	if d > 0 {
		over = time.After(d)
	} else if done == nil {
		return
	}
	select {
	case <-over:
	case <-done:
	case <-ctx.Done():
	}
}

// settle waits until every connection is open or lost, or ctx is done.
func (r *run) settle(ctx context.Context) bool {
	for r.held.standing.Load()+r.held.lost.Load() < int64(r.cfg.Flows) {
		if pause(ctx, tick, nil); ctx.Err() != nil {
			return false
		}
	}
	return true
}
