package tap

import (
	"net/netip"

	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/flow"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/rewrite"
	"penstock/stack/wheel"
)

// link is a device as a loop has it.
type link struct {
	device Device
	queue  Queue
	mac    frame.MAC
	mtu    int
	own    []frame.Addr // addresses of ours, SNAT's not among them
	gone   bool
}

func newForwarder(p *Port, c *Common, d *Devices, i int, owner FlowOwner, seed uint64, now int64) *forwarder {
	s := d.servers()
	f := &forwarder{
		p: p, owner: owner, common: c, loop: i, flows: flow.New(p.cfg.Flows, seed, sys.LargePages),
		link:    link{device: s, queue: s.Queue(i), mac: s.MAC(), mtu: s.MTU()},
		ear:     ear{device: s, queue: s.Queue(i), upTo: now, since: now},
		servers: make([]server, 1), serverAt: map[place]uint16{},
	}
	f.attempts.wheel = wheel.New(now)
	own := p.cfg.Addresses
	if p.cfg.Servers != nil {
		own = p.cfg.Servers.Addresses
	}
	for _, a := range own {
		f.link.own = append(f.link.own, a.Addr().As16())
	}
	return f
}

// Servers returns what ServersReadable is called for, if there is a device that only
// servers are behind, and whether that is there now.
func (p *Port) Servers() (fd int, there, ok bool) {
	if p.fwd.common.oneArmed {
		return 0, false, false
	}
	return p.fwd.link.queue.FD(), !p.fwd.link.gone, true
}

// ServersReadable takes in what that device has, or a good deal of it.
func (p *Port) ServersReadable(now int64) { p.readable(&p.fwd.ear, now) }

// segmentIn is a frame of n bytes that was read to head and tail.
func (p *Port) segmentIn(n int, head, tail []byte) segment {
	s := segment{b: head, n: n, h: &p.vnet}
	if n <= len(head) {
		s.b = head[:n]
	} else {
		s.tail = tail[:min(n-len(head), len(tail))]
	}
	return s
}

// take handles a frame of that device.
func (f *forwarder) take(s *segment, now int64) {
	p, pkt := f.p, &f.p.pkt
	f.from, f.left = fromServers, f.around()
	switch pkt.ParseHead(s.b, s.n, f.link.mac) {
	case frame.Foreign, frame.Unknown:
		p.counts.foreign.Add(1)
	case frame.Bad:
		p.counts.bad.Add(1)
	case frame.ARP:
		f.arp(s.b, now)
	case frame.Neighbor:
		f.neighbor(s.b, now)
	case frame.TCP:
		f.tcp(s, now)
	case frame.Other:
		f.other(s, now)
	}
}

// other handles what is no plain TCP: an error about that, or a ping.
func (f *forwarder) other(s *segment, now int64) {
	p := f.p
	b := f.joined(s)
	if fragment(b, p.pkt.V6) {
		p.counts.fragments.Add(1)
		return
	}
	if f.icmp(s, now) || !f.answers(&p.pkt.Dst) {
		return
	}
	if out, ok := rewrite.AppendEcho(p.out[:0], b, &p.pkt, f.link.mac); ok {
		f.complain(out)
	}
}

// joined is a frame in one piece.
func (f *forwarder) joined(s *segment) []byte {
	if len(s.tail) == 0 {
		return s.b
	}
	f.whole = append(append(f.whole[:0], s.b...), s.tail...)
	return f.whole
}

// answers says whether an address on the servers' link is ours.
func (f *forwarder) answers(a *frame.Addr) bool {
	for i := range f.link.own {
		if f.link.own[i] == *a {
			return true
		}
	}
	return f.isSNAT(a)
}

// isSNAT says whether a is what servers see in place of clients, or did.
func (f *forwarder) isSNAT(a *frame.Addr) bool {
	for n := range f.p.listeners {
		l := &f.p.listeners[n]
		if l.id < 0 {
			continue
		}
		for _, s := range l.SNAT {
			if s.As16() == *a {
				return true
			}
		}
	}
	return f.common.pools.has(a)
}

