package tap

import (
	"sync"

	"penstock/stack/tap/device"
	"penstock/stack/tap/flow"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/snat"
)

// server is a member's address.
type server struct {
	at    place
	hop   uint16
	flows int   // that name it
	idle  int64 // since when there is none
	pools map[frame.Addr]*snat.Pool
}

// server returns the number of a server, or 0 if there is no way to it.
func (f *forwarder) server(at place) uint16 {
	if s := f.serverAt[at]; s != 0 {
		return s
	}
	hop, ok := f.common.routes.Hop(&at.addr)
	if !ok {
		return 0
	}
	s := f.freeServer()
	if s == 0 {
		return 0
	}
	f.servers[s] = server{at: at, hop: hop, pools: map[frame.Addr]*snat.Pool{}}
	f.serverAt[at] = s
	return s
}

const mostServers = 1<<16 - 1

func (f *forwarder) freeServer() uint16 {
	for s := 1; s < len(f.servers); s++ {
		if f.servers[s].pools == nil {
			return uint16(s)
		}
	}
	if len(f.servers) > mostServers {
		return 0
	}
	f.servers = append(f.servers, server{})
	return uint16(len(f.servers) - 1)
}

// serverIdle is how long a server is remembered that no flow names: longer than
// ports rest.
const serverIdle = 2 * serverRests

// forgetServers forgets those.
func (f *forwarder) forgetServers(now int64) {
	for n := range f.servers {
		s := &f.servers[n]
		if s.flows > 0 {
			f.common.routes.MAC(s.hop, now) // it is in use, however long nothing comes
		}
		if s.pools != nil && s.flows == 0 && now-s.idle > serverIdle {
			for a := range s.pools {
				f.common.pools.leave(s.at, a)
			}
			delete(f.serverAt, s.at)
			*s = server{}
		}
	}
}

// toServer is where a flow's client's segments go.
func (f *forwarder) toServer(n uint32, now int64) (to frame.Flow, ok bool) {
	k := f.flows.ServerKey(n)
	s := &f.servers[k.Tag]
	mac, ok := f.common.routes.MAC(s.hop, now)
	if !ok {
		f.ask(s.hop, now)
	}
	return frame.Flow{
		SrcMAC: f.link.mac, DstMAC: mac, Src: k.Addr, SrcPort: k.Port, Dst: s.at.addr, DstPort: s.at.port,
	}, ok
}

// unreachable says that nobody answers for a flow's server, or its router.
func (f *forwarder) unreachable(n uint32, now int64) bool {
	return f.common.routes.Failed(f.servers[f.flows.ServerKey(n).Tag].hop, now)
}

// toClient is where a flow's server's segments go.
func (f *forwarder) toClient(n uint32) frame.Flow {
	k := f.flows.ClientKey(n)
	l := &f.p.listeners[k.Tag]
	return frame.Flow{
		SrcMAC: f.p.mac, DstMAC: f.p.hops.MAC(f.flows.At(n).Hop), Src: l.at.addr, SrcPort: l.at.port, Dst: k.Addr, DstPort: k.Port,
	}
}

// mac is our address on the link that the frame at hand came by.
func (f *forwarder) mac() frame.MAC {
	if f.from == fromServers {
		return f.link.mac
	}
	return f.p.mac
}

// back is where an answer to it goes.
func (f *forwarder) back() Queue {
	if f.from == fromServers {
		return f.link.queue
	}
	return f.p.queue
}

// own is an address of ours to speak of it: the one it was sent to, but for
// servers that send to their clients by us.
func (f *forwarder) own() frame.Addr {
	dst := f.p.pkt.Dst
	if f.from == fromServers {
		for _, a := range f.link.own {
			if frame.Is4(&a) == frame.Is4(&dst) {
				return a
			}
		}
	}
	return dst
}

// complaintsMost is how many answers of ICMP a second a loop gives (RFC 1812 4.3.2.8).
const complaintsMost = 1000

