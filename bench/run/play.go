package run

import (
	"context"
	"fmt"
	"time"

	"penstock/bench/peer"
	"penstock/bench/proc"
	"penstock/bench/result"
	"penstock/bench/tally"
)

// play is one round of one proxy.
type play struct {
	*series
	round int
	peer  peer.Peer

	sites   []*site
	reports chan report // what clients say, and who ends too early

	// Of the measured time, which begins when the first client counts.
	counting bool
	over     <-chan time.Time // when it is up
	event    *time.Ticker     // nil: nothing happens
	events   int              // that have happened
	started  used
	span     measured         // between started and the end, when that is known
	grown    proc.Size        // of the proxies, with those who stood before
	later    proc.Size        // ... with those who came last
	known    *peer.Handshakes // to the proxies, in the end; nil: they were not asked
}

// report is a line that a client has printed, or an error.
type report struct {
	Ready    bool
	Counting bool
	Standing *int
	tally.Client

	who *actor
	err error
}

func (r *report) last() bool { return !r.Ready && !r.Counting && r.Standing == nil }

func playScene(ctx context.Context, s *series, round int, pr peer.Peer) (result.Round, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &play{series: s, round: round, peer: pr}
	defer p.strike()
	if err := p.prepare(ctx); err != nil {
		return result.Round{}, err
	}
	if err := p.perform(ctx); err != nil {
		return result.Round{}, err
	}
	all, err := p.gather(ctx)
	if err != nil {
		return result.Round{}, err
	}
	return all.round()
}

func (p *play) strike() {
	for _, st := range p.sites {
		st.strike()
	}
	if p.event != nil {
		p.event.Stop()
	}
}

// prepare brings everything up and has all clients wait for a word.
func (p *play) prepare(ctx context.Context) error {
	clients := 0
	for i := range p.c.Copies {
		st, err := p.raise(ctx, i)
		p.sites = append(p.sites, st)
		if err == nil {
			err = p.invite(ctx, st, clients)
		}
		if err != nil {
			return err
		}
		clients += len(st.clients)
	}
	const lines = 4 // that a client prints, and an error
	p.reports = make(chan report, clients*(lines+1)+len(p.sites))
	for _, st := range p.sites {
		if st.proxy != nil {
			go p.guard(st)
		}
	}
	return nil
}

// guard tells when the proxy has ended.
func (p *play) guard(st *site) {
	<-st.proxy.Done()
	p.reports <- report{err: fmt.Errorf("%s ended: %s", st.proxy.Name(), st.proxy.Words())}
}

// actors are the clients that are so.
func (p *play) actors(so func(*actor) bool) (as []*actor) {
	for _, st := range p.sites {
		for _, a := range st.clients {
			if so(a) {
				as = append(as, a)
			}
		}
	}
	return as
}

// start gives these the word and listens to what they say.
func (p *play) start(as []*actor) error {
	for _, a := range as {
		if err := a.Say(""); err != nil {
			return a.err(err)
		}
		go p.listen(a)
	}
	return nil
}

// listen passes on what a client says until its last line.
func (p *play) listen(a *actor) {
	within := 2*length(p.c) + a.line.Config.Drain + time.Minute // longer is no work but a hang
	for {
		r := report{who: a}
		if err := a.Read(&r, within); err != nil {
			r.err = a.err(err)
		}
		p.reports <- r
		if r.err != nil || r.last() {
			return
		}
	}
}

// perform has the clients do their work, until all have said what they saw: who
// holds first, then the others, then who holds and comes last.
func (p *play) perform(ctx context.Context) (err error) {
	stand := p.actors(func(a *actor) bool { return a.holds() && !a.late || a.line.Keeps() })
	others := p.actors(func(a *actor) bool { return !a.holds() })
	last := p.actors(func(a *actor) bool { return a.late })
	if p.grown, err = p.fill(ctx, stand); err != nil {
		return err
	}
	if err := p.work(ctx, others); err != nil {
		return err
	}
	if p.later, err = p.fill(ctx, last); err != nil {
		return err
	}
	if err := p.census(ctx); err != nil {
		return err
	}
	holders := p.actors((*actor).holds)
	for _, a := range holders {
		a.Stop()
	}
	return p.await(ctx, func() bool { return finished(holders) })
}

// work has those do their work who don't only hold. Without any, who holds is held
// for the time.
func (p *play) work(ctx context.Context, others []*actor) error {
	for _, a := range others {
		var err error
		if a.line.Keeps() {
			err = a.Say("") // it is there already
		} else {
			err = p.start([]*actor{a})
		}
		if err != nil {
			return a.err(err)
		}
	}
	if len(others) == 0 && p.c.Memory == "" {
		if err := p.count(); err != nil {
			return err
		}
		if err := p.await(ctx, func() bool { return p.span.seconds > 0 }); err != nil {
			return err
		}
	}
	if err := p.await(ctx, func() bool { return finished(others) }); err != nil {
		return err
	}
	return p.finish()
}

func finished(as []*actor) bool {
	for _, a := range as {
		if a.saw == nil {
			return false
		}
	}
	return true
}

// fill has these connect and, where it is asked for, takes what the proxies grew
// by.
func (p *play) fill(ctx context.Context, as []*actor) (grown proc.Size, err error) {
	if len(as) == 0 {
		return grown, nil
	}
	before, err := p.steady(ctx)
	if err != nil {
		return grown, err
	}
	if err := p.start(as); err != nil {
		return grown, err
	}
	standing := func() bool {
		for _, a := range as {
			if !a.standing && a.saw == nil {
				return false
			}
		}
		return true
	}
	if err := p.await(ctx, standing); err != nil {
		return grown, err
	}
	after, err := p.steady(ctx)
	return proc.Size{Memory: after.Memory - before.Memory, Descriptors: after.Descriptors - before.Descriptors}, err
}

// steady waits until the proxies have done with what there is: until their
// descriptors have not changed for half a second. Without memory to measure it
// does nothing.
func (p *play) steady(ctx context.Context) (size proc.Size, err error) {
	pids := p.proxies()
	if p.c.Memory == "" || len(pids) == 0 {
		return size, nil
	}
	const times, every = 5, 100 * time.Millisecond
	for same := 0; same < times; same++ {
		if err := pause(ctx, every); err != nil {
			return size, err
		}
		now, err := proc.TreeSize(pids...)
		if err != nil {
			return size, p.died(err)
		}
		if now.Descriptors != size.Descriptors {
			same = 0
		}
		size = now
	}
	return size, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// await handles what happens until something is so.
func (p *play) await(ctx context.Context, so func() bool) error {
	for !so() {
		if err := p.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// next handles one thing that happens.
func (p *play) next(ctx context.Context) error {
	var event <-chan time.Time
	if p.event != nil {
		event = p.event.C
	}
	select {
	case r := <-p.reports:
		return p.hear(r)
	case <-p.over:
		return p.finish()
	case <-event:
		return p.happen()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *play) hear(r report) error {
	switch {
	case r.err != nil:
		return r.err
	case r.Standing != nil:
		r.who.standing, r.who.stood = true, *r.Standing
	case r.Counting && !r.who.holds():
		return p.count()
	case r.last():
		r.who.saw = &r.Client
	}
	return nil
}
