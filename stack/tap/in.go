package tap

import (
	"golang.org/x/sys/unix"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/shift"
	"penstock/stack/tap/term"
)

// How many frames, and about how many bytes, are taken before other sockets get
// their turn.
const (
	readMost  = 64
	bytesMost = 512 << 10
)

// Readable takes in what the device has, or a good deal of it.
func (p *Port) Readable(now int64) { p.readable(&p.ear, now) }

// readable takes in frames of one of the devices.
func (p *Port) readable(from *ear, now int64) {
	frames, all := 0, false
	for bytes := 0; frames < readMost && bytes < bytesMost; frames++ {
		head, tail := p.net.Room()
		n, e := from.queue.Read(&p.vnet, head, tail)
		if all = e != 0; all {
			if e != unix.EAGAIN {
				p.checkAt = now // it went down, or away
			}
			break
		}
		bytes += n
		s := p.segmentIn(n, head, tail)
		if from == &p.ear {
			p.take(&s, now)
		} else {
			p.fwd.take(&s, now)
		}
	}
	from.read(frames, all, now)
	p.Turn(now)
}

// Flush writes what is held back: frames of all that was done since the last time.
func (p *Port) Flush() {
	p.queue.Flush()
	p.fwd.flush()
}

// Held says whether Flush has something to do.
func (p *Port) Held() bool { return p.queue.Held() || p.fwd.held() }

// take handles a frame of the clients' device.
func (p *Port) take(s *segment, now int64) {
	pkt, b, n, h := &p.pkt, s.b, s.n, s.h
	p.fwd.from, p.fwd.left = fromClients, p.fwd.around()
	switch pkt.ParseHead(b, n, p.mac) {
	case frame.Foreign, frame.Unknown:
		p.counts.foreign.Add(1)
		return
	case frame.Bad:
		p.counts.bad.Add(1)
		return
	case frame.ARP:
		p.arp(b, now)
		return
	case frame.Neighbor:
		p.neighbor(b, now)
		return
	case frame.TCP:
		if p.fwd.tcp(s, now) || p.tcp(b, n, h, now) {
			return
		}
	case frame.Other:
		if p.fwd.icmp(s, now) || p.doubtful(s) {
			return
		}
	}
	if pkt.Kind == frame.Other && (p.loops > 1 && fragment(b, pkt.V6) || hidden(b, pkt.V6) && p.fwd.has(&pkt.Dst)) {
		p.counts.fragments.Add(1)
		return
	}
	p.hops.Learn(&pkt.Src, pkt.From, now)
	if pkt.Kind == frame.TCP && !p.shift.In(b, pkt, h.Flags&device.NeedsCsum != 0) {
		return
	}
	p.injected = true
	if pkt.Kind == frame.TCP {
		p.net.Arriving(pkt)
	}
	p.net.InjectRoom(n, complete(h))
}

// fragment says whether an IP datagram is a piece of one. The queue of pieces is
// chosen without ports, which only the first has, so that most of TCP's would come to
// a netstack that does not know the connection and resets it.
func fragment(b []byte, v6 bool) bool {
	const ether, next6 = 14, 44
	if v6 {
		return b[ether+6] == next6
	}
	return (b[ether+6]&^0x40)|b[ether+7] != 0 // all but "don't fragment"
}

// hidden says whether an IP datagram that is not taken for TCP is a piece of that, or
// has it behind options.
func hidden(b []byte, v6 bool) bool {
	const ether, proto4, tcp = 14, 9, 6
	if v6 {
		return hidden6(b[ether:])
	}
	return b[ether+proto4] == tcp
}

// hidden6 looks for TCP behind the extension headers that netstack passes over. Where
// they go on behind what there is of the datagram it may be there.
func hidden6(ip []byte) bool {
	const hopByHop, tcp, routing, fragment, icmp, destination = 0, 6, 43, 44, 58, 60
	next, at := ip[6], 40
	for {
		size := 8
		switch next {
		case hopByHop, routing, fragment, destination:
		default:
			return next == tcp
		}
		if len(ip) < at+size {
			return true
		}
		if next != fragment {
			size += 8 * int(ip[at+1])
		} else if ip[at+2] != 0 || ip[at+3]&^7 != 0 { // not the first piece: no header follows
			return ip[at] != icmp
		}
		next, at = ip[at], at+size
	}
}

// complete says that a frame's checksum need not be looked at.
func complete(h *device.VNet) bool { return h.Flags&(device.NeedsCsum|device.DataValid) != 0 }

// tcp handles what is about a handshake of ours; false if it is for netstack.
// What belongs to a connection is not looked up: most of it has no such flags.
// With them no frame is larger than what b holds of it, unless somebody plays.
func (p *Port) tcp(b []byte, n int, h *device.VNet, now int64) bool {
	pkt := &p.pkt
	switch {
	case pkt.Flags&(frame.SYN|frame.ACK|frame.RST) == frame.SYN:
		l := p.places[place{pkt.Dst, pkt.DstPort}]
		// With FIN nobody means it, but netstack would answer.
		return l != 0 && (n > len(b) || pkt.Has(frame.FIN) || p.syn(b, h, l, now))
	case pkt.Flags&frame.RST != 0:
		l := p.places[place{pkt.Dst, pkt.DstPort}]
		return l != 0 && (n > len(b) || p.reset(b, h, l, now))
	case pkt.Flags&frame.ACK != 0 && (now < p.cookiesUntil || p.counts.provenNow.Load() > 0):
		l := p.places[place{pkt.Dst, pkt.DstPort}]
		return l != 0 && n <= len(b) && p.echo(b, h, l, now)
	}
	return false
}

// sound says whether a segment's checksum is right, or somebody's who knows.
func (p *Port) sound(b []byte, h *device.VNet) bool {
	if complete(h) || p.pkt.ChecksumOK(b) {
		return true
	}
	p.counts.sums.Add(1)
	return false
}

const (
	eventsMost = 256 // of netstack, before other sockets get their turn
	turnRounds = 4   // between netstack and the owner, who answers with more to do
)

// Turn has netstack do what came up, and takes what it has to say. It returns
// when it wants to be called at the latest.
func (p *Port) Turn(now int64) (due int64) {
	p.met = p.fwd.meet(now)
	for range turnRounds {
		p.injected = false
		p.more = p.net.Events(eventsMost, func(e term.Event) { p.event(&e, now) })
		p.sendOff()
		p.shift.Answers(func(a *shift.Answer) { p.answer(a, now) })
		if !p.injected { // by what the owner did just now
			break
		}
	}
	if now >= p.checkAt {
		p.checkAt = now + checkEvery
		p.check(now)
		p.judge(now)
		p.shift.Expire(now)
	}
	if now >= p.silentAt {
		p.walk(now)
	}
	p.fwd.turn(now)
	due = min(p.checkAt, p.silentAt, p.fwd.dueAt())
	if timer := p.net.Due(now); timer != 0 && timer < due {
		due = timer
	}
	return due
}

// Busy says that another turn has something to do.
func (p *Port) Busy() bool { return p.more || p.injected || p.met }

// event passes on what netstack says.
func (p *Port) event(e *term.Event, now int64) {
	if e.Kind == term.Accepted {
		p.accepted(e, now)
		return
	}
	p.owner.Moved(e.Conn, e.Ready, now)
}
