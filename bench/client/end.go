package client

import (
	"golang.org/x/sys/unix"

	"penstock/bench/sock"
	"penstock/bench/tally"
)

// served counts a request that was answered.
func (l *loop) served(f *flow) {
	if !l.counts(f) {
		return
	}
	took := l.now() - f.since
	l.tally.Outcomes[tally.Served]++
	l.tally.Latency.Record(took)
	if l.cfg.Late > 0 && took > int64(l.cfg.Late) {
		l.tally.Late++
	}
}

// lose ends a connection by an error. A socket that is broken and does not say
// by what was reset.
func (l *loop) lose(i int, err error) {
	if err == nil {
		err = unix.ECONNRESET
	}
	o := tally.OutcomeOf(err)
	if o == tally.Local && l.tally.Cause == "" {
		l.tally.Cause = err.Error()
	}
	l.end(i, o)
}

// end counts a request that was not served, and closes its connection.
func (l *loop) end(i int, o tally.Outcome) {
	f := &l.flows[i]
	if l.counts(f) {
		l.tally.Outcomes[o]++
	}
	l.hangUp(i)
	if l.cfg.Work == Hold {
		l.fall(f)
		return
	}
	l.again(i, l.now()+int64(tick))
}

// fall is for a held connection that was lost, or one that never stood. It is
// not opened again.
func (l *loop) fall(f *flow) {
	if f.told {
		l.run.standing.Add(-1)
	} else {
		l.run.opened.tell()
	}
	l.retire(f)
}

// giveUp is for a client whose patience is over.
func (l *loop) giveUp(i int) {
	f := &l.flows[i]
	now := l.now()
	if l.counts(f) {
		l.tally.Outcomes[tally.GaveUp]++
		l.tally.Patience.Record(now - f.since)
	}
	switch {
	case f.fd < 0: // there never was a connection
	case l.cfg.GiveUp == Silence:
		l.fallSilent(f)
		return
	case l.cfg.GiveUp == Reset:
		sock.Cut(int(f.fd))
		l.gone(i)
	default:
		l.hangUp(i)
	}
	f.state = idle
	l.again(i, now)
}

// fallSilent makes a connection deaf. It stays to the end of the run, in the
// place of another.
func (l *loop) fallSilent(f *flow) {
	if err := sock.Deafen(int(f.fd)); err != nil && l.tally.Cause == "" {
		l.tally.Cause = err.Error()
	}
	if f.there {
		l.there--
	}
	l.retire(f)
	f.state = silent
}

// hangUp closes a connection, if there is one; in order, if all that came was
// received.
func (l *loop) hangUp(i int) {
	if f := &l.flows[i]; f.fd >= 0 {
		sock.Shut(int(f.fd))
	}
	l.gone(i)
}

// gone notes that there is no connection any more.
func (l *loop) gone(i int) {
	f := &l.flows[i]
	if f.there {
		l.there--
	}
	f.state, f.there, f.fd = idle, false, -1
	l.wake.Clear(i)
}

// again lets an idle flow begin again: in the closed model at that time, and at
// once if it is now; in the open one when somebody is due.
func (l *loop) again(i int, at int64) {
	if l.open {
		l.active--
		l.free = append(l.free, int32(i))
		return
	}
	l.wake.Set(i, at)
}

// retire ends a flow for this run.
func (l *loop) retire(f *flow) {
	f.state = done
	if l.open {
		l.active--
	} else {
		l.live--
		l.opened(f)
	}
}

// stop counts what the flows have come to, and closes everything.
func (l *loop) stop() {
	now := l.now()
	before := now - int64(l.cfg.Drain)
	l.tally.Open.Sample(now, l.there)
	for i := range l.flows {
		f := &l.flows[i]
		l.conclude(f, before)
		switch {
		case f.state == idle || f.state == done:
		case l.settled(f):
			l.hangUp(i)
		default:
			sock.Cut(int(f.fd))
		}
	}
	if l.open {
		l.strand(now)
	}
	l.poll.Close()
}

// settled says that a connection can end in order. One that waits for an answer
// must be reset: an end behind its request might mean that it still waits.
func (l *loop) settled(f *flow) bool {
	return f.state == thinking || f.state == ending || f.state == holding && (l.cfg.Request == 0 || l.cfg.Response > 0)
}

// conclude counts what a flow has come to when the run ends. What was begun
// later than before is not counted: there was no time for it.
func (l *loop) conclude(f *flow, before int64) {
	stands := l.cfg.Work == Hold && f.told || f.state == streaming && f.left > 0
	switch {
	case f.state == idle, f.state == done, f.state == silent, f.state == thinking:
	case stands:
		l.tally.Outcomes[tally.Served]++
	case f.since <= before && (!l.open || l.counts(f)):
		l.tally.Outcomes[tally.Overdue]++
	}
}