// arp answers who asks for an address of ours, and listens.
func (f *forwarder) arp(b []byte, now int64) {
	a, ok := frame.ParseARP(b)
	if !ok {
		return
	}
	f.common.routes.ARP(&a, now)
	if a.Op == frame.ARPRequest && f.answers(&a.TargetIP) {
		f.write(frame.AppendARPReply(f.p.out[:0], &a, f.link.mac))
	}
}

// neighbor does so for IPv6.
func (f *forwarder) neighbor(b []byte, now int64) {
	n, ok := frame.ParseNeighbor(b)
	if !ok {
		return
	}
	f.common.routes.Neighbor(&n, now)
	if !n.Advert && f.answers(&n.Target) {
		f.write(frame.AppendAdvert(f.p.out[:0], &n, f.link.mac))
	}
}

// check looks after the device, and says where we are if it is back.
func (f *forwarder) check(now int64) {
	f.forgetServers(now)
	f.complaints = 0
	if f.loop == 0 {
		f.common.routes.Turn(now, f.p.out[:0], f.write)
	}
	if f.common.oneArmed {
		return
	}
	state, changed := f.link.queue.Check(now)
	f.link.gone = state == device.Gone
	if changed && state == device.Up {
		f.announce()
	}
}

// announce tells the servers' link, if there is one, where our addresses are.
func (f *forwarder) announce() {
	if f.common.oneArmed {
		return
	}
	for i := range f.link.own {
		f.announceOne(&f.link.own[i])
	}
	for n := range f.p.listeners {
		f.announceSNAT(f.p.listeners[n].SNAT)
	}
}

func (f *forwarder) announceSNAT(list []netip.Addr) {
	for _, a := range list {
		addr := frame.Addr(a.As16())
		f.announceOne(&addr)
	}
}

func (f *forwarder) announceOne(a *frame.Addr) {
	if frame.Is4(a) {
		f.write(frame.AppendGratuitousARP(f.p.out[:0], f.link.mac, a))
	} else {
		f.write(frame.AppendUnsolicitedAdvert(f.p.out[:0], f.link.mac, a))
	}
}

// turn does what is due.
func (f *forwarder) turn(now int64) {
	f.from = fromClients
	at := now
	if due, ok := f.attempts.wheel.Next(); ok && due <= now {
		at = f.heardBoth(now)
	}
	f.attempts.wheel.Advance(at, func(a uint32) { f.retime(a, at, now) })
	f.again = 0
	if at < now {
		f.again = now + ms
	}
	if now >= f.walkAt {
		f.walk(f.heardBoth(now), now)
	}
	f.p.counts.lingering.Store(int64(f.flows.Len()) - f.p.counts.flows.Load())
}

// flush writes what is held back for servers; what is for clients, the port does.
func (f *forwarder) flush() {
	if !f.common.oneArmed {
		f.link.queue.Flush()
	}
}

func (f *forwarder) held() bool { return !f.common.oneArmed && f.link.queue.Held() }

// flowsEvery is between two walks through all flows, unless the last one found many to
// look at: then a microsecond for each, a second at most. If there is none, too.
const flowsEvery = 50 * ms

// walk looks for flows of which nothing was heard for too long, in portions: if they
// are due at a time up to which all was heard.
func (f *forwarder) walk(at, now int64) {
	if !f.flows.Walk(at, walkBudget, func(n uint32) int64 { f.looked++; return f.look(n, at, now) }) {
		f.walkAt = now + walkPause
		return
	}
	f.walked = now
	f.walkAt = now + walkEvery
	f.walkBy(max(f.flows.Soonest(), now+f.looked*1000))
	f.looked = 0
}

// dueAt is when turn wants to be called.
func (f *forwarder) dueAt() int64 {
	due := f.walkAt
	if at, ok := f.attempts.wheel.Next(); ok {
		due = min(due, max(at, f.again))
	}
	return due
}
