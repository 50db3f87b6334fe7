package monitor

import (
	"container/heap"
	"context"
	"log/slog"
	"sync"
	"time"

	rules "penstock/lb/monitor"
)

// Monitor checks a set of targets. Made by New; its methods may be called by
// any goroutine.
type Monitor struct {
	// Constant after New.
	report func(key string, up bool, reason string)
	log    *slog.Logger
	start  time.Time // times of lb/monitor count from here
	ctx    context.Context
	stop   context.CancelFunc
	wake   chan struct{} // the agenda changed
	news   chan news     // from the checks; there is room for all they can say
	ends   sync.WaitGroup

	mu      sync.Mutex // guards all below, and the targets
	targets map[string]*target
	agenda  agenda
	room    room
	telling *target    // whose report is being called
	told    *sync.Cond // it returned
	starved bool       // the last check could not be made
}

// target is one of the set.
type target struct {
	Target
	state *rules.Member

	// ctx is of this version of the target: done when it is changed or removed.
	ctx    context.Context
	cancel context.CancelFunc

	at     time.Duration // its place in the agenda
	index  int
	class  int  // in the room
	queued bool // it waits for room
	busy   bool // its last check has not closed its connection yet
	owed   bool // and the next one is due
	gone   bool // it was removed: not a word about it any more
}

// New starts a monitor of nothing. It calls report from one goroutine, once
// for each change: a target is up until report says otherwise. report may take
// its time, but all others wait for it meanwhile; it must not call Set or
// Close. log may be nil.
func New(report func(key string, up bool, reason string), log *slog.Logger) *Monitor {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	m := &Monitor{
		report: report, log: log, start: time.Now(),
		wake: make(chan struct{}, 1), news: make(chan news, 2*most),
		targets: map[string]*target{},
	}
	m.told = sync.NewCond(&m.mu)
	m.ctx, m.stop = context.WithCancel(context.Background())
	m.ends.Add(1)
	go m.run()
	return m
}

// Close ends all checks and waits for their goroutines, and for a report that
// is under way. There is none afterwards.
func (m *Monitor) Close() {
	m.stop()
	m.ends.Wait()
}

// Set says what is to be monitored from now on. A target that is new begins as
// up. One that is the same as before goes on undisturbed. One that has changed
// keeps its state, and is checked at once. One that is missing is forgotten:
// when Set returns, report is not being called for it, and never will be.
//
// So Set may have to wait for a report to return. Who calls it must not hold a
// lock that report wants.
func (m *Monitor) Set(want []Target) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	wanted := make(map[string]bool, len(want))
	for _, w := range want {
		wanted[w.Key] = true
		switch t := m.targets[w.Key]; {
		case t == nil:
			m.add(w, now)
		case t.Target != w:
			m.change(t, w, now)
		}
	}
	for key, t := range m.targets {
		if !wanted[key] {
			m.remove(t)
		}
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
	for m.telling != nil && m.telling.gone {
		m.told.Wait()
	}
}

func (m *Monitor) add(w Target, now time.Duration) {
	t := &target{Target: w, state: rules.New(w.rule(), now, w.seed())}
	t.ctx, t.cancel = context.WithCancel(m.ctx)
	t.at = t.state.Wake()
	m.targets[w.Key] = t
	heap.Push(&m.agenda, t)
}

func (m *Monitor) change(t *target, w Target, now time.Duration) {
	t.cancel()
	t.Target = w
	t.ctx, t.cancel = context.WithCancel(m.ctx)
	t.state.Change(w.rule(), now)
	m.reschedule(t)
}

func (m *Monitor) remove(t *target) {
	t.gone = true
	t.cancel()
	heap.Remove(&m.agenda, t.index)
	delete(m.targets, t.Key)
}

// State returns what is known of a target: whether it is up and since when,
// why its last check failed (empty if it did not), and how long that check
// took. A key that is not monitored is up, since the zero time.
func (m *Monitor) State(key string) (up bool, reason string, since time.Time, last time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.targets[key]
	if t == nil {
		return true, "", time.Time{}, 0
	}
	s := t.state.State()
	return s.Up, s.Reason, m.start.Add(s.Since), s.Took
}

func (m *Monitor) now() time.Duration { return time.Since(m.start) }
