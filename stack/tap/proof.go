package tap

import (
	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/park"
	"penstock/stack/tap/shift"
)

// A client whose SYN is parked has not proven that it is where it says it is. Where
// that is asked for, it is answered with a cookie first: connected, with a window
// of zero, at no cost to us. Who echoes the cookie is proven, and is parked then.

// The byte of a record that is ours.
const (
	proven uint8 = 1 << iota // it has echoed a cookie
	shared                   // it counts in its prefix's share
	cut                      // its client reset the connection that it became
)

// least is how many unproven clients may always wait in a queue, however short,
// and how many of one prefix.
const least = 16

// admit says whether a new SYN becomes a record as it is. If not, it was dealt
// with.
func (p *Port) admit(k *park.Key, s *park.Syn, l *listener, now int64) (mark uint8, ok bool) {
	if l.Proof == ProofAlways || l.Proof == ProofAuto && p.pressed(l, now) {
		p.sendCookie(k, s, l, now)
		return 0, false
	}
	if l.Share == 0 {
		return 0, true
	}
	if p.shares.Take(&k.Peer, max(least, p.room(l)*l.Share/100)) {
		return shared, true
	}
	if l.Proof == ProofOff {
		p.counts.share.Add(1)
	} else {
		p.sendCookie(k, s, l, now)
	}
	return 0, false
}

// room is how many of a virtual server's clients may wait, of this loop's share.
func (p *Port) room(l *listener) int {
	_, most := p.owner.Depth(l.id)
	if most <= 0 {
		return p.cfg.Handshakes
	}
	return int(most) / p.loops
}

// pressed says whether unproven clients are too many to be believed.
func (p *Port) pressed(l *listener, now int64) bool {
	return now < p.suspectUntil || l.unproven >= max(least, p.room(l)/2)
}

// Of the handshakes that ended lately, those that somebody completed and those
// after whose SYN nothing was heard tell a flood from a crowd.
const (
	suspectFor   = int64(30e9)
	suspectLeast = 8 // silent ones in about two seconds
)

// suspect sees whether those who come are to be believed.
func (p *Port) suspect(now int64) bool {
	if p.mute >= suspectLeast && p.mute > p.heard/4 || p.asked > 4*p.echoed+suspectLeast {
		p.suspectUntil = now + suspectFor
	}
	return now < p.suspectUntil
}

// judge is called each second.
func (p *Port) judge(now int64) {
	p.suspect(now)
	p.mute, p.heard = p.mute/2, p.heard/2
	p.asked, p.echoed = p.asked/2, p.echoed/2
}

// Patience is how much of the time that is given to a client for its handshake it
// should get: less while others abuse it, or if it seems to have given up.
func (p *Port) Patience(i uint32, most, now int64) int64 {
	if p.table.At(i).Mark&proven == 0 && (p.suspect(now) || p.table.Late(i, now) && p.table.Late(i, p.Heard(now))) {
		return most / 3
	}
	return most
}

// cookieLife is how long a cookie is good for, at most.
const cookieLife = int64(120e9)

// sendCookie answers a SYN with a cookie.
func (p *Port) sendCookie(k *park.Key, s *park.Syn, l *listener, now int64) {
	p.counts.cookies.Add(1)
	p.asked++
	p.cookiesUntil = now + cookieLife
	iss, tsval := p.cookie.Issue(k, s, now)
	v6 := !frame.Is4(&k.Peer)
	mss, ws := p.net.Advertised(v6)
	if l.Forward {
		mss = min(mss, p.fwd.most(v6))
	}
	o := frame.Options{MSS: mss, WS: -1, TS: s.Options.TS, TSVal: tsval, TSEcr: s.Options.TSVal}
	if o.TS { // the echo carries these
		o.SACK = s.Options.SACK
		if s.Options.WS >= 0 {
			o.WS = ws
		}
	}
	f := p.pkt.Reply(p.mac)
	p.out = frame.AppendTCP(p.out[:0], &f, &frame.Header{Seq: iss, Ack: s.Seq + 1, Flags: frame.SYN | frame.ACK, Options: &o}, nil)
	p.queue.Send(&plain, p.out, nil)
}

// echo handles a segment of listener n that may echo a cookie, or come from a
// client that did and waits. False if it is neither.
func (p *Port) echo(b []byte, h *device.VNet, n uint16, now int64) bool {
	pkt := &p.pkt
	key := park.Key{Peer: pkt.Src, Port: pkt.SrcPort, Virtual: n}
	if i := p.table.Find(&key); i != 0 {
		if r := p.table.At(i); r.Mark&proven == 0 || r.State == Released || r.State == Forwarding {
			return false
		}
		if p.sound(b, h) {
			p.held(i, b, now)
		}
		return true
	}
	o := pkt.Options(b)
	syn, ok := p.read(&key, o, now)
	looks := ok || pkt.Flags == frame.ACK && pkt.Data == pkt.End
	switch {
	case !looks, p.net.Known(sys.Peer{Addr: key.Peer, Port: key.Port}, p.listeners[n].local()):
		return false
	case !ok:
		p.counts.unproven.Add(1)
		return false
	case !p.sound(b, h):
		return false
	}
	p.prove(&key, &syn, o.TSEcr, now)
	return true
}