// complain answers the frame at hand by ICMP, if there is an answer.
func (f *forwarder) complain(b []byte) {
	if f.complaints++; len(b) > 0 && f.complaints <= complaintsMost {
		f.p.out = b
		f.back().WriteFrame(b)
	}
}

// ask sends what is due to find a next hop.
func (f *forwarder) ask(hop uint16, now int64) {
	b, _ := f.common.routes.Ask(hop, now, f.p.out[:0])
	f.write(b)
}

// plain leaves nothing undone.
var plain device.VNet

// write sends a frame to the servers' link, if there is one, behind what was sent before.
func (f *forwarder) write(b []byte) {
	if len(b) > 0 {
		f.p.out = b
		f.link.queue.Send(&plain, b, nil)
	}
}

// port takes a port of one of a listener's SNAT addresses: if it can be, one for
// which the server's answers come to this loop.
func (f *forwarder) port(l *listener, s uint16, now int64) (a frame.Addr, port uint16, ok bool) {
	sv := &f.servers[s]
	start := f.common.turn.Add(1)
	for k := range l.SNAT {
		a = l.SNAT[(int(start)+k)%len(l.SNAT)].As16()
		pool := sv.pools[a]
		if pool == nil {
			pool = f.common.pools.pool(sv.at, a)
			sv.pools[a] = pool
		}
		if port, ok = pool.Take(f.loop, now, func(port uint16) bool { return f.common.comesTo(f.loop, sv.at, place{a, port}) }); ok {
			return a, port, true
		}
	}
	return a, 0, false
}

// givePort gives one back. The address and port are those of k.
func (f *forwarder) givePort(k *flow.Key, rest int64) {
	f.servers[k.Tag].pools[k.Addr].Give(k.Port, rest)
}

// poolKey names a pool of ports.
type poolKey struct {
	server place
	addr   frame.Addr
}

// pools are shared by all loops, which look for one rarely.
type pools struct {
	mu    sync.Mutex
	loops int
	of    map[poolKey]*sharedPool // under mu
	addrs map[frame.Addr]int      // how many pools have it, under mu
}

type sharedPool struct {
	pool  *snat.Pool
	users int
}

func newPools(loops int) pools {
	return pools{loops: loops, of: map[poolKey]*sharedPool{}, addrs: map[frame.Addr]int{}}
}

// pool returns the ports of an address towards a server. Each loop asks once, and
// calls leave.
func (p *pools) pool(s place, a frame.Addr) *snat.Pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := poolKey{s, a}
	e := p.of[k]
	if e == nil {
		e = &sharedPool{pool: snat.New(p.loops)}
		p.of[k] = e
		p.addrs[a]++
	}
	e.users++
	return e.pool
}

func (p *pools) leave(s place, a frame.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := poolKey{s, a}
	e := p.of[k]
	if e == nil {
		return
	}
	if e.users--; e.users > 0 {
		return
	}
	delete(p.of, k)
	if p.addrs[a]--; p.addrs[a] == 0 {
		delete(p.addrs, a)
	}
}

// has says whether an address has ports that somebody has, or had lately.
func (p *pools) has(a *frame.Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.addrs[*a] > 0
}

// owner returns the loop that has a port, if one has.
func (p *pools) owner(s place, at place) (loop int, ok bool) {
	p.mu.Lock()
	e := p.of[poolKey{s, at.addr}]
	p.mu.Unlock()
	if e == nil {
		return 0, false
	}
	return e.pool.Owner(at.port)
}

// comesTo says whether what a server sends to a place of ours comes to a loop.
func (c *Common) comesTo(loop int, server, at place) bool {
	if !c.steered() {
		return true
	}
	h := c.hash
	return h.Queue(c.rule, h.Endpoint(&server.addr, server.port), h.Endpoint(&at.addr, at.port)) == loop
}
