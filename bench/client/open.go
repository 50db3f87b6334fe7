package client

import "penstock/bench/tally"

// The open model: who is due, and which flow takes him.

// advance finds out who is due next.
func (l *loop) advance() {
	l.next = never
	if l.cfg.Total > 0 && l.given == l.cfg.Total {
		return
	}
	if at, ok := l.schedule.Next(); ok {
		l.given++
		l.next = l.run.begin + at
	}
}

// pending says that somebody is due, now or later, who has not begun.
func (l *loop) pending() bool { return l.next < l.till() }

// till is from when on nobody comes any more. Sustained, that is the same for
// all clients of a run, so that none has the others' part of the target to itself.
func (l *loop) till() int64 {
	to := l.run.to.Load()
	if l.cfg.Sustain {
		return to + int64(l.cfg.Drain)
	}
	return to
}

// room says that there is a flow for him.
func (l *loop) room() bool { return len(l.free) > 0 || len(l.flows) < l.cfg.Flows }

// arrive begins who is due by now, as far as there are flows. Those who find
// none stay in the schedule, in order, and begin when there is one.
func (l *loop) arrive(now int64) {
	if !l.open {
		return
	}
	for range burst {
		if !l.pending() || l.next > now || !l.room() {
			return
		}
		when := l.next
		l.last = when
		l.advance()
		l.active++
		l.begin(l.take(), when)
	}
}

// take is a flow without a connection; there must be room.
func (l *loop) take() int {
	if n := len(l.free); n > 0 {
		i := l.free[n-1]
		l.free = l.free[:n-1]
		return int(i)
	}
	l.flows = append(l.flows, flow{})
	return len(l.flows) - 1
}

// cutoff is when the loop no longer waits for what was due. With a total: when
// the last one was due long enough ago, or who comes next found no flow for so
// long.
func (l *loop) cutoff() int64 {
	end := l.till()
	if l.cfg.Total > 0 {
		if end = l.next; end == never {
			end = l.last
		}
	}
	if end == never {
		return never
	}
	return end + int64(l.cfg.Drain)
}

// strand counts those who are due and never found a flow: as overdue, or as
// given up if their patience is over. All of them: after the cutoff each was due
// long enough ago, unless the run was ended early.
func (l *loop) strand(now int64) {
	before := now - int64(l.cfg.Drain)
	for ; l.next < l.run.to.Load() && (l.next <= before || l.cfg.Total > 0 && !l.run.stopped.Load()); l.advance() {
		if l.next < l.run.from {
			continue
		}
		l.tally.Lag.Record(now - l.next)
		if limit := l.patience(l.next); limit <= now {
			l.tally.Outcomes[tally.GaveUp]++
			l.tally.Patience.Record(limit - l.next)
			continue
		}
		l.tally.Outcomes[tally.Overdue]++
	}
}
