package cases

import (
	"slices"
	"testing"
	"time"
)

// ramp is a slow ramp as a member sees it.
type ramp struct {
	limit         int
	span          time.Duration
	begun, latest time.Time // between which it began
	visits        []*visit
}

// check compares the server's count over the whole ramp with
// max(1, ceil(limit*t/span)): never more, and at most one less, but for the
// time that a scheduler takes. One in ten may have met a longer stall.
func (r *ramp) check(t *testing.T) {
	t.Helper()
	noted()
	slices.SortFunc(r.visits, func(v, w *visit) int { return v.at.Compare(w.at) }) // what they say may come in another order
	step, stalled := r.span/time.Duration(r.limit), 0
	for i, v := range r.visits {
		due := time.Duration(i) * step // that many and one more are allowed from then on
		if early := v.at.Sub(r.begun); early < due-time.Millisecond {
			t.Errorf("connection %d after %v; its step is at %v", i+1, early, due)
		}
		late := v.at.Sub(r.latest) - due - step
		if late > slack/3 {
			late -= stalledIn(v.at.Add(-late), v.at)
		}
		switch {
		case late > 3*slack:
			t.Errorf("connection %d is %v late", i+1, late)
		case late > slack/3:
			stalled++
		}
	}
	if stalled > (r.limit+9)/10 {
		t.Errorf("%d of %d connections come more than %v after the step behind theirs", stalled, r.limit, slack/3)
	}
}

// Time alone releases: nobody leaves, and each step lets one more in.
func TestC14RampReleases(t *testing.T) {
	t.Parallel()
	span := time.Duration(count(3, 10)) * time.Second
	a := listen(t, "A", nil)
	p := setup{pool: "slow-ramp-time=" + span.String() + ",when-down=queue,queue-time-limit=0",
		members: []string{a.limit(10) + ",state=offline"}}.start(t)
	p.polite(12)
	p.awaitDepth(12)
	r := &ramp{limit: 10, span: span, begun: time.Now()}
	p.state(a, "enabled")
	r.latest = time.Now()
	for range 10 {
		r.visits = append(r.visits, a.next(patience))
	}
	r.check(t)
	between(t, "the 10th", r.visits[9].at.Sub(r.latest), 0, span*95/100) // or the step is lost
	a.nobody(span / 5)
	if n := p.depth(); n != 2 {
		t.Errorf("%d wait; want 2", n)
	}
	for _, v := range r.visits[:2] {
		v.end()
		r.visits = append(r.visits, a.next(atOnce))
	}
	for _, v := range r.visits[2:] {
		v.end()
	}
}

// Slow ramp bounds the herd, whichever way a member comes.
func TestC34RampBoundsTheHerd(t *testing.T) {
	for _, way := range []struct {
		name, state string
		come        func(p *proxy, r *ramp, a *patient)
	}{
		{"enabled", "offline", func(p *proxy, r *ramp, a *patient) { p.state(a.server, "enabled") }},
		{"added", "", func(p *proxy, r *ramp, a *patient) { p.add(a.server, r.limit) }},
		{"up", "enabled", func(p *proxy, r *ramp, a *patient) {
			p.recovers(a)
			r.begun = begun.Add(time.Duration(a.well.Load()))
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			r := &ramp{limit: count(50, 200), span: time.Duration(count(3, 10)) * time.Second}
			a := newPatient(t, "A")
			a.ill.Store(way.name == "up")
			s := setup{pool: patiently + ",when-down=queue,queue-time-limit=0,slow-ramp-time=" + r.span.String()}
			if way.state != "" {
				s.members = []string{a.limit(r.limit) + ",state=" + way.state}
			}
			p := s.start(t)
			if way.name == "up" {
				p.falls(a)
			}
			p.guests(0, r.limit)
			p.awaitDepth(r.limit)
			r.begun = time.Now()
			way.come(p, r, a)
			r.latest = time.Now()
			for range r.limit {
				r.visits = append(r.visits, a.guest(patience))
			}
			r.check(t)
			for _, v := range r.visits {
				v.end()
			}
		})
	}
}

// A restart of the proxy is no recovery of the servers: no ramp then.
func TestNoRampAtStart(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{pool: "slow-ramp-time=10s", members: []string{a.limit(10)}}.start(t)
	for _, v := range p.fill(a, 10) {
		v.end()
	}
	if n := p.pool().Connq.Serviced; n != 0 {
		t.Errorf("%d have waited", n)
	}
}
