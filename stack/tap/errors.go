package tap

import (
	"penstock/stack/tap/flow"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/rewrite"
	"penstock/stack/tap/steer"
	"penstock/stack/tap/track"
)

// icmp handles an ICMP error about a flow, and passes it on in the terms of whom it
// is for (RFC 5508). One is believed only if it quotes a number that the flow can
// have sent lately (RFC 5927). False: it is about nothing of ours, or netstack's.
//
// Such an error comes to any loop, or, where the devices are steered, to the first;
// the one whose it is has to have it.
func (f *forwarder) icmp(s *segment, now int64) bool {
	p := f.p
	b := f.joined(s)
	e, ok := rewrite.ParseError(b, &p.pkt)
	if !ok || rewrite.Expired(b, &p.pkt) {
		return false
	}
	l := p.places[place{e.Src, e.SrcPort}]
	up := l != 0 && p.listeners[l].Forward
	if up {
		if n := f.flows.FindClient(&flow.Key{Addr: e.Dst, Port: e.DstPort, Tag: l}); n != 0 {
			f.errorUp(n, &e, b, now)
			return true
		}
	} else if tag := f.serverAt[place{e.Dst, e.DstPort}]; tag != 0 && (f.from == fromServers || f.common.oneArmed) {
		if n := f.flows.FindServer(&flow.Key{Addr: e.Src, Port: e.SrcPort, Tag: tag}); n != 0 {
			f.errorDown(n, &e, b, now)
			return true
		}
	}
	return f.passError(s, &e) && (up || f.from == fromServers || f.common.steered())
}

// passError hands an error over to the loop that has what it is about. Where it is not
// known which that is it goes round all of them, and by all netstacks, if it may be
// about something of theirs.
func (f *forwarder) passError(s *segment, e *rewrite.Error) bool {
	c := f.common
	if c.mesh == nil || f.left == 0 {
		return false
	}
	if !c.steered() {
		return f.hand((f.loop+1)%c.loops, f.left-1, s)
	}
	// As what it quotes would come back.
	us, them := c.hash.Endpoint(&e.Src, e.SrcPort), c.hash.Endpoint(&e.Dst, e.DstPort)
	rule := c.rule
	if f.from == fromClients && rule == steer.Destination {
		rule = steer.Source
	}
	if to := c.hash.Queue(rule, them, us); to != f.loop {
		return f.hand(to, 0, s)
	}
	return false
}

// errorUp is about something that a server sent its client.
func (f *forwarder) errorUp(n uint32, e *rewrite.Error, b []byte, now int64) {
	fl := f.flows.At(n)
	seq := e.Seq
	if fl.Mark&shifted != 0 {
		var ok bool
		if seq, ok = f.p.shift.Before(f.shiftOf(n), seq); !ok {
			return
		}
	}
	if !fl.Conn.Within(track.Server, seq) {
		return
	}
	if to, ok := f.toServer(n, now); ok {
		back := reverse(&to)
		f.translated(f.link.queue, e.Translate(b, &f.p.pkt, to.SrcMAC, to.DstMAC, to.Dst, &back, seq-e.Seq))
	}
}

// errorDown is about something that was sent to a server in its client's name. While
// the server has not answered, that is an answer: it is not to be had.
func (f *forwarder) errorDown(n uint32, e *rewrite.Error, b []byte, now int64) {
	fl := f.flows.At(n)
	if !fl.Conn.Within(track.Client, e.Seq) {
		return
	}
	if fl.Conn.State() == track.Opening {
		if e.Hard() {
			f.p.counts.refusals.Add(1)
			f.refused(n, now)
		}
		return
	}
	if fl.Mark&left == 0 {
		to := f.toClient(n)
		back := reverse(&to)
		f.translated(f.p.queue, e.Translate(b, &f.p.pkt, to.SrcMAC, to.DstMAC, to.Dst, &back, 0))
	}
}

func (f *forwarder) translated(q Queue, b []byte) {
	f.p.counts.translated.Add(1)
	q.Send(&plain, b, nil)
}

// reverse is the flow of what is answered by to.
func reverse(to *frame.Flow) frame.Flow {
	return frame.Flow{
		SrcMAC: to.DstMAC, DstMAC: to.SrcMAC, Src: to.Dst, SrcPort: to.DstPort, Dst: to.Src, DstPort: to.SrcPort,
	}
}
