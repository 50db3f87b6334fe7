package syn

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"penstock/bench/proc"
	"penstock/bench/sock"
	"penstock/bench/tally"
	"penstock/bench/wire"
)

// Events are told by Run while it runs, each once and in this order, from its
// goroutine. Any may be nil.
type Events struct {
	Ready    func() error // all is there, and nothing was sent; returns when it is to begin
	Standing func(n int)  // hold: all were opened; n were not refused. keep: n are connected
	Counting func()       // the measured time has begun

	// Asks is closed when those that are kept are to ask; nil: at once.
	Asks <-chan struct{}
}

// silent says that nobody is to ask yet.
func (on *Events) silent() bool {
	if on.Asks == nil {
		return false
	}
	select {
	case <-on.Asks:
		return false
	default:
		return true
	}
}

// Run does the work until its end, and tells what became of it. Ended early by
// ctx it returns what it has, and no error. The error tells all mistakes of the
// Config, or what is wrong with this machine or its network.
func Run(ctx context.Context, cfg Config, on Events) (tally.Client, error) {
	if err := cfg.complaint(); err != nil {
		return tally.Client{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sock.Punctual()
	g, err := newGenerator(cfg)
	if err != nil {
		return tally.Client{}, err
	}
	defer g.close()
	if on.Ready != nil {
		if err := on.Ready(); err != nil {
			return tally.Client{}, err
		}
	}
	r := &run{generator: g, on: on}
	defer context.AfterFunc(ctx, func() { r.stopped.Store(true) })()
	return r.play()
}

// run is a generator and its times.
type run struct {
	*generator
	on      Events
	stopped atomic.Bool
}

func (r *run) play() (tally.Client, error) {
	r.begin, r.epoch = r.clock.Now(), wire.Now()
	err := r.fill()
	if err == nil && r.cfg.Work == Keep {
		err = r.keep()
	}
	if err == nil {
		err = r.until(r.now() + int64(r.warm()))
	}
	if err == nil {
		err = r.measure()
	}
	if err == nil {
		err = r.finish()
	}
	return r.tally, err
}

// until goes on for some time, or to the end of the run.
func (r *run) until(end int64) error {
	for look := int64(0); !r.stopped.Load(); {
		now := r.now()
		if now >= look {
			r.tally.Open.Sample(r.clock.Now(), int64(r.standing))
			look = now + int64(10*time.Millisecond)
		}
		if now >= end {
			return nil
		}
		if err := r.turn(min(end, look)); err != nil {
			return err
		}
	}
	return nil
}

// fill opens what is to stand at a time.
func (r *run) fill() error {
	if r.cfg.Work == Flood {
		return nil
	}
	for !r.filled && !r.stopped.Load() {
		if err := r.until(r.now() + int64(10*time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

// keep has all connected, and has them ask.
func (r *run) keep() error {
	if err := r.connect(); err != nil {
		return err
	}
	if r.on.Standing != nil && !r.stopped.Load() {
		r.on.Standing(int(r.connected))
	}
	if err := r.while(never, r.on.silent); err != nil {
		return err
	}
	r.asks.begin(r.flows.n, r.cfg.Asks, r.now())
	return nil
}

// warm is how long after that nothing is counted: to hold it is the time in which
// who is refused at once is told so.
func (r *run) warm() time.Duration {
	if r.cfg.Work == Hold {
		return 100 * time.Millisecond
	}
	return r.cfg.Warm
}

// measure counts what ends in the measured time.
func (r *run) measure() error {
	before, err := proc.CPU(os.Getpid())
	if err != nil {
		return err
	}
	begun := r.now()
	end := begun + int64(r.cfg.For)
	r.counting = true
	if r.cfg.Work == Hold {
		end = never
		if r.on.Standing != nil {
			r.on.Standing(r.standing)
		}
	}
	if r.on.Counting != nil && !r.stopped.Load() {
		r.on.Counting()
	}
	sent := r.tally.Handshakes.Sent
	if err := r.until(end); err != nil {
		return err
	}
	r.counting = false
	after, err := proc.CPU(os.Getpid())
	r.tally.Seconds = float64(r.now()-begun) / 1e9
	r.tally.CPU = (after - before).Seconds()
	if r.cfg.Work == Flood {
		r.tally.Handshakes.Filling = float64(r.now()) / 1e9
		r.tally.Handshakes.Counted = r.tally.Handshakes.Sent - sent
	}
	if err == nil && r.cfg.Work == Keep {
		err = r.rest()
	}
	return err
}

// finish counts who stands, and ends who is up or is to leave by a reset. The
// last to come are the first to go: else each would leave a slot to the next.
func (r *run) finish() error {
	r.tally.Handshakes.Missed = r.rx.Missed()
	for n := r.flows.n; n > 0; n-- {
		f := r.flows.at(n - 1)
		if f.state == over {
			continue
		}
		if r.cfg.Work == Hold {
			r.tally.Outcomes[tally.Served]++
		}
		if s, ok := r.farewell(n-1, f); ok {
			r.send(&s, 0)
		}
		if !r.tx.Room() {
			if err := r.surely(); err != nil {
				return err
			}
		}
	}
	return r.surely()
}

// farewell is the reset of who stands, if there is to be one.
func (r *run) farewell(n uint32, f *record) (s wire.Segment, ok bool) {
	if f.state == waiting {
		isn, _ := r.crowd.secrets(n)
		return wire.Segment{From: r.crowd.flow(n), To: r.target, Seq: isn + 1, Flags: wire.RST}, r.cfg.Leave == ByReset
	}
	c := &r.conns[f.conn]
	if r.cfg.Work == Short && r.now()-c.since > int64(r.cfg.Drain) {
		r.tally.Outcomes[tally.Overdue]++
	}
	return r.segment(c, wire.RST|wire.ACK), r.cfg.Work != Keep || r.cfg.Leave == ByReset
}
