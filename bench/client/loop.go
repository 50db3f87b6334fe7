package load

import (
	"net/netip"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// tick is how often a loop looks after flows that no event reports: those that
// rest, and those that connect for too long.
const tick = 10 * time.Millisecond

// overdue is the age from which an unanswered request counts as a loss when
// the run ends.
const overdue = time.Second

// phase of a run, set by the run and read by its loops.
const (
	warming int32 = iota
	counting
	stopped
)

// held counts the connections of Hold over all loops.
type held struct{ standing, lost atomic.Int64 }

// loop runs its share of the flows on a thread of its own.
type loop struct {
	// Constant after creation.
	cfg     Config // with this loop's share of the numbers
	target  address
	sources []address
	request []byte
	epoch   time.Time
	poll    *poll

	// Shared with the run.
	phase *atomic.Int32
	held  *held

	// Owned by the loop, and by the run after the loop has ended.
	flows  []flow
	live   int // flows not done
	begun  int // attempts
	opened int // Hold: flows begun
	source int // the next to use
	tally  tally
}

// tally is what a loop has counted.
type tally struct {
	outcomes Outcomes
	bytes    uint64
	latency  *hdrhistogram.Histogram // µs
	cause    error                   // the first Local one
}

func newLoop(r *run, cfg Config) (*loop, error) {
	p, err := newPoll()
	if err != nil {
		return nil, err
	}
	l := &loop{
		cfg:     cfg,
		target:  makeAddress(cfg.Target),
		request: make([]byte, cfg.Request),
		epoch:   time.Now(),
		poll:    p,
		phase:   &r.phase,
		held:    &r.held,
		flows:   make([]flow, cfg.Flows),
		live:    cfg.Flows,
		tally:   tally{latency: newHistogram()},
	}
	for _, ip := range cfg.Sources {
		l.sources = append(l.sources, makeAddress(netip.AddrPortFrom(ip, 0)))
	}
	return l, nil
}

func newHistogram() *hdrhistogram.Histogram {
	const most = int64(time.Minute / time.Microsecond)
	return hdrhistogram.New(1, most, 3)
}

// run works until the run is stopped or every flow is done.
func (l *loop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	next := int64(0)
	for l.phase.Load() != stopped && l.live > 0 {
		if now := l.now(); now >= next {
			l.tick(now)
			next = now + int64(tick)
		}
		for _, ev := range l.poll.wait(int(tick / time.Millisecond)) {
			l.ready(int(ev.Fd), ev.Events)
		}
	}
	l.stop()
}

// tick begins flows that rest and gives up those that connect too long.
func (l *loop) tick(now int64) {
	allowed := l.allowed(now)
	for i := range l.flows {
		f := &l.flows[i]
		if f.state == connecting && now-f.since > int64(l.cfg.ConnectTimeout) {
			l.end(f, Timeout)
		}
		if f.state == resting && allowed > 0 {
			allowed--
			l.opened++
			l.begin(i)
		}
	}
}

// allowed is how many flows may begin now: Hold opens them at a rate, lest the
// target's accept queue overflow.
func (l *loop) allowed(now int64) int {
	if l.cfg.Work != Idle {
		return len(l.flows)
	}
	due := time.Duration(now+int64(tick)) * time.Duration(l.cfg.Rate) / time.Second
	return int(due) - l.opened
}

// stop counts what the flows have come to, and closes everything.
func (l *loop) stop() {
	now := l.now()
	for i := range l.flows {
		f := &l.flows[i]
		switch {
		case f.state == resting || f.state == done:
		case f.state == holding, l.cfg.Work == Bulk && f.state == receiving && f.left != l.cfg.Response:
			l.tally.outcomes[Served]++
		case now-f.since > int64(overdue):
			l.tally.outcomes[Overdue]++
		}
		l.hangUp(f)
	}
	l.poll.close()
}

// more takes one attempt from the total, if there is one.
func (l *loop) more() bool {
	if l.cfg.Total > 0 && l.begun == l.cfg.Total {
		return false
	}
	l.begun++
	return true
}

func (l *loop) nextSource() *address {
	if len(l.sources) == 0 {
		return nil
	}
	l.source = (l.source + 1) % len(l.sources)
	return &l.sources[l.source]
}

func (l *loop) now() int64 { return int64(time.Since(l.epoch)) }

func (l *loop) counting() bool { return l.phase.Load() == counting }
