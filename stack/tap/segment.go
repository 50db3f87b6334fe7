package tap

import (
	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/flow"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/park"
	"penstock/stack/tap/rewrite"
	"penstock/stack/tap/track"
)

// segment is a TCP segment that was read: its frame has n bytes, which begin with b
// and go on with tail. The port's pkt has what Parse said of it.
type segment struct {
	b, tail []byte
	n       int
	h       *device.VNet
}

// size is how many bytes its datagram has, or each of those that the frame is cut into.
func (s *segment) size(pkt *frame.Packet) int {
	if s.h.GSO != device.GSONone {
		return pkt.Data + int(s.h.GSOSize) - linkSize
	}
	return pkt.End - linkSize
}

// whole says whether a segment's checksum is right, or somebody's who knows.
func (p *Port) whole(s *segment) bool {
	if complete(s.h) || p.pkt.ChecksumSplit(s.b, s.tail) {
		return true
	}
	p.counts.sums.Add(1)
	return false
}

// tcp handles a segment that is about a flow, or would be if there was one; false if
// it is somebody else's.
func (f *forwarder) tcp(s *segment, now int64) bool {
	p, pkt := f.p, &f.p.pkt
	if f.from == fromServers {
		f.fromServer(s, now)
		return true
	}
	l := p.places[place{pkt.Dst, pkt.DstPort}]
	switch {
	case l == 0 && f.common.oneArmed && f.returns():
		f.from = fromServers
		f.fromServer(s, now)
		return true
	case l == 0 || !p.listeners[l].Forward && !f.old(l):
		return false
	case pkt.Flags&(frame.SYN|frame.ACK|frame.RST) != frame.SYN:
		return !p.whole(s) || f.fromClient(s, l, now)
	case s.n <= len(s.b) && !pkt.Has(frame.FIN): // with FIN nobody means it
		return p.syn(s.b, s.h, l, now)
	}
	return true
}

// returns says whether the segment at hand may be a server's, of the loop's or of
// another's, where clients and servers are behind one device.
func (f *forwarder) returns() bool {
	pkt := &f.p.pkt
	if pkt.Flags&(frame.SYN|frame.ACK) == frame.SYN {
		return false
	}
	switch {
	case f.serverAt[place{pkt.Src, pkt.SrcPort}] != 0:
		return true
	case !f.forwards:
		return false
	case !f.p.net.Answers(&pkt.Dst):
		return true
	}
	_, lent := f.portOwner() // of an address that netstack has, too
	return lent
}

// old says whether the segment at hand is of a flow of listener l, which has become
// another virtual server's that does not forward.
func (f *forwarder) old(l uint16) bool {
	pkt := &f.p.pkt
	return f.p.listeners[l].flows > 0 && f.flows.FindClient(&flow.Key{Addr: pkt.Src, Port: pkt.SrcPort, Tag: l}) != 0
}

// has says whether an address is one where clients come that are forwarded. Netstack,
// which knows nothing of them, must not answer them, whatever it finds in a datagram.
func (f *forwarder) has(a *frame.Addr) bool {
	for n := range f.p.listeners {
		if l := &f.p.listeners[n]; l.Forward && l.id >= 0 && l.at.addr == *a {
			return true
		}
	}
	return false
}

// fromClient handles a segment for listener l that is no SYN; false if it is netstack's.
func (f *forwarder) fromClient(s *segment, l uint16, now int64) bool {
	p, pkt := f.p, &f.p.pkt
	n := f.flows.FindClient(&flow.Key{Addr: pkt.Src, Port: pkt.SrcPort, Tag: l})
	switch {
	case n != 0 && (!pkt.Has(frame.RST) || f.flows.At(n).Conn.State() != track.Opening):
		f.up(n, s, now)
	case n == 0 && f.terminated(l):
		return false
	case pkt.Has(frame.RST) && s.n <= len(s.b) && p.reset(s.b, s.h, l, now):
	case pkt.Flags&frame.ACK != 0 && s.n <= len(s.b) && (now < p.cookiesUntil || p.counts.provenNow.Load() > 0) && p.echo(s.b, s.h, l, now):
	case f.pass(s):
	default:
		f.stray()
	}
	return true
}

