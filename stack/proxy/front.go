package proxy

import (
	"errors"

	"penstock/stack/kernel"
	"penstock/stack/tap"
)

// addTap opens the TAP device, a queue for each loop.
func (p *Proxy) addTap() (err error) {
	if p.cfg.Tap == nil {
		return nil
	}
	n := len(p.workers)
	fds := n
	if p.cfg.Tap.Servers != nil {
		fds += n
	}
	if !p.budget.Withdraw(fds) {
		return errors.New("too few descriptors for the queues of the TAP device, one for each loop")
	}
	if p.devices = p.cfg.devices; p.devices == nil {
		if p.devices, err = tap.Open(*p.cfg.Tap, n, p.cfg.Log); err != nil {
			return err
		}
	}
	owners := make([]tap.Owner, n)
	for i, w := range p.workers {
		owners[i] = w
	}
	ports, err := tap.NewPorts(*p.cfg.Tap, p.devices, owners, func(i int) func() { return p.workers[i].loop.Wake }, kernel.Clock())
	if err != nil {
		return err
	}
	for i, w := range p.workers {
		w.tap, w.relay.Ends = ports[i], ports[i].Conns()
		w.watchTap()
	}
	return nil
}

// closeTap ends the netstacks, which then wake no loop any more, and closes the
// device.
func (p *Proxy) closeTap() {
	for _, w := range p.workers {
		if w.tap != nil {
			w.tap.Close()
		}
	}
	if p.devices != nil {
		p.devices.Close()
	}
}

// errNoTap is a mistake of the program: flags are checked before.
var errNoTap = errors.New("a virtual server is to listen on a TAP device, and there is none")

// openTap has clients of the virtual servers in list arrive on the TAP device.
func (p *Proxy) openTap(list []Opening) error {
	for k := range list {
		o := &list[k]
		if !o.Tap {
			continue
		}
		for _, w := range p.workers {
			if w.tap == nil {
				return errNoTap
			}
			if err := w.tap.Listen(o.ID, o.onTap()); err != nil {
				p.shutTap(list[:k+1])
				return err
			}
		}
	}
	return nil
}

// shutTap takes them back.
func (p *Proxy) shutTap(list []Opening) {
	for _, w := range p.workers {
		for i := range list {
			if w.tap != nil && list[i].Tap {
				w.tap.Shut(list[i].ID)
			}
		}
	}
}

// Yield has nobody arrive on the TAP device any more for virtual server id, which is
// about to be closed: another one may be opened where it is in the same change. Should
// that fail, back takes it back. Only within Isolate.
func (p *Proxy) Yield(id int) (back func()) {
	v := p.virtuals[id]
	if !v.Tap {
		return func() {}
	}
	p.shutTap([]Opening{{id, v}})
	return func() {
		for _, w := range p.workers {
			w.tap.Listen(id, v.onTap()) // as it did: nobody has come there since
		}
	}
}

// onTap is a virtual server as the TAP front end has it.
func (v *Virtual) onTap() tap.Virtual {
	return tap.Virtual{
		Listen: v.Listen.AddrPort, Proof: v.SynProof, Share: v.SynShare, Silent: v.Refuse == Drop,
		Forward: v.Forward, SNAT: v.SNAT, Idle: v.IdleTimeout, HalfClose: v.HalfClose,
	}
}

// watchTap has the loop tell what comes in, as long as there are devices.
func (w *worker) watchTap() {
	w.watchDevice(w.tap.FD(), !w.tap.Gone(), tapRef, &w.tapWatched)
	if fd, there, ok := w.tap.Servers(); ok {
		w.watchDevice(fd, there, serversRef, &w.serversWatched)
	}
}

func (w *worker) watchDevice(fd int, there bool, ref uint32, watched *bool) {
	switch {
	case there == *watched:
	case there:
		*watched = w.loop.WatchRead(fd, ref)
	default:
		w.loop.Unwatch(fd)
		*watched = false
	}
}

// tapTurn has the TAP port do what came up, and carries out what comes of it.
func (w *worker) tapTurn(now int64) (due int64) {
	for range tapRounds {
		due = w.tap.Turn(now)
		w.outcomes(now)
		if !w.tap.Busy() {
			break
		}
	}
	w.watchTap()
	if w.tap.Busy() {
		due = 1
	}
	switch {
	case !w.tap.Held():
	case w.framesCame:
		w.tap.Flush()
	default:
		w.loop.Later()
	}
	w.framesCame = false
	return due
}

// Late writes frames that came of several sockets' events.
func (w *worker) Late() {
	if w.tap != nil {
		w.tap.Flush()
	}
}

// tapRounds is how often a turn goes back and forth between the port and the
// dispatcher before other sockets get theirs.
const tapRounds = 4

// TapTotals sums up what the TAP front end has seen; nothing if there is none.
func (p *Proxy) TapTotals() (t tap.Totals) {
	for _, w := range p.workers {
		if w.tap != nil {
			w.tap.Add(&t)
		}
	}
	if p.devices != nil {
		t.Missed = p.devices.Clients.Missed()
		if p.devices.Servers != nil {
			t.Servers.Missed = p.devices.Servers.Missed()
		}
	}
	return t
}
