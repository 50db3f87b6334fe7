package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"penstock/bench/load"
	"penstock/bench/proc"
)

// scene is a server and a proxy before it, ready for one round of a work.
type scene struct {
	work     work
	penbench string
	server   *child
	proxy    *child         // none if direct
	target   netip.AddrPort // for clients
}

// stage starts the server and the proxy, and returns when a request went
// through. The scene is to be struck, also after an error.
func stage(ctx context.Context, b *bench, w work, p peer) (*scene, error) {
	s := &scene{work: w, penbench: b.penbench}
	set := setup{dir: b.dir, listen: b.address(), server: b.address(), limit: w.limit, connections: w.flows}
	var err error
	s.server, err = start(ctx, s.penbench, "server", "-listen", set.server.String(), "-then", string(w.server),
		"-request", strconv.Itoa(request), "-response", strconv.Itoa(response))
	if err != nil {
		return s, err
	}
	var up struct{ Listening netip.AddrPort }
	if err := s.server.read(&up); err != nil {
		return s, err
	}
	argv, err := p.Command(set)
	if err != nil {
		return s, err
	}
	if s.target = set.server; argv != nil {
		s.target = set.listen
		if s.proxy, err = start(ctx, argv...); err != nil {
			return s, err
		}
	}
	if err := s.probe(ctx); err != nil {
		if s.proxy != nil {
			s.proxy.end()
			err = fmt.Errorf("%w\n%s", err, &s.proxy.errors)
		}
		return s, err
	}
	return s, nil
}

// strike ends what stage started.
func (s *scene) strike() {
	for _, c := range []*child{s.proxy, s.server} {
		if c != nil {
			c.end()
		}
	}
}

// probe waits until a request is answered. It leaves no connection behind.
func (s *scene) probe(ctx context.Context) error {
	deadline := time.Now().Add(patience)
	for {
		err := s.try(deadline)
		if err == nil {
			return pause(ctx, 100*time.Millisecond) // for the proxy to see the end
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no answer: %w", err)
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

func (s *scene) try(deadline time.Time) error {
	c, err := net.DialTimeout("tcp", s.target.String(), time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(deadline)
	if _, err := c.Write(make([]byte, request)); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, response))
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (s *scene) proxyPID() int {
	if s.proxy == nil {
		return 0
	}
	return s.proxy.pid()
}

// client starts the load client for the scene's work.
func (s *scene) client(ctx context.Context, ask int, flags ...string) (*child, error) {
	return start(ctx, append([]string{s.penbench, "client", "-target", s.target.String(),
		"-work", string(s.work.client), "-flows", strconv.Itoa(s.work.flows),
		"-request", strconv.Itoa(ask), "-response", strconv.Itoa(response)}, flags...)...)
}

// load does timed work.
func (s *scene) load(ctx context.Context, d time.Duration) (res load.Result, err error) {
	watch := strconv.Itoa(s.server.pid())
	if s.proxy != nil {
		watch += "," + strconv.Itoa(s.proxy.pid())
	}
	c, err := s.client(ctx, request, "-for", d.String(), "-watch", watch)
	if err != nil {
		return res, err
	}
	defer c.end()
	return res, c.read(&res)
}

// hold opens the connections and takes what the proxy grew by.
func (s *scene) hold(ctx context.Context, ask int) (figures, error) {
	before, err := size(s.proxy.pid())
	if err != nil {
		return nil, err
	}
	c, err := s.client(ctx, ask)
	if err != nil {
		return nil, err
	}
	defer c.end()
	var up struct{ Standing int }
	if err := c.read(&up); err != nil {
		return nil, err
	}
	after, err := s.settled(ctx)
	if err != nil {
		return nil, err
	}
	c.stop()
	var res load.Result
	if err := c.read(&res); err != nil {
		return nil, err
	}
	if err := s.keptLimit(); err != nil {
		return nil, err
	}
	n := float64(s.work.flows - s.work.limit) // those that wait, or all
	return figures{
		s.work.metrics[0].name: float64(after.memory-before.memory) / n,
		s.work.metrics[1].name: float64(after.descriptors-before.descriptors) / n,
		lostMetric:             float64(res.Outcomes.Lost()),
	}, nil
}

// extent is what a process holds.
type extent struct {
	memory      int64
	descriptors int
}

func size(pid int) (e extent, err error) {
	if e.memory, err = proc.Memory(pid); err != nil {
		return e, err
	}
	e.descriptors, err = proc.Descriptors(pid)
	return e, err
}

// settled waits until the proxy has accepted what there is: until its
// descriptors have not changed for half a second.
func (s *scene) settled(ctx context.Context) (extent, error) {
	last, err := size(s.proxy.pid())
	for same := 0; err == nil && same < 5; same++ {
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return last, err
		}
		var now extent
		if now, err = size(s.proxy.pid()); now.descriptors != last.descriptors {
			same = 0
		}
		last = now
	}
	return last, err
}

var errLimit = errors.New("the server saw more connections at a time than its limit")

// keptLimit ends the server and looks at what it saw.
func (s *scene) keptLimit() error {
	s.server.stop()
	var counts load.Counts
	if err := s.server.read(&counts); err != nil {
		return err
	}
	if s.work.limit > 0 && counts.MaxOpen > int64(s.work.limit) {
		return fmt.Errorf("%w: %d", errLimit, counts.MaxOpen)
	}
	return nil
}
