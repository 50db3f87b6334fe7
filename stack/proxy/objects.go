package proxy

import (
	"errors"
	"net/netip"
	"slices"
	"sync"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/sys"
)

// ErrDraining says that no listener is opened any more.
var ErrDraining = errors.New("the proxy is draining")

// objects is what sessions need to know of the dispatcher's objects, by their
// numbers there. The loops read it at any time; it changes while they stand
// still. Nothing is read of a number that is not in use.
type objects struct {
	virtuals []Virtual
	pools    []Pool
	members  []destination

	closed []int // virtual servers that sessions may name still, see Forget

	listeningMu sync.Mutex       // anybody may ask
	listening   []kernel.Address // by virtual server, ports chosen; under listeningMu
}

// destination is where a server is, and the pool by whose rules it is dialled: not
// that of the client's virtual server, which may have been given another since
// the slot was.
type destination struct {
	address sys.Address
	pool    int
}

// put sets list[i], which may lie behind the list's end.
func put[T any](list []T, i int, v T) []T {
	for i >= len(list) {
		var zero T
		list = append(list, zero)
	}
	list[i] = v
	return list
}

// The following are for within Isolate only.

// SetPool changes how pool id's servers are dialled and its clients treated.
func (p *Proxy) SetPool(id int, pl Pool) { p.pools = put(p.pools, id, pl) }

// SetMember makes member id of a pool known, with its address.
func (p *Proxy) SetMember(id, pool int, at netip.AddrPort) {
	p.members = put(p.members, id, destination{sys.NewAddress(at), pool})
	for _, w := range p.workers {
		w.countMember(id)
	}
}

// SetVirtual changes how virtual server id treats its clients, those that are
// there included; socket options are for new ones. Open changes where it
// listens.
func (p *Proxy) SetVirtual(id int, v Virtual) {
	was := p.virtuals[id]
	p.virtuals[id] = v
	for _, w := range p.workers {
		for _, fd := range w.loop.Listeners(id) {
			w.loop.SetOptions(fd, v.Options)
		}
		if v.IdleTimeout != was.IdleTimeout || v.HalfClose != was.HalfClose {
			w.sweeps = append(w.sweeps, sweep{what: rearm, id: uint16(id), next: 1})
		}
	}
}

// Open makes virtual server id known and opens its listeners on all loops, or
// on none. Clients that come are accepted when the loops go on, so that it may
// be made known to the dispatcher afterwards. If it listens already, it moves:
// the old listeners are closed as by CloseVirtual, when the new ones are open.
func (p *Proxy) Open(id int, v Virtual) (kernel.Address, error) {
	if p.draining.Load() {
		return v.Listen, ErrDraining
	}
	if !p.shares(v.Listen) {
		if err := v.Listen.Free(); err != nil {
			return v.Listen, err
		}
	}
	return p.open(id, v)
}

// shares says whether a listener of ours has the port: then Free can't tell
// whether somebody else has the address.
func (p *Proxy) shares(a kernel.Address) bool {
	for id := range p.virtuals {
		if p.isOpen(id) && p.Listening(id).Port() == a.Port() {
			return true
		}
	}
	return false
}

// isOpen says whether clients of virtual server id may still arrive.
func (p *Proxy) isOpen(id int) bool {
	return slices.ContainsFunc(p.workers, func(w *worker) bool { return len(w.loop.Listeners(id)) > 0 })
}

func (p *Proxy) open(id int, v Virtual) (at kernel.Address, err error) {
	old := make([][]int, len(p.workers))
	for i, w := range p.workers {
		old[i] = w.loop.Listeners(id)
	}
	at = v.Listen // the first loop's listener chooses the port if it is 0
	for _, w := range p.workers {
		if at, err = w.loop.Listen(id, at, v.Options); err != nil {
			p.unopen(id, old)
			return v.Listen, err
		}
	}
	for i, w := range p.workers {
		w.countVirtual(id)
		w.closing = append(w.closing, old[i]...)
	}
	p.virtuals = put(p.virtuals, id, v)
	p.listeningMu.Lock()
	p.listening = put(p.listening, id, at)
	p.listeningMu.Unlock()
	return at, nil
}

// unopen closes the listeners of virtual server id but the old ones.
func (p *Proxy) unopen(id int, old [][]int) {
	for i, w := range p.workers {
		for _, fd := range w.loop.Listeners(id)[len(old[i]):] {
			w.loop.CloseListener(fd)
		}
	}
}

// CloseVirtual closes the listeners of virtual server id, which is taken from
// the dispatcher. Each loop does it in its next turn, and accepts who waits in
// the backlog first: who got through the handshake is served. It is done when
// another Isolate has returned. Its sessions go on; see Forget.
func (p *Proxy) CloseVirtual(id int) {
	for _, w := range p.workers {
		w.closing = append(w.closing, w.loop.Listeners(id)...)
	}
	p.closed = append(p.closed, id)
}

// unlisten closes listeners, with nobody left in their backlogs.
func (w *worker) unlisten() {
	for _, fd := range w.closing {
		w.loop.DrainListener(fd)
		w.loop.CloseListener(fd)
	}
	w.closing = w.closing[:0]
}

// Forget tells the dispatcher of the objects that were removed there and that
// no session names any more. Their numbers may be used again, and count from
// zero; gone (may be nil) is told what a member had counted. It returns how
// many are left for another time.
func (p *Proxy) Forget(gone func(member int, t Totals)) (left int) {
	p.closed = slices.DeleteFunc(p.closed, p.forgetVirtual)
	left = len(p.closed)
	for id := range p.members {
		if !p.knowsMember(id) || !p.dispatch.Member(dispatch.MemberID(id)).Removed {
			continue
		}
		t := p.MemberTotals(id)
		switch {
		case !p.forgetMember(id):
			left++
		case gone != nil:
			gone(id, t)
		}
	}
	return left
}

func (p *Proxy) forgetVirtual(id int) bool {
	if p.isOpen(id) || p.VirtualTotals(id).Open > 0 || !p.dispatch.ForgetVirtual(dispatch.VirtualID(id)) {
		return false
	}
	for _, w := range p.workers {
		w.publish(w.stats.withVirtual(id, nil))
	}
	return true
}

func (p *Proxy) knowsMember(id int) bool {
	list := p.workers[0].stats.members
	return id < len(list) && list[id] != nil
}

func (p *Proxy) forgetMember(id int) bool {
	if p.MemberTotals(id).Open > 0 || !p.dispatch.ForgetMember(dispatch.MemberID(id)) {
		return false
	}
	for _, w := range p.workers {
		w.publish(w.stats.withMember(id, nil))
	}
	return true
}

// ClientOf returns the address of the client that a loop's dispatcher knows as
// conn, which waits there: the source address of its PROXY header if it had
// one.
func (p *Proxy) ClientOf(loop int, conn uint32) netip.AddrPort {
	return p.workers[loop].clients.At(conn).peer.AddrPort()
}

// Listening returns the address of virtual server v, with its port. Anybody
// may ask.
func (p *Proxy) Listening(v int) kernel.Address {
	p.listeningMu.Lock()
	defer p.listeningMu.Unlock()
	return p.listening[v]
}
