package proxy

import (
	"errors"
	"fmt"
	"slices"

	"penstock/stack/kernel"
	"penstock/stack/sys"
)

// ErrDraining says that no listener is opened any more.
var ErrDraining = errors.New("the proxy is draining")

// Opening is a virtual server that is about to listen.
type Opening struct {
	ID int
	Virtual
}

// Open makes virtual servers known and opens their listeners on all loops, or
// none of them: nobody can connect to one before all have what they need.
// Clients that come are accepted when the loops go on, so that they may be made
// known to the dispatcher afterwards. One that listens already moves: its old
// listeners are closed as by CloseVirtual, when the new ones are open. Only
// within Isolate.
func (p *Proxy) Open(list ...Opening) error {
	switch {
	case len(list) == 0:
		return nil
	case p.draining.Load():
		return ErrDraining
	}
	n := 0
	for i := range list {
		if !list[i].Tap {
			n += len(p.workers)
		}
	}
	if !p.budget.Withdraw(n) {
		return fmt.Errorf("too few descriptors for %d more listeners, one for each loop: connections may hold %d and hold %d; allowed is a higher RLIMIT_NOFILE, or fewer -loops",
			n, p.budget.Max(), p.budget.Used())
	}
	err := p.open(list)
	if err != nil {
		p.budget.Deposit(n)
	}
	return err
}

// open does so with descriptors that were taken out of the budget.
func (p *Proxy) open(list []Opening) error {
	ours := p.ports()
	for i := range list {
		if at := list[i].Listen; !list[i].Tap && !ours[at.Port()] {
			if err := at.Free(); err != nil {
				return err
			}
		}
	}
	sockets := make([]socketSet, 0, len(list))
	for i := range list {
		s, err := p.bind(&list[i])
		if sockets = append(sockets, s); err != nil {
			p.unopen(sockets)
			return err
		}
	}
	old := p.listeners(list)
	for i := range sockets {
		if err := p.take(list[i].ID, &sockets[i]); err != nil {
			p.unopen(sockets)
			return err
		}
	}
	if err := p.openTap(list); err != nil {
		p.unopen(sockets)
		return err
	}
	for i := range p.workers {
		p.workers[i].closing = append(p.workers[i].closing, old[i]...)
	}
	for i := range list {
		p.opened(&list[i], sockets[i].at)
	}
	return nil
}

// socketSet is a virtual server's sockets, one for each loop.
type socketSet struct {
	at  kernel.Address
	fds []int
}

// bind takes the address. What it returns with an error is to be closed.
func (p *Proxy) bind(o *Opening) (s socketSet, err error) {
	s.at = o.Listen
	if o.Tap {
		return s, nil
	}
	// The first loop's socket chooses the port if it is 0
	for range p.workers {
		fd, at, err := kernel.Bind(s.at, o.Options)
		if err != nil {
			return s, err
		}
		s.at, s.fds = at, append(s.fds, fd)
	}
	return s, nil
}

// take makes the sockets the loops'.
func (p *Proxy) take(id int, s *socketSet) error {
	for i, w := range p.workers {
		if len(s.fds) == 0 {
			break // on the TAP device
		}
		if err := w.loop.Take(s.fds[i], id); err != nil {
			return fmt.Errorf("listen on %v: %w", s.at, err)
		}
	}
	return nil
}

// unopen closes sockets, the loops' or not.
func (p *Proxy) unopen(sockets []socketSet) {
	for _, s := range sockets {
		for i, fd := range s.fds {
			if !p.workers[i].loop.CloseListener(fd) {
				sys.Close(fd)
			}
		}
	}
}

// listeners returns those that the virtual servers have, by loop.
func (p *Proxy) listeners(list []Opening) [][]int {
	by := make([][]int, len(p.workers))
	for i, w := range p.workers {
		for k := range list {
			by[i] = append(by[i], w.loop.Listeners(list[k].ID)...)
		}
	}
	return by
}

func (p *Proxy) opened(o *Opening, at kernel.Address) {
	for _, w := range p.workers {
		w.countVirtual(o.ID)
	}
	p.virtuals = put(p.virtuals, o.ID, o.Virtual)
	p.listeningMu.Lock()
	p.listening = put(p.listening, o.ID, at)
	p.listeningMu.Unlock()
}

// ports are those that listeners of ours have: for them Free can't tell whether
// somebody else has the address.
func (p *Proxy) ports() map[uint16]bool {
	ports := map[uint16]bool{}
	for _, w := range p.workers {
		for _, id := range w.loop.Indices() {
			ports[p.Listening(id).Port()] = true
		}
	}
	return ports
}

// isOpen says whether clients of virtual server id may still arrive.
func (p *Proxy) isOpen(id int) bool {
	return slices.ContainsFunc(p.workers, func(w *worker) bool {
		return len(w.loop.Listeners(id)) > 0 || w.tap != nil && w.tap.Listens(id)
	})
}

// CloseVirtual closes the listeners of virtual server id, which is taken from
// the dispatcher. Each loop does it in its next turn, and accepts who waits in
// the backlog first: who got through the handshake is served. It is done when
// another Isolate has returned. Its sessions go on; see Forget. Only within
// Isolate.
func (p *Proxy) CloseVirtual(id int) {
	for _, w := range p.workers {
		w.closing = append(w.closing, w.loop.Listeners(id)...)
		if w.tap != nil {
			w.tap.Shut(id)
		}
	}
	p.closed = append(p.closed, id)
}

// unlisten closes listeners, with nobody left in their backlogs.
func (w *worker) unlisten() {
	for _, fd := range w.closing {
		w.loop.DrainListener(fd)
		if w.loop.CloseListener(fd) {
			w.p.budget.Deposit(1)
		}
	}
	w.closing = w.closing[:0]
}

// Listening returns the address of virtual server v, with its port. Anybody
// may ask.
func (p *Proxy) Listening(v int) kernel.Address {
	p.listeningMu.Lock()
	defer p.listeningMu.Unlock()
	return p.listening[v]
}