// terminated says whether the segment at hand is of a connection that netstack has since
// before listener l forwarded, or is about to have.
func (f *forwarder) terminated(l uint16) bool {
	p, pkt := f.p, &f.p.pkt
	i := p.table.Find(&park.Key{Peer: pkt.Src, Port: pkt.SrcPort, Virtual: l})
	return i != 0 && p.table.At(i).State == Released || p.net.Known(sys.Peer{Addr: pkt.Src, Port: pkt.SrcPort}, p.listeners[l].local())
}

// stray answers a segment of no connection with a reset, if it is for us or from a
// server of ours to its client: by us goes all that is routed here.
func (f *forwarder) stray() {
	p := f.p
	pkt := &p.pkt
	if pkt.Has(frame.RST) || f.from == fromServers && f.serverAt[place{pkt.Src, pkt.SrcPort}] == 0 && !f.answers(&pkt.Dst) {
		return
	}
	p.counts.stray.Add(1)
	p.out = frame.AppendReset(p.out[:0], pkt, f.mac())
	f.back().WriteFrame(p.out)
}

// knownSyn handles a SYN of a client that has a flow. False: that is over, or will be,
// and the SYN is the first of a new one.
func (f *forwarder) knownSyn(key *flow.Key, b []byte, h *device.VNet, now int64) (handled bool) {
	n := f.flows.FindClient(key)
	if n == 0 {
		return false
	}
	fl, pkt := f.flows.At(n), &f.p.pkt
	syn := track.Segment{Seq: pkt.Seq, Window: pkt.Window, Flags: frame.SYN, WS: -1}
	switch state := fl.Conn.State(); {
	case state == track.Resetting && fl.Conn.Sure():
		f.detach(n, now)
		return false
	case state == track.Closed:
		if !fl.Conn.Again(&syn) {
			return true // an old duplicate
		}
		f.detach(n, now)
		return false
	}
	// Of one that has begun anew the server asks whether it is there.
	f.up(n, &segment{b: b, n: len(b), h: h}, now)
	return true
}

// up passes a segment of a client on to its server.
func (f *forwarder) up(n uint32, s *segment, now int64) {
	p, pkt := f.p, &f.p.pkt
	fl := f.flows.At(n)
	if fl.Mark&shifted != 0 && !p.shift.In(s.b, pkt, s.h.Flags&device.NeedsCsum != 0) {
		return
	}
	if p.hops.MAC(fl.Hop) != pkt.From {
		fl.Hop = p.hops.Intern(pkt.From)
	}
	e, drop := f.track(track.Client, fl, s)
	if to, ok := f.toServer(n, now); ok && !drop {
		f.send(n, track.Client, s, &to, now)
	} else if !drop {
		f.unsent(fl, track.Client)
	} else if fl.Conn.State() == track.Resetting && fl.Conn.Sure() && !pkt.Has(frame.RST) {
		f.resetClient(n) // which did not hear of it
	}
	f.event(n, e, now)
}

// fromServer handles a segment that a server sent.
func (f *forwarder) fromServer(s *segment, now int64) {
	if !f.p.whole(s) {
		return
	}
	pkt := &f.p.pkt
	if tag := f.serverAt[place{pkt.Src, pkt.SrcPort}]; tag != 0 {
		if n := f.flows.FindServer(&flow.Key{Addr: pkt.Dst, Port: pkt.DstPort, Tag: tag}); n != 0 {
			f.down(n, s, now)
			return
		}
	}
	if !f.pass(s) {
		f.stray()
	}
}

// down passes a segment of a server on to its client.
func (f *forwarder) down(n uint32, s *segment, now int64) {
	fl := f.flows.At(n)
	e, drop := f.track(track.Server, fl, s)
	if fl.Mark&left != 0 {
		drop = true // its client has begun another
	}
	if e == track.Stale {
		f.stale(n, now)
		return
	}
	if !drop && e != track.Confirmed {
		to := f.toClient(n)
		f.send(n, track.Server, s, &to, now)
	}
	f.event(n, e, now)
}

