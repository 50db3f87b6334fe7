package proxy

import (
	"net/netip"
	"slices"
	"sync"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/sys"
)

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
	at      netip.AddrPort // the same
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
	p.members = put(p.members, id, destination{sys.NewAddress(at), at, pool})
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
		if v.Tap {
			w.tap.Change(id, v.onTap())
		}
		if v.Options != was.Options {
			for _, fd := range w.loop.Listeners(id) {
				w.loop.SetOptions(fd, v.Options)
			}
		}
		if v.IdleTimeout != was.IdleTimeout || v.HalfClose != was.HalfClose {
			w.sweeps = append(w.sweeps, sweep{what: rearm, id: uint16(id), next: 1})
		}
	}
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
	p.dispatch.Publish()
	return left
}

func (p *Proxy) forgetVirtual(id int) bool {
	if p.isOpen(id) || p.VirtualTotals(id).Open > 0 || !p.dispatch.ForgetVirtual(dispatch.VirtualID(id)) {
		return false
	}
	for _, w := range p.workers {
		w.putVirtual(id, nil)
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
		w.putMember(id, nil)
	}
	return true
}

// ClientOf returns the address of the client that a loop's dispatcher knows as
// conn, which waits there: the source address of its PROXY header if it had
// one.
func (p *Proxy) ClientOf(loop int, conn uint32) netip.AddrPort {
	w := p.workers[loop]
	if conn&handshakeBit != 0 {
		return w.tap.Peer(conn &^ handshakeBit).AddrPort()
	}
	return w.clients.At(conn).peer.AddrPort()
}
