package tap

import (
	"sync/atomic"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/pass"
	"penstock/stack/tap/route"
	"penstock/stack/tap/steer"
)

// Common is what the ports of all loops have of forwarding together.
type Common struct {
	// Constant after newCommon.
	routes   *route.Table
	mesh     *pass.Mesh // nil: one loop
	hash     *steer.Hash
	rule     steer.Rule  // of the device that servers are behind
	steered  func() bool // that the devices go by hash, as long as they do
	loops    int
	oneArmed bool // clients and servers are behind one device

	pools pools
	turn  atomic.Uint32 // whose turn it is of several SNAT addresses
}

// meshBytes is how much one loop may have for another that has not taken it yet.
const meshBytes = 1 << 20

func newCommon(c *Config, d *Devices, loops int, wake func(loop int)) *Common {
	own, gateways := c.Addresses, c.Gateways
	if c.Servers != nil {
		own, gateways = c.Servers.Addresses, c.Servers.Gateways
	}
	m := &Common{
		routes: route.New(route.Config{Own: own, Gateways: gateways, MAC: d.servers().MAC()}),
		hash:   d.Hash, rule: steer.Both, steered: d.Steered,
		pools: newPools(loops), loops: loops, oneArmed: d.Servers == nil,
	}
	if m.steered == nil {
		m.steered = func() bool { return false }
	}
	if d.Servers != nil {
		m.rule = steer.Destination
	}
	if loops > 1 {
		m.mesh = pass.New(loops, meshBytes, wake)
	}
	return m
}

// pass hands the frame at hand over to the loop whose it may be. False: it is
// nobody's, or was everybody's already.
//
// A frame comes to the wrong loop where nothing of ours steers the device, or where
// one device has both sides and the server sees the client's own address. Of a port
// of ours it is known who has it. Otherwise the frame goes round all loops.
func (f *forwarder) pass(s *segment) bool {
	c := f.common
	if c.mesh == nil || f.left == 0 {
		return false
	}
	to, left := (f.loop+1)%c.loops, f.left-1
	loop, known := 0, false
	if f.from == fromServers {
		loop, known = f.portOwner()
	}
	switch {
	case known && loop == f.loop:
		return false
	case known:
		to, left = loop, 0
	case c.steered() && (f.from == fromClients || c.rule == steer.Destination):
		return false
	}
	return f.hand(to, left, s)
}

// hand gives a frame to another loop, after which so many more may have a look.
func (f *forwarder) hand(to int, left uint8, s *segment) bool {
	if f.common.mesh.Put(f.loop, to, f.from<<7|left, s.h, s.b, s.tail) {
		f.p.counts.passedOn.Add(1)
	} else {
		f.p.counts.passDrops.Add(1)
	}
	return true
}

// portOwner returns the loop that has the port that the frame at hand is for.
func (f *forwarder) portOwner() (loop int, ok bool) {
	pkt := &f.p.pkt
	from := place{pkt.Src, pkt.SrcPort}
	if s := f.serverAt[from]; s != 0 {
		if pool := f.servers[s].pools[pkt.Dst]; pool != nil {
			return pool.Owner(pkt.DstPort)
		}
	}
	return f.common.pools.owner(from, place{pkt.Dst, pkt.DstPort})
}

// mostLeft is how many loops a frame may go round at most.
const mostLeft = 1<<7 - 1

// around is to be seen by how many more loops a frame is that was just read.
func (f *forwarder) around() uint8 { return uint8(min(f.common.loops-1, mostLeft)) }

// Which device a frame was read from.
const (
	fromClients uint8 = iota
	fromServers
)

// meet handles what other loops have handed over.
func (f *forwarder) meet(now int64) (more bool) {
	if f.common.mesh == nil {
		return false
	}
	return f.common.mesh.Take(f.loop, readMost, func(_ int, tag uint8, h *device.VNet, b []byte) {
		f.from, f.left = tag>>7, tag&mostLeft
		mac := f.p.mac
		if f.from == fromServers {
			mac = f.link.mac
		}
		s := segment{b: b, n: len(b), h: h}
		switch f.p.pkt.ParseHead(b, len(b), mac) {
		case frame.TCP:
			f.tcp(&s, now)
		case frame.Other:
			if !f.icmp(&s, now) && f.from == fromClients && !f.p.doubtful(&s) {
				f.p.net.Inject(b, complete(h))
				f.p.injected = true
			}
		}
	})
}
