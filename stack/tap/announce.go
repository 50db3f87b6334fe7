package tap

import (
	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// checkEvery is how often the device is looked after.
const checkEvery = int64(1e9)

// check looks whether the device is there, and says where we are if it is back.
func (p *Port) check(now int64) {
	state, changed := p.queue.Check(now)
	p.gone = state == device.Gone
	if changed && state == device.Up {
		p.announceAll()
	}
	p.fwd.check(now)
}

// Gone says that there is no device now: the descriptor is not to be watched.
func (p *Port) Gone() bool { return p.gone }

// ours says whether we answer for an address.
func (p *Port) ours(a *frame.Addr) bool {
	return p.net.Answers(a) || p.fwd.common.oneArmed && p.fwd.isSNAT(a)
}

// arp answers who asks for an address of ours.
func (p *Port) arp(b []byte, now int64) {
	a, ok := frame.ParseARP(b)
	if ok && p.fwd.common.oneArmed {
		p.fwd.common.routes.ARP(&a, now)
	}
	if ok && a.Op == frame.ARPRequest && p.ours(&a.TargetIP) {
		p.out = frame.AppendARPReply(p.out[:0], &a, p.mac)
		p.queue.WriteFrame(p.out)
	}
}

// neighbor does so for IPv6.
func (p *Port) neighbor(b []byte, now int64) {
	n, ok := frame.ParseNeighbor(b)
	if ok && p.fwd.common.oneArmed {
		p.fwd.common.routes.Neighbor(&n, now)
	}
	if !ok || n.Advert || !p.ours(&n.Target) {
		return
	}
	p.hops.Learn(&n.Src, n.From, now)
	p.out = frame.AppendAdvert(p.out[:0], &n, p.mac)
	p.queue.WriteFrame(p.out)
}

// announceAll tells the link where all addresses of ours are.
func (p *Port) announceAll() {
	for n := range p.listeners {
		if l := &p.listeners[n]; n > 0 && l.id >= 0 {
			p.announce(&l.at.addr)
			if p.fwd.common.oneArmed {
				p.fwd.announceSNAT(l.SNAT)
			}
		}
	}
	for _, a := range p.cfg.Addresses {
		addr := frame.Addr(a.Addr().As16())
		p.announce(&addr)
	}
}

// announce tells the link where an address is: whoever had it before is
// forgotten by bridges and neighbours.
func (p *Port) announce(a *frame.Addr) {
	if frame.Is4(a) {
		p.out = frame.AppendGratuitousARP(p.out[:0], p.mac, a)
	} else {
		p.out = frame.AppendUnsolicitedAdvert(p.out[:0], p.mac, a)
	}
	p.queue.WriteFrame(p.out)
}
