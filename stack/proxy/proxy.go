package proxy

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/proxyheader"
	"penstock/stack/relay"
	"penstock/stack/tap"
)

// Proxy is the sessions of all loops.
type Proxy struct {
	// Constant after New.
	cfg      Config // what it says of objects is how they were at the start
	dispatch *dispatch.Dispatcher
	budget   *kernel.Budget
	workers  []*worker

	devices *tap.Devices // nil: no TAP front end

	objects // changed while all loops stand still, see Isolate

	running  sync.WaitGroup
	draining atomic.Bool
	drained  chan struct{} // closed when the last session of a drain ended
	left     atomic.Int32  // loops that still have sessions to drain

	isolating sync.Mutex // held by Isolate; then life
	life      life
	ending    chan struct{} // closed when the first loop ended
	endOnce   sync.Once
}

// New opens the loops and their listeners. It serves nobody until Run.
func New(cfg Config) (*Proxy, error) {
	p := &Proxy{cfg: cfg, drained: make(chan struct{}), ending: make(chan struct{})}
	p.dispatch = dispatch.New(cfg.Dispatch, func(i int) { p.workers[i].loop.Wake() })
	p.budget = kernel.NewBudget(cfg.MaxDescriptors, cfg.MaxClients, p.wakeAll)
	for i := range cfg.Dispatch.Loops {
		if err := p.addWorker(i); err != nil {
			p.Close()
			return nil, err
		}
	}
	if err := p.addTap(); err != nil {
		p.Close()
		return nil, err
	}
	if err := p.addObjects(); err != nil {
		p.Close()
		return nil, err
	}
	p.publish()
	return p, nil
}

func (p *Proxy) addWorker(i int) (err error) {
	w := &worker{
		p: p, index: i, disp: p.dispatch.Loop(i), relay: relay.NewWorker(p.cfg.MaxPipes),
		waste: make([]byte, proxyheader.Most),
	}
	w.stats = new(Stats)
	w.publish()
	if w.loop, err = kernel.NewLoop(p.budget, w, p.cfg.Log); err != nil {
		return fmt.Errorf("loop %d: %w", i, err)
	}
	p.workers = append(p.workers, w)
	return nil
}

// addObjects makes known what the configuration has.
func (p *Proxy) addObjects() error {
	for i, pl := range p.cfg.Pools {
		p.SetPool(i, pl)
	}
	for i, m := range p.cfg.Members {
		p.SetMember(i, int(p.cfg.Dispatch.Members[i].Pool), m)
	}
	var list []Opening
	for i, v := range p.cfg.Virtuals {
		v.Pool = p.cfg.Dispatch.Virtuals[i].Pool
		list = append(list, Opening{i, v})
	}
	return p.open(list)
}

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
	p.setLife(running)
	errs := make([]error, len(p.workers))
	for i, w := range p.workers {
		p.running.Go(func() {
			if errs[i] = w.loop.Run(); errs[i] != nil {
				p.Stop() // its clients are lost, and a share of the new ones
			}
			p.loopEnded()
		})
	}
	p.running.Wait()
	p.setLife(over)
	p.Close()
	return errors.Join(errs...)
}

// Drain stops accepting; what is connected or parked goes on. The channel is
// closed when the last session has ended, and its client has all that was said to it
// if it came over a TAP device.
func (p *Proxy) Drain() <-chan struct{} {
	if !p.draining.CompareAndSwap(false, true) {
		return p.drained
	}
	p.left.Store(int32(len(p.workers)))
	for _, w := range p.workers {
		w.loop.Do(func() {
			w.loop.DrainBacklog() // who got through the handshake is served
			w.loop.CloseListeners()
			if w.tap != nil {
				w.tap.Drain()
			}
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

// Cut ends all sessions: first those that wait, so that nobody is dialled for
// as slots come free. Drain must have been called. Not within Isolate.
func (p *Proxy) Cut() {
	if p.Isolate(func(now int64) {
		for _, w := range p.workers {
			w.cut(parked, now)
		}
	}) != nil {
		return
	}
	for _, w := range p.workers {
		w.loop.Do(func() { w.cut(0, kernel.Clock()) })
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
	p.closeTap()
	for _, w := range p.workers {
		w.loop.Free()
		w.relay.Close()
	}
}

// cut ends the sessions of a loop that are in the given state; 0 is any.
func (w *worker) cut(only sessionState, now int64) {
	w.cutHandshakes(now)
	if only == 0 {
		w.cutFlows(now)
	}
	for i := uint32(1); i < w.clients.Cap(); i++ {
		c := w.clients.At(i)
		switch {
		case c.state == 0, c.state == departed, only != 0 && c.state != only:
		case c.state == parked:
			w.leave(i, c, Drained, now)
		default:
			w.end(i, c, Drained, "proxy", now)
		}
	}
	if only == 0 && w.tap != nil {
		w.tap.Conns().Abandon()
	}
}
