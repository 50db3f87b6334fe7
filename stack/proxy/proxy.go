package proxy

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/relay"
	"penstock/stack/sys"
)

// Proxy is the sessions of all loops.
type Proxy struct {
	// Constant after New.
	cfg       Config
	addresses []sys.Address // of members
	dispatch  *dispatch.Dispatcher
	budget    *kernel.Budget
	workers   []*worker
	listening []kernel.Address // by virtual server, ports chosen

	running  sync.WaitGroup
	draining atomic.Bool
	drained  chan struct{} // closed when the last session of a drain ended
	left     atomic.Int32  // loops that still have sessions to drain
}

// New opens the loops and their listeners. It serves nobody until Run.
func New(cfg Config) (*Proxy, error) {
	p := &Proxy{cfg: cfg, drained: make(chan struct{})}
	for _, m := range cfg.Members {
		p.addresses = append(p.addresses, sys.NewAddress(m))
	}
	p.dispatch = dispatch.New(cfg.Dispatch, func(i int) { p.workers[i].loop.Wake() })
	p.budget = kernel.NewBudget(cfg.MaxDescriptors, cfg.MaxClients, p.wakeAll)
	for i := range cfg.Dispatch.Loops {
		if err := p.addWorker(i); err != nil {
			p.Close()
			return nil, err
		}
	}
	if err := p.listen(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Proxy) addWorker(i int) (err error) {
	w := &worker{
		p: p, index: i, disp: p.dispatch.Loop(i), relay: relay.NewWorker(p.cfg.MaxPipes),
		stats: newStats(len(p.cfg.Virtuals), len(p.cfg.Members)), waste: make([]byte, 4096),
	}
	if w.loop, err = kernel.NewLoop(p.budget, w, p.cfg.Log); err != nil {
		return fmt.Errorf("loop %d: %w", i, err)
	}
	p.workers = append(p.workers, w)
	return nil
}

// listen opens a listener for each virtual server on each loop. The first
// loop's one chooses the port if it is 0.
func (p *Proxy) listen() error {
	for v := range p.cfg.Virtuals {
		if err := p.cfg.Virtuals[v].Listen.Free(); err != nil {
			return err
		}
	}
	for v := range p.cfg.Virtuals {
		a := p.cfg.Virtuals[v].Listen
		for _, w := range p.workers {
			var err error
			if a, err = w.loop.Listen(v, a, p.cfg.Virtuals[v].Options); err != nil {
				return err
			}
		}
		p.listening = append(p.listening, a)
	}
	return nil
}

// Listening returns the address of virtual server v, with its port.
func (p *Proxy) Listening(v int) kernel.Address { return p.listening[v] }

// Dispatcher returns what decides.
func (p *Proxy) Dispatcher() *dispatch.Dispatcher { return p.dispatch }

// Budget returns the descriptors in use and how many there are for
// connections.
func (p *Proxy) Budget() (used, most int) { return p.budget.Used(), p.budget.Max() }

// Clients returns how many clients are connected, parked ones included.
func (p *Proxy) Clients() int { return p.budget.Clients() }

// Draining says whether Drain was called.
func (p *Proxy) Draining() bool { return p.draining.Load() }

// wakeAll has loops that pause look whether they may accept again. A loop
// that is not running yet is woken when it starts.
func (p *Proxy) wakeAll() {
	for _, w := range p.workers {
		w.loop.Wake()
	}
}

// Run serves until Stop. It returns the first error of a loop.
func (p *Proxy) Run() error {
	errs := make([]error, len(p.workers))
	for i, w := range p.workers {
		p.running.Go(func() {
			if errs[i] = w.loop.Run(); errs[i] != nil {
				p.Stop() // its clients are lost, and a share of the new ones
			}
		})
	}
	p.running.Wait()
	p.Close()
	return errors.Join(errs...)
}

// Drain stops accepting; what is connected or parked goes on. The channel is
// closed when the last session has ended.
func (p *Proxy) Drain() <-chan struct{} {
	if !p.draining.CompareAndSwap(false, true) {
		return p.drained
	}
	p.left.Store(int32(len(p.workers)))
	for _, w := range p.workers {
		w.loop.Do(func() {
			w.loop.DrainBacklog() // who got through the handshake is served
			w.loop.CloseListeners()
			w.drained = p.oneDrained
		})
	}
	return p.drained
}

func (p *Proxy) oneDrained() {
	if p.left.Add(-1) == 0 {
		close(p.drained)
	}
}

// Cut ends all sessions. Drain must have been called.
func (p *Proxy) Cut() {
	for _, w := range p.workers {
		w.loop.Do(func() { w.cut(kernel.Clock()) })
	}
}

// Stop ends Run. Sessions that are left are the operating system's.
func (p *Proxy) Stop() {
	for _, w := range p.workers {
		w.loop.Stop()
	}
}

// Close frees what New opened. Run does it; it is for a proxy that never ran.
func (p *Proxy) Close() {
	for _, w := range p.workers {
		w.loop.Free()
		w.relay.Close()
	}
}

// cut ends all sessions of a loop.
func (w *worker) cut(now int64) {
	for i := uint32(1); i < w.clients.Cap(); i++ {
		c := w.clients.At(i)
		switch c.state {
		case 0, departed:
		case parked:
			w.leave(i, c, Drained, now)
		default:
			w.end(i, c, Drained, "proxy", now)
		}
	}
}
