package tap

import (
	"encoding/binary"

	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/flow"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/park"
	"penstock/stack/tap/term"
)

// syn handles a SYN for listener n. It is handled in full, or (false) goes on to
// netstack, which then knows of it already.
func (p *Port) syn(b []byte, h *device.VNet, n uint16, now int64) bool {
	pkt := &p.pkt
	if !p.sound(b, h) {
		return true
	}
	key := park.Key{Peer: pkt.Src, Port: pkt.SrcPort, Virtual: n}
	syn := park.Syn{Seq: pkt.Seq, Window: pkt.Window, Options: pkt.Options(b)}
	if i := p.table.Find(&key); i != 0 {
		if done, handled := p.again(i, &key, &syn, now); done {
			return handled
		}
	}
	l := &p.listeners[n]
	if l.flows > 0 && p.fwd.knownSyn(&flow.Key{Addr: pkt.Src, Port: pkt.SrcPort, Tag: n}, b, h, now) {
		return true
	}
	peer := sys.Peer{Addr: pkt.Src, Port: pkt.SrcPort}
	if !p.guests.none(&peer) && p.net.Known(peer, sys.Peer{Addr: pkt.Dst, Port: pkt.DstPort}) {
		return false // netstack asks the client whether it is there (RFC 5961 4)
	}
	if l.closed || l.id < 0 || p.draining { // id: its last client was this one
		p.answerReset()
		return true
	}
	p.counts.syns.Add(1)
	if mark, ok := p.admit(&key, &syn, l, now); ok {
		if i, ok := p.add(&key, &syn, mark, now); ok {
			p.owner.Arrived(i, now)
		}
	}
	return true
}

// add makes a record for the client of the frame at hand.
func (p *Port) add(k *park.Key, s *park.Syn, mark uint8, now int64) (i uint32, ok bool) {
	i, ok = p.table.Add(k, s, p.hops.Intern(p.pkt.From), now)
	if !ok {
		p.counts.full.Add(1)
		if mark&shared != 0 {
			p.shares.Give(&k.Peer)
		}
		return 0, false
	}
	p.table.At(i).Mark = mark
	l := &p.listeners[k.Virtual]
	l.records++
	if mark&proven == 0 {
		l.unproven++
	}
	p.counts.now(p.table.Len(), mark, 1)
	return i, true
}

// again handles a SYN of a client that has a record. Not done: it begins anew,
// and the record is free.
func (p *Port) again(i uint32, key *park.Key, syn *park.Syn, now int64) (done, handled bool) {
	r := p.table.At(i)
	same := p.table.Seq(i) == syn.Seq
	switch {
	case r.State == Departed: // it comes again, when the record is free
		return true, true
	case same:
		p.table.Repeat(i, syn, p.hops.Intern(p.pkt.From), now)
		p.counts.repeats.Add(1)
		if r.State == Forwarding {
			p.fwd.resyn(i, now)
			return true, true
		}
		return true, r.State == Parked || p.repeat(i, syn)
	case r.State == Forwarding && r.Mark&proven == 0:
		p.fwd.quit(i, now)
		return false, false
	case r.State == Released:
		if p.through(i) { // netstack asks the client about it, unless it knows already
			return true, r.Mark&cut != 0
		}
		p.broken(i, now)
		return false, false
	}
	if r.Mark&proven != 0 { // it is connected: anybody could say that it is not (RFC 5961 4)
		p.tellHeld(i, 1, 0, syn.Options.TSVal, now)
		return true, true
	}
	p.owner.Left(i, now) // the socket that it belonged to is no more
	return p.table.Find(key) != 0, true
}

// sendOff has netstack forget handshakes that nobody let in, whose SYN came behind
// options of IP or in pieces: for those nobody has a slot, and their number has no bound.
func (p *Port) sendOff() {
	for i := range p.uninvited {
		p.net.Forget(p.uninvited[i][0], p.uninvited[i][1])
	}
	p.uninvited = p.uninvited[:0]
}

