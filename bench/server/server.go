package server

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"

	"penstock/bench/sock"
	"penstock/bench/tally"
)

// Server answers, and checks who asks. Made by Listen; Serve runs it once.
type Server struct {
	// Constant after Listen.
	cfg     Config
	clock   sock.Clock
	began   int64 // ns; the schedule's 0
	members []*member
	loops   []*loop

	counts atomic.Int64 // calls of Count; each loop heeds them
	paused atomic.Bool  // by Pause

	skew   atomic.Int64 // ns that the schedule's clock was put forward, by a test
	turned atomic.Int64 // changes of mode, of all loops
}

// Listen takes the addresses: connections made from now on wait for Serve,
// unless the schedule begins otherwise.
func Listen(cfg Config) (*Server, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	sock.Reserve() // connections may take all that there are
	s := &Server{cfg: cfg, clock: sock.NewClock()}
	for _, ap := range cfg.Listen {
		m := &member{address: ap}
		if cfg.Limit > 0 {
			m.guard = newGuard(cfg.Limit)
		}
		s.members = append(s.members, m)
	}
	err := s.open()
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *Server) open() error {
	for i := range s.cfg.Loops {
		l := newLoop(s, i)
		s.loops = append(s.loops, l)
		if err := l.listen(); err != nil {
			return err
		}
	}
	s.began = s.clock.Now()
	for _, l := range s.loops {
		if err := l.turn(s.began); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) close() {
	for _, l := range s.loops {
		l.close()
	}
}

// Addresses are where the members listen, in the order of Config.Listen.
func (s *Server) Addresses() (all []netip.AddrPort) {
	for _, m := range s.members {
		all = append(all, m.address)
	}
	return all
}

// Serve runs the loops until ctx is done, closes everything, and tells what it
// has seen.
func (s *Server) Serve(ctx context.Context) (tally.Server, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var working sync.WaitGroup
	errs := make([]error, len(s.loops))
	for i, l := range s.loops {
		working.Go(func() {
			errs[i] = l.run(ctx)
			stop() // one that fails ends all
		})
	}
	working.Wait()
	sum := s.sum() // while what is open is open
	s.close()
	return sum, errors.Join(errs...)
}

// Count forgets what is known of order, waits and handovers, and counts them
// anew. The rest of the tally is of all the time. To be called while Serve runs,
// by any goroutine.
func (s *Server) Count() {
	s.paused.Store(false)
	s.counts.Add(1)
}

// Pause keeps what is known of order, waits and handovers, and counts no more of
// them until Count: what clients do at their end tells nothing of the proxy.
func (s *Server) Pause() { s.paused.Store(true) }

// Now tells how many connections are open and how many have been accepted. It
// may be called at any time.
func (s *Server) Now() (open, accepted int64) {
	for _, m := range s.members {
		open += m.open.Load()
		accepted += m.accepted.Load()
	}
	return open, accepted
}

// sum adds up what the loops have counted. They must have ended.
func (s *Server) sum() tally.Server {
	t := tally.Server{Wait: tally.NewHistogram(), Handover: tally.NewHistogram()}
	for _, m := range s.members {
		t.Members = append(t.Members, m.tally())
	}
	var rolls []*roll
	for _, l := range s.loops {
		l.heed()
		t.Requests += l.requests
		t.Sent += l.sent
		t.Received += l.received
		t.Wait.Merge(l.wait)
		t.Handover.Merge(l.handover)
		t.Open.Add(l.samples)
		rolls = append(rolls, &l.roll)
	}
	t.Order = orderOf(rolls, int64(s.cfg.Fifo))
	return t
}
