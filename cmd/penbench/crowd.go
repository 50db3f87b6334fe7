package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"penstock/bench/proc"
	"penstock/bench/sock"
	"penstock/lb/dispatch"
)

// crowd is a dispatcher with so many clients who wait for it. Its methods that
// measure do so in the order in which measure calls them, each from a crowd at
// rest: cfg.limit slots held, cfg.waiting clients in the queue, nobody between.
type crowd struct {
	cfg   coreConfig
	d     *dispatch.Dispatcher
	lanes []*lane // by loop
	clock sock.Clock
	skew  dispatch.Tick // how far the clock was put forward
}

const (
	// queueTime is longer than anybody waits before that is measured.
	queueTime = dispatch.Tick(time.Hour)
	// collections is how often memory is collected at least while clients are
	// served, two pauses each.
	collections = 50
	// glance is how many clients are let in, or leave, between two looks at
	// whether to end early.
	glance = 4096
)

// measure makes a crowd and takes all figures of it.
func (c coreConfig) measure(ctx context.Context) (figures, error) {
	crowd, f := newCrowd(c), figures{}
	for _, step := range []func(context.Context, figures) error{
		crowd.weigh, crowd.admit, crowd.collect, crowd.expire, crowd.leave, crowd.end,
	} {
		if err := step(ctx, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func newCrowd(cfg coreConfig) *crowd {
	c := &crowd{cfg: cfg, clock: sock.NewClock()}
	c.d = dispatch.New(cfg.topology(), func(int) {}) // nobody sleeps: each loop looks all the time
	for i := range cfg.loops {
		c.lanes = append(c.lanes, newLane(c.d.Loop(i), cfg.rules != rules{}))
	}
	return c
}

// topology is one member with a limit, and a queue before it without one.
func (c coreConfig) topology() dispatch.Config {
	pool := dispatch.PoolConfig{Queue: true, Depth: -1, QueueTime: queueTime}
	virtual := dispatch.VirtualConfig{}
	if c.rules.fair {
		pool.Fair = dispatch.Prefix{V4: 32, V6: 128}
	}
	if c.rules.classes {
		pool.ClassAge = dispatch.Tick(time.Second)
		for class := range 8 {
			first := netip.AddrFrom4([4]byte{10, 0, 0, byte(class * senders / 8)})
			virtual.Classes = append(virtual.Classes, dispatch.ClassRule{Prefix: netip.PrefixFrom(first, 29), Class: uint8(class)})
		}
	}
	return dispatch.Config{
		Loops: c.loops, Seed: 1,
		Virtuals: []dispatch.VirtualConfig{virtual},
		Pools:    []dispatch.PoolConfig{pool},
		Members:  []dispatch.MemberConfig{{Limit: int64(c.limit), Depth: -1}},
		Nodes:    []dispatch.NodeConfig{{}},
	}
}

func (c *crowd) now() dispatch.Tick { return dispatch.Tick(c.clock.Now()) + c.skew }

// lane returns that of the ith client, its clock set.
func (c *crowd) lane(i int) *lane {
	l := c.lanes[i%len(c.lanes)]
	l.now = c.now()
	return l
}

// weigh brings the crowd in and takes what memory it needs: "B/waiter" of the
// heap, and "RSS B/waiter" of what the kernel has given to the process.
func (c *crowd) weigh(ctx context.Context, f figures) error {
	for i := range c.cfg.limit {
		l := c.lane(i)
		v := l.come()
		if v.Kind != dispatch.Proceed {
			return fmt.Errorf("client %d of a limit of %d: %+v, want a slot", i+1, c.cfg.limit, v)
		}
		l.forget()
		l.held = append(l.held, v.Path)
	}
	heap, rss, err := memory()
	if err != nil {
		return err
	}
	if err := c.fill(ctx, func(*lane, dispatch.Waiter) {}); err != nil {
		return err
	}
	heap2, rss2, err := memory()
	f["B/waiter"] = float64(heap2-heap) / float64(c.cfg.waiting)
	f["RSS B/waiter"] = float64(rss2-rss) / float64(c.cfg.waiting)
	return err
}

// memory is what is in use of the heap, and of memory.
func memory() (heap, rss int64, err error) {
	// It collects, and gives back what is free: twice, since what was only kept in
	// reserve, or had to be closed, is freed by the second collection.
	for range 2 {
		debug.FreeOSMemory()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	rss, err = proc.Memory(os.Getpid())
	return int64(m.HeapAlloc), rss, err
}

// fill lets in as many as shall wait. parked gets each one's name.
func (c *crowd) fill(ctx context.Context, parked func(*lane, dispatch.Waiter)) error {
	for i := range c.cfg.waiting {
		if i%glance == 0 && ctx.Err() != nil {
			return interrupted(ctx)
		}
		l := c.lane(i)
		v := l.come()
		if v.Kind != dispatch.Wait {
			return fmt.Errorf("client %d: %+v, want it to wait", i+1, v)
		}
		parked(l, v.Waiter)
		l.settle()
	}
	return c.rest(c.cfg.waiting)
}

// admit takes "admissions/s": an overloaded proxy's steady state. A slot is
// given back, the oldest gets it, and one more comes to the end of the queue.
func (c *crowd) admit(ctx context.Context, f figures) error {
	served, allocs, took := int64(0), uint64(0), time.Duration(0)
	for _, long := range []time.Duration{c.cfg.steady / 5, c.cfg.steady} { // to warm up, then to count
		before := mallocs()
		n, d, err := c.serve(ctx, func(ctx context.Context) { wait(ctx, long) })
		if err != nil {
			return err
		}
		served, took, allocs = n, d, mallocs()-before
	}
	f["admissions/s"] = float64(served) / took.Seconds()
	f["allocs/admission"] = float64(allocs) / float64(max(served, 1))
	return nil
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// collect forces collections while clients are served. The tables of those who
// wait have no pointers, so a million cost the collector no more than a
// thousand: "GC pause p99 µs" is of what stops all loops, "GC cycle ms" the
// median from the beginning of a collection to its end.
func (c *crowd) collect(ctx context.Context, f figures) error {
	var cycles []float64
	before := pauses()
	_, _, err := c.serve(ctx, func(ctx context.Context) {
		end := time.Now().Add(c.cfg.steady)
		for ctx.Err() == nil && (len(cycles) < collections || time.Now().Before(end)) {
			begun := time.Now()
			runtime.GC()
			cycles = append(cycles, time.Since(begun).Seconds())
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(cycles)
	f["GC cycle ms"] = 1e3 * cycles[len(cycles)/2]
	f["GC pause p99 µs"] = 1e6 * quantile(before, pauses(), 0.99)
	return nil
}

// pauses is how long the collector has stopped the world, in seconds, since
// the process began.
func pauses() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64Histogram()
}

// quantile is of what an after has more than before: the upper end of the
// bucket it is in, 0 if there is nothing.
func quantile(before, after *metrics.Float64Histogram, q float64) float64 {
	total := uint64(0)
	for i, n := range after.Counts {
		total += n - before.Counts[i]
	}
	sum := uint64(0)
	for i, n := range after.Counts {
		if sum += n - before.Counts[i]; sum > 0 && float64(sum) >= q*float64(total) {
			return after.Buckets[i+1]
		}
	}
	return 0
}

// expire takes "expiry ns" of each: all are too old at once.
func (c *crowd) expire(ctx context.Context, f figures) error {
	c.skew += 2 * queueTime
	begun, left := time.Now(), c.cfg.waiting
	for left > 0 {
		n := 0
		for _, l := range c.lanes {
			l.now = c.now()
			m, err := l.expire()
			if err != nil {
				return err
			}
			n += m
		}
		if ctx.Err() != nil {
			return interrupted(ctx)
		}
		if left -= n; n == 0 && !c.due() {
			return fmt.Errorf("%d of %d who are too old are still there", left, c.cfg.waiting)
		}
	}
	f["expiry ns"] = float64(time.Since(begun).Nanoseconds()) / float64(c.cfg.waiting)
	return c.rest(0)
}

// due says whether a loop has something to do.
func (c *crowd) due() bool {
	now := c.now()
	return slices.ContainsFunc(c.lanes, func(l *lane) bool { return l.Due() != 0 && l.Due() <= now })
}

// leave takes "leave ns" of each: as many come again, and each one leaves of
// its own accord, in the order in which they came.
func (c *crowd) leave(ctx context.Context, f figures) error {
	names := make([]dispatch.Waiter, 0, c.cfg.waiting)
	if err := c.fill(ctx, func(_ *lane, w dispatch.Waiter) { names = append(names, w) }); err != nil {
		return err
	}
	begun := time.Now()
	for i, w := range names {
		if i%glance == 0 && ctx.Err() != nil {
			return interrupted(ctx)
		}
		l := c.lane(i)
		if !l.Leave(l.now, w, l.now) {
			return fmt.Errorf("client %d waits, but can't leave", i+1)
		}
		l.settle()
	}
	f["leave ns"] = float64(time.Since(begun).Nanoseconds()) / float64(c.cfg.waiting)
	for _, l := range c.lanes {
		l.forget()
	}
	return c.rest(0)
}

// end gives the slots back: then nothing is left.
func (c *crowd) end(context.Context, figures) error {
	for i, l := range c.lanes {
		for _, path := range l.held {
			c.lane(i).Release(l.now, path)
		}
		l.held = nil
	}
	return c.expect(0, 0)
}

// serve has all loops work at the same time until while returns, and returns
// how many were served in the meantime. while ends when its context does.
func (c *crowd) serve(ctx context.Context, while func(context.Context)) (served int64, took time.Duration, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var stop atomic.Bool
	var loops sync.WaitGroup
	begun := time.Now()
	for _, l := range c.lanes {
		l.served = 0
		loops.Go(func() {
			if err := l.serve(c.now, &stop); err != nil {
				fail(err)
			}
		})
	}
	while(ctx)
	stop.Store(true)
	loops.Wait()
	took = time.Since(begun)
	if ctx.Err() != nil {
		return 0, 0, interrupted(ctx)
	}
	for _, l := range c.lanes {
		served += l.served
	}
	return served, took, c.rest(c.cfg.waiting)
}

func interrupted(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("ended early, without figures: %w", ctx.Err())
}

// rest brings all loops to rest and looks whether the counts are right then.
func (c *crowd) rest(waiting int) error {
	for again := true; again; { // what one loop does may give another something to do
		again = false
		for _, l := range c.lanes {
			l.now = c.now()
			n, err := l.keep()
			if err != nil {
				return err
			}
			again = again || n > 0 || l.Due() == 1
		}
	}
	held := 0
	for _, l := range c.lanes {
		held += len(l.held)
	}
	if held != c.cfg.limit {
		return fmt.Errorf("%d slots are held, want %d", held, c.cfg.limit)
	}
	return c.expect(c.cfg.limit, waiting)
}

func (c *crowd) expect(inUse, waiting int) error {
	for what, l := range map[string]dispatch.Load{"pool": c.d.Pool(0), "virtual server": c.d.Virtual(0)} {
		if l.InUse != int64(inUse) || l.Waiting != int64(waiting) {
			return fmt.Errorf("%s: %d slots in use and %d waiting, want %d and %d", what, l.InUse, l.Waiting, inUse, waiting)
		}
	}
	return nil
}