// answered keeps what netstack answered a released handshake with. False: it answered
// one that is not.
func (p *Port) answered(s *term.Segment) bool {
	i := p.find(place{s.Src, s.SrcPort}, s.Dst, s.DstPort)
	if i == 0 || p.table.At(i).State != Released {
		return false
	}
	if p.table.At(i).Mark&proven == 0 {
		a := frame.Packet{Flags: frame.SYN, Data: len(s.Header)}
		p.answers[i] = synAck{
			iss: binary.BigEndian.Uint32(s.Header[4:]), window: binary.BigEndian.Uint16(s.Header[14:]), options: a.Options(s.Header),
		}
	}
	return true
}

// synAck is an answer to a SYN.
type synAck struct {
	iss     uint32
	window  uint16
	options frame.Options
}

// repeat answers a SYN again whose answer was lost: netstack would do so after a
// second and then after two more, and until then it has a bare acknowledgement for
// the client, which that can't use. False if it has not answered yet.
func (p *Port) repeat(i uint32, syn *park.Syn) bool {
	a, ok := p.answers[i]
	if !ok {
		return false
	}
	a.options.TSEcr = syn.Options.TSVal
	p.tell(i, &frame.Header{Seq: a.iss, Ack: syn.Seq + 1, Flags: frame.SYN | frame.ACK, Window: a.window, Options: &a.options})
	return true
}

// reset handles an RST for listener n, if it is about a handshake: its number
// must be what the client could send before it has got an answer. Any other
// changes nothing here, whoever sent it (RFC 5961 3); it may be about a
// connection from before, of which only netstack knows.
func (p *Port) reset(b []byte, h *device.VNet, n uint16, now int64) bool {
	pkt := &p.pkt
	key := park.Key{Peer: pkt.Src, Port: pkt.SrcPort, Virtual: n}
	i := p.table.Find(&key)
	if i == 0 {
		return false
	}
	if !p.sound(b, h) {
		return true
	}
	after := pkt.Seq - p.table.Seq(i) // 0: the ISN; 1: what comes behind the SYN
	switch p.table.At(i).State {
	case Parked, Forwarding:
		if after > 1 {
			p.counts.ignored.Add(1)
			return false
		}
		p.counts.resets.Add(1)
		if p.table.At(i).State == Forwarding {
			p.fwd.quit(i, now)
		} else {
			p.owner.Left(i, now)
		}
		return true
	case Released:
		// What netstack takes for valid: it may be behind data that is on its way.
		if after == 0 || after > firstWindow {
			p.counts.ignored.Add(1)
			return false
		}
		p.counts.resets.Add(1)
		if p.through(i) {
			p.table.At(i).Mark |= cut
		} else {
			p.broken(i, now)
		}
		return false
	}
	return true
}

// through takes a released handshake from netstack, unless it has made a
// connection of it that it has not told of yet: that is not ours to end, nor may
// it be taken for what comes of the client's next SYN.
func (p *Port) through(i uint32) bool {
	return !p.forget(i) && p.net.Known(p.Peer(i), p.listenerOf(i).local())
}

// firstWindow is how much a client may send before it hears more.
const firstWindow = 64 << 10

// Len returns how many handshakes are not over.
func (p *Port) Len() int { return p.table.Len() }

// find returns the record of a client's handshake with an address, or 0. At one
// that is no listener's there is none: number 0 has no records.
func (p *Port) find(at place, peer frame.Addr, port uint16) uint32 {
	return p.table.Find(&park.Key{Peer: peer, Port: port, Virtual: p.places[at]})
}

// Record returns a handshake's record.
func (p *Port) Record(i uint32) *park.Record { return p.table.At(i) }

// Virtual returns the owner's number of a handshake's virtual server.
func (p *Port) Virtual(i uint32) int { return p.listenerOf(i).id }

// Peer returns a handshake's client.
func (p *Port) Peer(i uint32) sys.Peer {
	k := p.table.Key(i)
	return sys.Peer{Addr: k.Peer, Port: k.Port}
}

