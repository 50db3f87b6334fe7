package run

import (
	"context"
	"slices"
	"time"

	"penstock/bench/peer"
	"penstock/bench/result"
	"penstock/bench/scenario"
)

// Run plays all cases, rounds and proxies. What fails of a proxy is in the
// document; an error is bad options, or the end of ctx. Every process that was
// started has ended when it returns.
func Run(ctx context.Context, o Options) (*result.Document, error) {
	cases, err := o.complete()
	if err != nil {
		return nil, err
	}
	doc := o.document(cases)
	p := begin(o.Progress, time.Now, o.planned(cases)+o.Later)
	defer p.end()
	for i := range cases {
		play := series{Options: o, c: &cases[i], into: &doc.Cases[i], progress: p}
		if err := play.run(ctx); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// document is empty but for what is known before.
func (o *Options) document(cases []scenario.Case) *result.Document {
	s := o.Scenario
	doc := &result.Document{
		Scenario: s.Name, About: s.About, Why: s.Why, Command: o.Command, Date: time.Now().UTC().Truncate(time.Second),
		Machine: o.Stage.Machine(), Lines: lines(cases), Rounds: o.Rounds, Seconds: cases[0].For.Seconds(),
		Metrics: s.Metrics, Goals: s.Goals, Vary: s.Vary,
	}
	if o.Once {
		doc.Goals = nil // nobody can reach them so
	}
	for _, p := range o.Peers {
		if version := p.Version(); version != "" {
			doc.Machine.Versions[p.Name()] = version
		}
	}
	for i := range cases {
		c := &cases[i]
		into := result.Case{Name: c.Name, X: c.X}
		for _, p := range o.cast(c) {
			into.Peers = append(into.Peers, &result.Peer{Name: p.Name()})
		}
		doc.Cases = append(doc.Cases, into)
	}
	return doc
}

// lines are those of the first case, and of the others those that differ.
func lines(cases []scenario.Case) (all []string) {
	for i, c := range cases {
		if i > 0 {
			all = append(all, "", "# case "+c.Name)
		}
		for _, line := range c.Lines {
			if i == 0 || !slices.Contains(cases[0].Lines, line) {
				all = append(all, line)
			}
		}
	}
	return all
}

// series is all rounds of one case.
type series struct {
	Options
	c        *scenario.Case
	into     *result.Case
	progress *progress
}

func (s *series) run(ctx context.Context) error {
	cast := s.cast(s.c)
	order := make([]int, len(cast))
	for i := range order {
		order[i] = i
	}
	for round := range s.Rounds {
		for _, i := range order {
			s.progress.step(step{s.Scenario.Name, s.c.Name, round + 1, s.Rounds, cast[i].Name()})
			s.once(ctx, round, cast[i], s.into.Peers[i])
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.progress.done(length(s.c))
		}
		slices.Reverse(order)
	}
	return nil
}

// once plays one round of one proxy, unless it has failed before.
func (s *series) once(ctx context.Context, round int, p peer.Peer, into *result.Peer) {
	if into.Failure != "" {
		return
	}
	play := playProgram
	if len(s.c.Program) == 0 {
		play = playScene
	}
	r, err := play(ctx, s, round, p)
	if err != nil {
		into.Failure = err.Error()
		return
	}
	into.Rounds = append(into.Rounds, r)
}
