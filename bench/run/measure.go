package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"penstock/bench/peer"
	"penstock/bench/proc"
	"penstock/bench/scenario"
	"penstock/bench/tally"
)

// used is what was used up to a moment.
type used struct {
	at               time.Time
	proxies, servers time.Duration // CPU
	machine          time.Duration // likewise, of all there is
}

// measured is what was used in the measured time: CPU in seconds. The
// coordinator takes it, and not a client, since workers of a proxy come and go.
type measured struct {
	seconds, proxies, servers, machine float64
}

func (u used) since(before used) measured {
	return measured{
		seconds: u.at.Sub(before.at).Seconds(),
		proxies: (u.proxies - before.proxies).Seconds(),
		servers: (u.servers - before.servers).Seconds(),
		machine: (u.machine - before.machine).Seconds(),
	}
}

func (p *play) proxies() (pids []int) {
	for _, st := range p.sites {
		if st.proxy != nil {
			pids = append(pids, st.proxy.PID())
		}
	}
	return pids
}

func (p *play) sample() (u used, err error) {
	if u.proxies, err = proc.TreeCPU(p.proxies()...); err != nil {
		return u, p.died(err)
	}
	var pids []int
	for _, st := range p.sites {
		for _, c := range st.servers {
			pids = append(pids, c.PID())
		}
	}
	if u.servers, err = proc.TreeCPU(pids...); err != nil {
		return u, err
	}
	u.machine, err = proc.Busy()
	u.at = time.Now()
	return u, err
}

// died is what a proxy that could not be looked at has said, or that anybody else
// is in trouble; the error itself if nobody is.
func (p *play) died(err error) error {
	late := time.After(prompt)
	for {
		select {
		case r := <-p.reports:
			if r.err != nil {
				return r.err
			}
		case <-late:
			return err
		}
	}
}

// count begins the measured time, when the first client says that it does.
func (p *play) count() (err error) {
	if p.counting {
		return nil
	}
	p.counting = true
	if err := p.eachServer("count", func(*answer) {}); err != nil {
		return err
	}
	p.over = time.After(p.c.For)
	if p.c.Every > 0 {
		p.event = time.NewTicker(p.c.Every)
	}
	p.started, err = p.sample()
	return err
}

// answer is what a server says to a word.
type answer struct{ Open, Accepted int64 }

// eachServer says a word to all servers and has each answer heard.
func (p *play) eachServer(word string, hear func(*answer)) error {
	for _, st := range p.sites {
		for i, c := range st.servers {
			var line answer
			err := c.Say(word)
			if err == nil {
				err = c.Read(&line, prompt)
			}
			if err != nil {
				return of("server", p.c.Servers[i].Name, err)
			}
			hear(&line)
		}
	}
	return nil
}

// finish ends the measured time, if it has not ended.
func (p *play) finish() error {
	if !p.counting || p.span.seconds > 0 {
		return nil
	}
	u, err := p.sample()
	err = errors.Join(err, p.eachServer("pause", func(*answer) {}))
	p.span = u.since(p.started)
	if p.over = nil; p.event != nil {
		p.event.Stop()
	}
	return err
}

// happen does to every proxy what the scenario says.
func (p *play) happen() error {
	for _, st := range p.sites {
		if st.proxy == nil {
			continue
		}
		if n := len(p.c.Limits); n > 0 {
			for i := range st.setup.Members {
				st.setup.Members[i].Limit = p.c.Limits[p.events%n]
			}
		}
		var err error
		p.Stage.Do(func() { err = p.peer.Reload(st.setup, st.proxy.PID()) })
		if err != nil {
			return fmt.Errorf("reload: %w", err)
		}
	}
	p.events++
	return nil
}

// gather waits until the servers are without a connection, and asks them what
// they saw.
func (p *play) gather(ctx context.Context) (*seen, error) {
	all := &seen{c: p.c, proxied: len(p.proxies()) > 0, span: p.span, grown: p.grown, later: p.later, known: p.known}
	var err error
	if all.left, err = p.settle(ctx); err != nil {
		return nil, err
	}
	for _, st := range p.sites {
		if st.proxy != nil && st.proxy.Ended() {
			return nil, fmt.Errorf("%s ended: %s", st.proxy.Name(), st.proxy.Words())
		}
		for _, c := range st.servers {
			c.Stop()
			var saw tally.Server
			if err := c.Read(&saw, prompt); err != nil {
				return nil, err
			}
			all.servers = append(all.servers, saw)
		}
		for _, a := range st.clients {
			all.clients = append(all.clients, clientSaw{a.line, a.late, *a.saw})
		}
	}
	return all, nil
}

// census asks the proxies what they know of the handshakes that generators made,
// once they know of all, or no more come: the last may be on their way.
func (p *play) census(ctx context.Context) error {
	tapped, is := p.peer.(peer.Tapped)
	if !is || !generated(p.c) {
		return nil
	}
	const times, every = 20, 50 * time.Millisecond // a proxy may have to wait for a processor
	for same := 0; ; same++ {
		before := p.known
		var all peer.Handshakes
		for _, st := range p.sites {
			h, err := tapped.Handshakes(st.setup)
			if err != nil {
				return p.died(err)
			}
			all.Begun += h.Begun
			all.Parked += h.Parked
		}
		if p.known = &all; before == nil || before.Begun != all.Begun {
			same = 0
		}
		if all.Begun >= p.begun() || same == times {
			return nil
		}
		if err := pause(ctx, every); err != nil {
			return err
		}
	}
}

// begun are the handshakes that proxies should come to know of: not those that a
// device had no room for, or that were refused.
func (p *play) begun() (n int64) {
	for _, a := range p.actors(func(*actor) bool { return true }) {
		if a.saw == nil {
			n += int64(a.stood)
		} else if h := a.saw.Handshakes; h != nil {
			n += int64(h.Sent - h.Dropped)
		}
	}
	return n
}

// generated says that all clients are generators.
func generated(c *scenario.Case) bool {
	return !slices.ContainsFunc(c.Clients, func(cl scenario.Client) bool { return cl.Syn == nil })
}

// settle returns how many connections the servers still have after the time in
// which they should have lost the last one. They are at rest when they have none
// and got none since the last look: between two that are served there is a moment
// without, too.
// Where connections are left open on purpose they are not waited for.
func (p *play) settle(ctx context.Context) (open int64, err error) {
	if slices.ContainsFunc(p.c.Clients, func(c scenario.Client) bool { return c.Stays() }) {
		return 0, nil
	}
	deadline := time.Now().Add(p.c.Settle)
	for before := int64(-1); ; {
		var accepted int64
		open = 0
		err := p.eachServer("ask", func(line *answer) { open += line.Open; accepted += line.Accepted })
		if err != nil {
			return 0, err
		}
		if open == 0 && accepted == before || !time.Now().Before(deadline) {
			return open, nil
		}
		before = accepted
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return 0, err
		}
	}
}