func (p *Port) listenerOf(i uint32) *listener { return &p.listeners[p.table.Key(i).Virtual] }

// Park keeps a handshake. The owner keeps what it needs in the record's Slot,
// Gen and Position.
func (p *Port) Park(i uint32) { p.table.At(i).State = Parked }

// Depart keeps the record of a client that left until the owner frees it.
func (p *Port) Depart(i uint32, now int64) {
	p.table.At(i).State = Departed
	p.table.Expect(i, false, now)
}

// Free gives a record up.
func (p *Port) Free(i uint32) {
	k, mark := p.table.Key(i), p.table.At(i).Mark
	if p.table.At(i).State == Released {
		delete(p.answers, i)
	}
	p.table.Free(i)
	if mark&shared != 0 {
		p.shares.Give(&k.Peer)
	}
	n := k.Virtual
	l := &p.listeners[n]
	if mark&proven == 0 {
		l.unproven--
	}
	p.counts.now(p.table.Len(), mark, -1)
	if l.records--; l.closed {
		p.unlisten(n)
	}
}

// Refuse answers a handshake with a reset, or not at all, as its virtual server
// has it, and gives the record up.
func (p *Port) Refuse(i uint32) {
	p.Deny(i)
	p.Free(i)
}

// Deny is Refuse for a record that is still needed.
func (p *Port) Deny(i uint32) {
	if p.table.At(i).Mark&proven != 0 || !p.listenerOf(i).Silent {
		p.tellReset(i)
	}
}

// Ignore gives up the record of a handshake that there is no place for. Its
// client comes again.
func (p *Port) Ignore(i uint32) {
	p.counts.full.Add(1)
	p.Free(i)
}

// tellReset resets a client that waits for an answer to its SYN, or has got one, if
// only a cookie: then it believes what has the number behind that.
func (p *Port) tellReset(i uint32) {
	h := frame.Header{Ack: p.table.Seq(i) + 1, Flags: frame.RST | frame.ACK}
	if p.table.At(i).Mark&proven != 0 {
		iss, _ := p.table.Told(i)
		h.Seq = iss + 1
	} else if a, ok := p.answers[i]; ok {
		h.Seq = a.iss + 1
	}
	p.tell(i, &h)
}

// tell sends the client of a handshake a segment.
func (p *Port) tell(i uint32, h *frame.Header) {
	f := p.flow(i)
	p.out = frame.AppendTCP(p.out[:0], &f, h, nil)
	p.queue.Send(&plain, p.out, nil)
}

// flow is where an answer to a handshake goes.
func (p *Port) flow(i uint32) frame.Flow {
	k := p.table.Key(i)
	l := &p.listeners[k.Virtual]
	return frame.Flow{
		SrcMAC: p.mac, DstMAC: p.hops.MAC(p.table.At(i).Hop),
		Src: l.at.addr, Dst: k.Peer, SrcPort: l.at.port, DstPort: k.Port,
	}
}

// answerReset answers the frame at hand with a reset.
func (p *Port) answerReset() {
	p.out = frame.AppendReset(p.out[:0], &p.pkt, p.mac)
	p.queue.Send(&plain, p.out, nil)
}

// Release lets a handshake go on, for a session of the owner: netstack gets the
// client's SYN as if it came now. It ends in exactly one of Connected, Broken and
// the owner's GiveUp.
func (p *Port) Release(i, session uint32, now int64) {
	r := p.table.At(i)
	r.State, r.Slot = Released, session
	p.table.Expect(i, false, now)
	syn := p.table.Syn(i, now)
	p.counts.released.Add(1)
	p.forget(i) // what is left of the client's last connection would not let it in
	if r.Mark&proven != 0 {
		p.shift.Pend(p.flowOf(i))
	}
	p.inject(i, &frame.Header{Seq: syn.Seq, Flags: frame.SYN, Window: syn.Window, Options: &syn.Options}, now)
}

