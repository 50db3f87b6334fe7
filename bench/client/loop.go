package client

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"time"

	"penstock/bench/arrival"
	"penstock/bench/due"
	"penstock/bench/sock"
	"penstock/bench/tally"
)

const (
	// tick is how often a loop looks at the run, and how long a flow of the
	// closed model rests that was lost.
	tick = 10 * time.Millisecond

	// blobSize is how much is sent at once. It stays in the cache.
	blobSize = 256 << 10

	// swallow is how much is received with a copy, to look at it: most
	// responses as a whole.
	swallow = 64 << 10

	// turn is how much a connection may send, and burst how many connections
	// may begin, before others have their turn.
	turn  = 4 << 20
	burst = 64

	never = math.MaxInt64
)

// loop runs its share of the flows on a thread of its own.
type loop struct {
	// Constant after creation.
	run     *run
	cfg     Config // with this loop's share of the numbers
	index   int
	open    bool // model
	clock   sock.Clock
	target  sock.Address
	sources []sock.Address
	sipMost int // bytes that a slow reader receives at once

	// Owned by the loop, and by the run after the loop has ended.
	poll   *sock.Poll
	random *rand.Rand
	flows  []flow
	wake   due.Heap // by index of the flow
	source int      // the next to use
	blob   []byte   // what is sent: a token and zeros
	bytes  []byte   // what was received last
	there  int64    // connections that are up
	tally  tally.Client

	// Closed model.
	taken int // attempts, of the total
	live  int // flows that may still begin

	// Open model.
	schedule *arrival.Arrivals
	next     int64   // when the next one is due; never if nobody is
	last     int64   // when the last one was that began
	given    int     // arrivals taken from the schedule, of the total
	free     []int32 // flows without a connection
	active   int     // flows that are to come to an end
}

func newLoop(r *run, i int) (*loop, error) {
	p, err := sock.NewPoll()
	if err != nil {
		return nil, err
	}
	cfg := r.cfg.share(i)
	l := &loop{
		run: r, cfg: cfg, index: i, open: cfg.Open(), clock: r.clock,
		target:  sock.MakeAddress(cfg.Target),
		sipMost: max(cfg.ReadRate/sips, 1),
		poll:    p,
		random:  rand.New(rand.NewPCG(cfg.Seed, uint64(i)+1)),
		source:  i,
		blob:    make([]byte, blobSize),
		bytes:   make([]byte, swallow),
		tally:   newTally(&r.cfg),
	}
	for _, ip := range cfg.sources() {
		l.sources = append(l.sources, sock.MakeAddress(netip.AddrPortFrom(ip, 0)))
	}
	return l, nil
}

// work runs until the run is stopped or all is done.
func (l *loop) work() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sock.Punctual()
	l.prepare()
	look := int64(0)
	for !l.over() {
		now := l.now()
		if now >= look {
			l.tally.Open.Sample(now, l.there)
			look = now + int64(tick)
		}
		l.expire(now)
		l.arrive(now)
		for _, ev := range l.poll.WaitFor(l.rest(look)) {
			l.ready(int(ev.Fd), ev.Events)
		}
	}
	l.stop()
}

// prepare makes the flows of the closed model, to begin one after the other at
// the run's rate, or finds out who is due first.
func (l *loop) prepare() {
	if l.open {
		l.schedule = l.cfg.Arrivals.Arrivals(l.cfg.Seed, l.index, l.run.cfg.Loops)
		l.advance()
		return
	}
	l.live = l.cfg.Flows
	l.flows = make([]flow, l.cfg.Flows)
	for i := range l.flows {
		place := int64(i*l.run.cfg.Loops + l.index)
		l.wake.Set(i, l.run.begin+place*int64(time.Second)/int64(l.cfg.Rate))
	}
}

// over says that there is nothing left to do. Without a total the closed model
// ends only by the run, so that who has gone silent stays there.
func (l *loop) over() bool {
	switch {
	case l.run.stopped.Load():
		return true
	case l.open:
		return l.active == 0 && !l.pending() || l.now() >= l.cutoff()
	}
	return l.live == 0 && l.cfg.Total > 0
}

// rest is how long the loop may sleep: until somebody is due, a deadline is, or
// it has to look at the run.
func (l *loop) rest(until int64) time.Duration {
	if at, ok := l.wake.First(); ok {
		until = min(until, at)
	}
	if l.open && l.pending() && l.room() {
		until = min(until, l.next)
	}
	return time.Duration(until - l.now())
}

// expire goes on with the flows whose deadline has come.
func (l *loop) expire(now int64) {
	for i, ok := l.wake.Pop(now); ok; i, ok = l.wake.Pop(now) {
		f := &l.flows[i]
		switch f.state {
		case idle:
			l.begin(i, l.now())
		case connecting, asking, waiting:
			l.tire(i, now)
		case thinking:
			l.another(i)
		case receiving, ending, streaming:
			l.sip(i)
		}
	}
}

func (l *loop) nextSource() *sock.Address {
	if len(l.sources) == 0 {
		return nil
	}
	l.source = (l.source + 1) % len(l.sources)
	return &l.sources[l.source]
}

func (l *loop) now() int64 { return l.clock.Now() }
