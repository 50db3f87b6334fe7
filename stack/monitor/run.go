package monitor

import (
	"context"
	"time"

	rules "penstock/lb/monitor"
)

// news is what a check has to say: its verdict, and later that it is over.
type news struct {
	of    *target
	ctx   context.Context // of the version of the target that was checked
	limit time.Duration
	over  bool
	err   error // the verdict
}

// change is a change of state that is to be reported.
type change struct {
	of *target
	rules.State
}

// run is the monitor's goroutine.
func (m *Monitor) run() {
	defer m.ends.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var changes []change
		select {
		case <-m.ctx.Done():
			return
		case n := <-m.news:
			changes = m.hear(n)
		case <-m.wake:
		case <-timer.C:
		}
		changes, next := m.step(changes)
		for _, c := range changes {
			m.tell(c)
		}
		timer.Reset(next - m.now()) // with Never, in centuries
	}
}

// hear takes in what a check says.
func (m *Monitor) hear(n news) (changes []change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := n.of
	if n.over {
		t.busy, t.owed = false, false
		m.room.leave(t)
	}
	if t.gone {
		return nil
	}
	if !n.over && n.ctx == t.ctx {
		changes = noted(nil, t, m.judge(t, n))
	}
	m.reschedule(t)
	return changes
}

// judge tells lb/monitor how a check of t ended.
func (m *Monitor) judge(t *target, n news) (changed bool) {
	now := m.now()
	if n.err != nil && ourFault(n.err) {
		if !m.starved {
			m.log.Warn("monitor: checks can't be made on this machine", "member", t.Key, "error", n.err)
		}
		m.starved = true
		t.state.Missed(now)
		return false
	}
	m.starved = false
	if n.err == nil {
		return t.state.Good(now)
	}
	why := reason(n.err, n.limit)
	m.log.Debug("monitor: check failed", "member", t.Key, "reason", why)
	return t.state.Failed(now, why)
}

// step does what is due, and says when there will be more to do.
func (m *Monitor) step(changes []change) ([]change, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for m.agenda.first() <= now {
		t := m.agenda[0]
		due, changed := t.state.Tick(now)
		changes = noted(changes, t, changed)
		switch {
		case due && t.busy:
			t.owed = true
		case due:
			m.room.ask(t)
		}
		m.reschedule(t)
	}
	for t := m.room.next(); t != nil; t = m.room.next() {
		m.begin(t, now)
	}
	return changes, m.agenda.first()
}

// reschedule puts t where it belongs in the agenda: at the end while a check
// is due that can't begin.
func (m *Monitor) reschedule(t *target) {
	at := t.state.Wake()
	if t.queued || t.owed {
		at = rules.Never
	}
	m.agenda.move(t, at)
}

func noted(changes []change, t *target, changed bool) []change {
	if changed {
		changes = append(changes, change{t, t.state.State()})
	}
	return changes
}

// begin starts a check of t, for which there is room.
func (m *Monitor) begin(t *target, now time.Duration) {
	t.state.Begin(now)
	t.busy = true
	m.reschedule(t)
	n := news{of: t, ctx: t.ctx, limit: t.state.Limit()}
	as := t.Target // it may change meanwhile
	m.ends.Add(1)
	go func() {
		defer m.ends.Done()
		check(n.ctx, &as, n.limit, usual, func(err error) {
			n.err = err
			m.news <- n
		})
		n.over, n.err = true, nil
		m.news <- n
	}()
}

// tell reports a change, unless nobody wants to know it any more.
func (m *Monitor) tell(c change) {
	m.mu.Lock()
	skip := c.of.gone || m.ctx.Err() != nil
	if !skip {
		m.telling = c.of
	}
	m.mu.Unlock()
	if skip {
		return
	}
	if c.Up {
		m.log.Info("monitor: member is up", "member", c.of.Key)
	} else {
		m.log.Warn("monitor: member is down", "member", c.of.Key, "reason", c.Reason)
	}
	m.report(c.of.Key, c.Up, c.Reason)
	m.mu.Lock()
	m.telling = nil
	m.told.Broadcast()
	m.mu.Unlock()
}