// GiveUp ends a released handshake that the client does not complete in time, or
// for whose session there is no time left. Should the client have been faster by
// a moment, its connection is reset.
func (p *Port) GiveUp(i uint32, now int64) {
	p.counts.timeouts.Add(1)
	if p.table.At(i).Mark&proven == 0 {
		p.mute++
	}
	p.forget(i)
	p.tellReset(i)
	p.drop(i, now)
}

// drop gives a released handshake up that came to nothing.
func (p *Port) drop(i uint32, now int64) {
	if p.table.At(i).Mark&proven != 0 {
		p.shift.Remove(p.flowOf(i), now)
	}
	p.Free(i)
}

// broken ends a released handshake whose client reset it, or began anew.
func (p *Port) broken(i uint32, now int64) {
	session := p.table.At(i).Slot
	p.forget(i)
	p.drop(i, now)
	p.owner.Broken(session, now)
}

// forget takes a handshake from netstack.
func (p *Port) forget(i uint32) bool { return p.net.Forget(p.Peer(i), p.listenerOf(i).local()) }

// inject hands netstack a segment in the client's name.
func (p *Port) inject(i uint32, h *frame.Header, now int64) {
	f := p.flow(i)
	p.hops.Learn(&f.Dst, f.DstMAC, p.table.Heard(i, now))
	f = frame.Flow{
		SrcMAC: f.DstMAC, DstMAC: f.SrcMAC,
		Src: f.Dst, Dst: f.Src, SrcPort: f.DstPort, DstPort: f.SrcPort,
	}
	p.out = frame.AppendTCP(p.out[:0], &f, h, nil)
	p.net.Inject(p.out, true)
	p.injected = true
}

// accepted finds the handshake that a connection comes from. There may be none:
// its client reset it, or it was given up, in the last moment.
func (p *Port) accepted(e *term.Event, now int64) {
	i := p.find(place{e.Local.Addr, e.Local.Port}, e.Peer.Addr, e.Peer.Port)
	if i == 0 || p.table.At(i).State != Released {
		p.net.Reset(e.Conn)
		return
	}
	r := p.table.At(i)
	if !p.net.Holds(e.Conn) {
		p.net.Reset(e.Conn)
		if r.Mark&cut != 0 { // or it is from before, and the handshake the client's next
			p.broken(i, now)
		}
		return
	}
	session := r.Slot
	if r.Mark&proven != 0 {
		p.shifted[e.Conn] = p.flowOf(i)
	} else {
		p.heard++
	}
	p.Free(i)
	p.guests.add(e.Conn, &e.Peer)
	p.counts.accepted.Add(1)
	p.owner.Connected(session, e.Conn, e.Ready, now)
}

// Hangup closes a connection, with FIN or with a reset.
func (p *Port) Hangup(conn uint32, clean bool, now int64) {
	p.unshift(conn, now)
	p.guests.remove(conn)
	if clean {
		p.net.Close(conn)
	} else {
		p.net.Reset(conn)
	}
}

const (
	walkEvery  = int64(1e9) // between two walks through all records
	walkPause  = int64(2e6) // between two portions
	walkBudget = 8192       // records in a portion
)

// walk looks for clients that have said nothing for too long: giving up is
// silent. It is done in portions, so that no turn gets long.
func (p *Port) walk(now int64) {
	if p.table.Silent(p.Heard(now), walkBudget, func(i uint32) {
		if p.table.At(i).State == Parked {
			p.counts.silent.Add(1)
			p.mute++
			p.owner.Left(i, now)
		}
	}) {
		p.silentAt = now + walkEvery
	} else {
		p.silentAt = now + walkPause
	}
}

// Handshakes calls f for each record that is parked. f may give it up.
func (p *Port) Handshakes(f func(i uint32)) {
	for i := p.table.Next(0); i != 0; i = p.table.Next(i) {
		if p.table.At(i).State == Parked {
			f(i)
		}
	}
}