// track tells the flow's tracker of a segment.
func (f *forwarder) track(from track.Side, fl *flow.Flow, s *segment) (e track.Event, drop bool) {
	pkt := &f.p.pkt
	seg := track.Segment{
		Seq: pkt.Seq, Ack: pkt.Ack, Len: uint32(pkt.End - pkt.Data), Flags: pkt.Flags, Window: pkt.Window, WS: -1,
	}
	if pkt.Flags&frame.SYN != 0 {
		seg.WS = pkt.Options(s.b).WS
	}
	was, fin := fl.Conn.Next(from), fl.Conn.Finished(from)
	e, drop = fl.Conn.Segment(from, &seg)
	f.fresh, f.moves = 0, pkt.Flags&frame.SYN != 0
	if !f.moves {
		f.fresh = int(fl.Conn.Next(from) - was)
		f.moves = f.fresh > 0
		if !fin && fl.Conn.Finished(from) {
			f.moves = true
			f.fresh-- // a FIN has a number, too; it may have been passed before, and be -1 now
		}
	}
	if e == track.None && pkt.Has(frame.RST) && fl.Mark&over == 0 && fl.Conn.Outside(from, &seg) {
		f.p.counts.spoofed.Add(1)
	}
	return e, drop
}

// send changes a segment's headers and sends it.
func (f *forwarder) send(n uint32, from track.Side, s *segment, to *frame.Flow, now int64) {
	p, pkt := f.p, &f.p.pkt
	fl := f.flows.At(n)
	out, mtu := f.link.queue, f.link.mtu
	if from == track.Server {
		out, mtu = p.queue, p.device.MTU()
	}
	if rewrite.Expired(s.b, pkt) {
		p.counts.ttl.Add(1)
		f.unsent(fl, from)
		f.complain(rewrite.AppendTimeExceeded(p.out[:0], s.b, pkt, f.mac(), f.own()))
		return
	}
	if s.size(pkt) > mtu {
		p.counts.tooBig.Add(1)
		f.unsent(fl, from)
		f.complain(rewrite.AppendTooBig(p.out[:0], s.b, pkt, f.mac(), f.own(), mtu))
		return
	}
	if pkt.Flags&frame.SYN != 0 {
		rewrite.ClampMSS(s.b, pkt, s.h, f.most(pkt.V6))
	}
	payload := pkt.End - pkt.Data
	f.count(fl, from)
	if f.moves || fl.Mark&over != 0 { // a keep-alive is no byte, nor is one that is sent again
		fl.Active = uint32(now / ms)
	}
	p.counts.carried(from, payload)
	rewrite.Segment(s.b, pkt, s.h, to)
	if from == track.Server && fl.Mark&shifted != 0 {
		head := s.b[pkt.L4:pkt.Data] // that offsets still hold
		if !p.shift.Out(&to.Src, &to.Dst, head, s.h.Flags&device.NeedsCsum != 0) {
			return
		}
	}
	out.Send(s.h, s.b, s.tail)
}

// count notes a segment that is passed on.
func (f *forwarder) count(fl *flow.Flow, from track.Side) {
	fl.Count(from, f.fresh)
	if f.fresh > 0 && fl.Mark&over == 0 {
		f.owner.Carried(fl, from, f.fresh)
	}
}

// unsent notes one that can't be: what is in it comes again, and is not new then.
func (f *forwarder) unsent(fl *flow.Flow, from track.Side) {
	f.count(fl, from)
	fl.Packets[from]--
}

const (
	ms       = int64(1e6)
	linkSize = 14 // bytes of an Ethernet header
)

// event draws the conclusions of what a segment meant.
func (f *forwarder) event(n uint32, e track.Event, now int64) {
	fl := f.flows.At(n)
	switch e {
	case track.None:
	case track.Replied:
		f.answered(n, now)
	case track.Refused:
		f.p.counts.refusals.Add(1)
		f.refused(n, now)
	case track.Completed:
		f.completed(n, now)
	case track.Finishing:
		f.watch(n, now)
	case track.Ended:
		f.endAttempt(fl)
		how := EndServer
		if side, _ := fl.Conn.FirstFin(); side == track.Client {
			how = EndClient
		}
		f.over(n, how, now)
		f.watch(n, now)
	case track.Broken:
		f.over(n, EndServerReset, now)
		f.free(n, now, now)
	case track.Aborting:
		switch {
		case fl.Conn.Resetter() == track.Server:
			fl.Code = uint8(EndServerReset)
		case fl.Mark&attempting != 0:
			fl.Code = uint8(EndQuit)
		default:
			fl.Code = uint8(EndClientReset)
		}
		f.confirm(n, now)
	case track.Confirmed:
		if End(fl.Code) == EndServerReset && fl.Mark&left == 0 {
			f.resetClient(n) // its first one was doubtful for the client, too
		}
		f.over(n, End(fl.Code), now)
		f.free(n, now, now)
	case track.Revived:
		f.revived(n, now)
	}
}