// read returns the SYN whose cookie is echoed. The segment may be a probe of
// the window, one number behind, if the first echo was lost.
func (p *Port) read(k *park.Key, o frame.Options, now int64) (syn park.Syn, ok bool) {
	pkt := &p.pkt
	syn, ok = p.cookie.Check(k, pkt.Seq-1, pkt.Ack-1, o, pkt.Window, now)
	if !ok {
		syn, ok = p.cookie.Check(k, pkt.Seq, pkt.Ack-1, o, pkt.Window, now)
	}
	return syn, ok
}

// prove makes a record of a client that has echoed a cookie.
func (p *Port) prove(k *park.Key, s *park.Syn, told uint32, now int64) {
	l := &p.listeners[k.Virtual]
	if l.closed || p.draining {
		p.answerReset()
		return
	}
	i, ok := p.add(k, s, proven, now)
	if !ok {
		return // it goes on asking
	}
	p.echoed++
	p.counts.proven.Add(1)
	p.table.Prove(i, p.pkt.Ack-1, told)
	p.owner.Arrived(i, now)
}

// held handles a segment of a client that is proven and waits. It asks whether
// there is room by now, or has closed its side, with nothing sent before.
func (p *Port) held(i uint32, b []byte, now int64) {
	if p.pkt.Has(frame.FIN) && p.bare(i) && p.owner.Leaves(p.Virtual(i)) {
		p.tellReset(i)
		if p.table.At(i).State == Parked { // or it has left before
			p.owner.Left(i, now)
		}
		return
	}
	p.tellHeld(i, 1, 0, p.pkt.Options(b).TSVal, now)
}

// bare says whether the segment at hand is the first of a proven client, by both
// numbers, and without data: anybody could have made another.
func (p *Port) bare(i uint32) bool {
	iss, _ := p.table.Told(i)
	return p.pkt.Seq == p.table.Seq(i)+1 && p.pkt.Ack == iss+1 && p.pkt.Data == p.pkt.End
}

// tellHeld sends a proven client an acknowledgement of its SYN, from behind the
// cookie's number (by 1) or from before that (0), with a window.
func (p *Port) tellHeld(i, by uint32, window uint16, echo uint32, now int64) {
	iss, _ := p.table.Told(i)
	syn := p.table.Syn(i, now)
	p.tell(i, &frame.Header{
		Seq: iss + by, Ack: syn.Seq + 1, Flags: frame.ACK, Window: window,
		Options: &frame.Options{TS: syn.Options.TS, TSVal: p.cookie.Clock(now), TSEcr: echo, WS: -1},
	})
}

// answer handles what netstack answered the rebuilt SYN of a proven client with.
// The client has its answer already, and gets to know the window. Whether it is
// there yet only it can say: it is sent something old, which it has to
// acknowledge, and that completes netstack's handshake.
func (p *Port) answer(a *shift.Answer, now int64) {
	i := p.find(place{a.Virtual, a.VirtualPort}, a.Client, a.ClientPort)
	switch {
	case i == 0 && a.Again: // it is a connection by now
		return
	case i == 0, p.table.At(i).State != Released && p.table.At(i).State != Forwarding, p.table.At(i).Mark&proven == 0:
		p.shift.Remove(a.Flow, now)
		return
	case a.Reset:
		p.tellReset(i)
		p.broken(i, now)
		return
	}
	iss, _ := p.table.Told(i)
	syn := p.table.Syn(i, now)
	told := p.toldScale(&a.Client, &syn)
	a.Scale = scaleOf(told, syn.Options.WS, a.Options.WS)
	p.shift.Set(a, iss, p.cookie.Clock(now)) // not again, if netstack repeats itself
	window := a.Window >> max(told, 0)
	echo := syn.Options.TSVal
	p.tellHeld(i, 0, window, echo, now)
	p.tellHeld(i, 1, window, echo, now)
}

// toldScale is the window scale that a proven client was told; -1: none.
func (p *Port) toldScale(client *frame.Addr, syn *park.Syn) int8 {
	if syn.Options.WS < 0 {
		return -1
	}
	_, ws := p.net.Advertised(!frame.Is4(client))
	return ws
}

// scaleOf is how windows are translated of a client that was told a scale, and offered
// its own, if it is spoken to by who shifts his windows by another: a server may, or may
// not shift any (RFC 7323 2.2), the client's neither then.
func scaleOf(told, client, server int8) shift.Scale {
	switch {
	case told < 0:
		return shift.Scale{}
	case server < 0:
		return shift.Scale{Out: -told, In: client}
	}
	return shift.Scale{Out: server - told}
}

// flowOf is a handshake's connection as package shift has it.
func (p *Port) flowOf(i uint32) shift.Flow {
	k := p.table.Key(i)
	l := &p.listeners[k.Virtual]
	return shift.Flow{Client: k.Peer, ClientPort: k.Port, Virtual: l.at.addr, VirtualPort: l.at.port}
}

// unshift ends the translation of a connection that is closed.
func (p *Port) unshift(conn uint32, now int64) {
	if f, ok := p.shifted[conn]; ok {
		delete(p.shifted, conn)
		p.shift.Remove(f, now)
	}
}
