package tap

import (
	"net/netip"
	"sync/atomic"
	"time"

	"penstock/stack/sys"
	"penstock/stack/tap/flow"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/park"
	"penstock/stack/tap/track"
)

// A virtual server with Forward has its clients' TCP spoken by its servers. A
// handshake that is released becomes a flow: the client's own SYN goes to the
// server, and from then on headers are changed both ways and nothing is kept of
// what they carry. What the owner has to know of it, which is when the slot is
// free again, is found out from the headers (package track).
//
//	forward.go  from a record to a flow; its handshake with the server
//	attempt.go  what has to happen in time: a SYN sent again, a reset asked about
//	segment.go  what comes from clients, and from servers
//	ending.go   how flows end, and are forgotten
//	errors.go   ICMP errors
//	servers.go  servers, the way to them, and the ports that they see
//	link.go     the device that servers are behind
//	common.go   what all loops share; frames that came to another loop

// End says how a forwarded connection ended.
type End uint8

const (
	EndClient      End = iota // both sides said all, the client first
	EndServer                 // ... the server first
	EndServerReset            // the server reset it
	EndClientReset            // the client did
	EndIdle                   // nobody said anything for too long
	EndHalfClose              // ... after one side's FIN
	EndQuit                   // the client did not complete the handshake
	EndOwner                  // and what is above: the owner cut it, for reasons of its own
)

// FlowOwner decides about forwarded connections, besides an Owner.
type FlowOwner interface {
	// Answered tells that the server of a flow took the connection. The handshake's
	// record, i, is not the owner's any more.
	Answered(f, i uint32, now int64)
	// Refused tells that it did not, or that it said nothing in time. The flow is
	// gone, and the handshake in record i is the owner's to decide about as after
	// Arrived.
	Refused(i uint32, held uint64, now int64)
	// Dropped tells that the handshake in record i, whose server has not answered,
	// is over: its client went. The record is not the owner's any more; the flow is
	// not Over yet.
	Dropped(i uint32)
	// Over tells that a flow needs its slot no more. Called once for each, unless
	// it was Refused, or the owner's Recall took it back.
	Over(f uint32, how End, now int64)
	// Carried tells of payload that a flow's side sent, of a flow that is not Over.
	Carried(f *flow.Flow, from track.Side, bytes int)
}

// forwarder is what a port has for flows. Owned by the loop.
type forwarder struct {
	p        *Port
	owner    FlowOwner
	common   *Common
	loop     int
	flows    *flow.Table
	from     uint8 // which device the frame at hand was read from
	left     uint8 // how many more loops may have a look at it
	forwards bool  // some virtual server does, or did
	fresh    int   // bytes of its payload that were not seen before
	moves    bool  // it has such, or a SYN or a new FIN: the connection is not idle
	link     link  // that servers are behind; the clients' if there is one only
	ear      ear   // of that
	again    int64 // when attempts are looked at again that are due, but may have been answered

	servers  []server // number 0 is none
	serverAt map[place]uint16
	attempts attempts
	walkAt   int64  // when the next walk through all flows begins
	walked   int64  // when the last one ended
	whole    []byte // room for a frame in one piece

	complaints int    // in this second
	reaped     uint32 // of reap: it has been at all flows before
	looked     int64  // flows, in this walk
}

// Bits of a flow's Mark, which is ours.
const (
	attempting uint8 = 1 << iota // Attempt is one; else the position in the queue
	shifted                      // its numbers are translated for the client
	over                         // it has no slot any more
	ported                       // has a port of an SNAT address
	left                         // its client has begun another
	told                         // the owner, that it was answered
)

// Opening says where a released handshake goes.
type Opening struct {
	To       netip.AddrPort
	Held     uint64        // for the owner: kept with the flow
	Patience time.Duration // how long the server may take to answer
	Shake    time.Duration // how long the client may take then
}

// Passage is what came of Forward.
type Passage uint8

const (
	Passed Passage = iota
	// The others leave the record the owner's as before.
	NoWay  // there is none to the server
	NoRoom // no port of an SNAT address, or no record of a flow: no fault of the server's
	Taken  // the server knows another connection by the client's own port: nobody else's affair
)

// Forward lets a handshake go on to a server, if it can.
func (p *Port) Forward(i uint32, o *Opening, now int64) Passage {
	f := p.fwd
	s := f.server(placeOf(o.To))
	if s == 0 {
		p.counts.noRoute.Add(1)
		return NoWay
	}
	k := p.table.Key(i)
	client := flow.Key{Addr: k.Peer, Port: k.Port, Tag: k.Virtual}
	if old := f.flows.FindClient(&client); old != 0 {
		f.detach(old, now)
	}
	n, short := f.add(i, &client, s, now)
	if short != nil && f.reap(now) {
		n, short = f.add(i, &client, s, now)
	}
	switch {
	case short == nil:
		f.begin(n, i, o, now)
		return Passed
	case short == &p.counts.portsOut && len(p.listenerOf(i).SNAT) == 0:
		short.Add(1)
		return Taken
	}
	short.Add(1)
	return NoRoom
}

// add makes the flow of a record's handshake with server s. If it can't, short counts
// what there is none of.
func (f *forwarder) add(i uint32, client *flow.Key, s uint16, now int64) (n uint32, short *atomic.Uint64) {
	var ok bool
	l := f.p.listenerOf(i)
	key := flow.Key{Addr: client.Addr, Port: client.Port, Tag: s}
	snat := len(l.SNAT) > 0
	if snat {
		if key.Addr, key.Port, ok = f.port(l, s, now); !ok {
			return 0, &f.p.counts.portsOut
		}
	} else if old := f.flows.FindServer(&key); old != 0 && !f.replace(old, now) {
		return 0, &f.p.counts.portsOut
	}
	if n, ok = f.flows.Add(*client, key); !ok {
		if snat {
			f.givePort(&key, 0)
		}
		return 0, &f.p.counts.flowsFull
	}
	if snat {
		f.flows.At(n).Mark |= ported
	}
	f.servers[s].flows++
	l.flows++
	return n, nil
}

// reapLooks is at how many flows reap looks.
const reapLooks = 4096

// reap frees flows that are over, and only remembered, where there is no room for one
// that is not.
func (f *forwarder) reap(now int64) (some bool) {
	for range reapLooks {
		if f.reaped = f.flows.Next(f.reaped); f.reaped == 0 {
			continue // from the beginning
		}
		if fl := f.flows.At(f.reaped); fl.Mark&(over|attempting) == over {
			f.free(f.reaped, now, now+f.rest(fl))
			some = true
		}
	}
	return some
}

// begin sends a new flow's SYN.
func (f *forwarder) begin(n, i uint32, o *Opening, now int64) {
	p := f.p
	r, fl := p.table.At(i), f.flows.At(n)
	fl.Since, fl.Granted, fl.Held, fl.Hop = r.Since, now, o.Held, r.Hop
	fl.Active = uint32(now / ms)
	a := f.attempts.slab.Alloc()
	*f.attempts.slab.At(a) = attempt{
		flow: n, record: i, position: r.Position, until: now + int64(o.Patience), shake: o.Shake,
	}
	fl.Attempt = a
	fl.Mark |= attempting
	if r.Mark&proven != 0 {
		fl.Mark |= shifted
		p.shift.Pend(p.flowOf(i))
	}
	r.State, r.Slot = Forwarding, n
	p.table.Expect(i, false, now)
	syn := p.table.Syn(i, now)
	fl.Conn.Open(segmentOf(&syn))
	p.counts.released.Add(1)
	p.counts.forwarded.Add(1)
	p.counts.flows.Add(1)
	f.sendSyn(a, now)
}

func segmentOf(s *park.Syn) *track.Segment {
	return &track.Segment{Seq: s.Seq, Flags: frame.SYN, Window: s.Window, WS: s.Options.WS}
}

// sendSyn sends the SYN of an attempt, as the client would now, and sees to it that
// it is sent again. While the server's Ethernet address is not known it is asked for.
func (f *forwarder) sendSyn(a uint32, now int64) {
	t := f.attempts.slab.At(a)
	fl := f.flows.At(t.flow)
	to, ok := f.toServer(t.flow, now)
	if !ok {
		if f.unreachable(t.flow, now) {
			t.until = now
		}
		at := now + max(ms, min(now-fl.Granted, 50*ms))
		f.attempts.wheel.Start(a, min(at, t.until))
		return
	}
	syn := f.p.table.Syn(t.record, now)
	syn.Options.MSS = f.clamped(syn.Options.MSS, !frame.Is4(&to.Dst))
	f.write(frame.AppendTCP(f.p.out[:0], &to, &frame.Header{Seq: syn.Seq, Flags: frame.SYN, Window: syn.Window, Options: &syn.Options}, nil))
	fl.Packets[track.Client]++
	t.tries++
	f.attempts.wheel.Start(a, min(now+synAgain<<(t.tries-1), t.until))
}

// synAgain is how soon a SYN is sent again at first, as hosts do (RFC 6298); twice
// that the next time.
const synAgain = int64(1e9)

// clamped is what of a client's MSS its server gets to know: no segment of
// its own may be too long for the clients' link.
func (f *forwarder) clamped(mss uint16, v6 bool) uint16 {
	if mss == 0 {
		return 0
	}
	return min(mss, f.most(v6))
}

// most is the longest segment that fits both links.
func (f *forwarder) most(v6 bool) uint16 {
	n := min(f.link.mtu, f.p.device.MTU()) - 40
	if v6 {
		n -= 20
	}
	if own := f.p.cfg.MSS; own > 0 {
		n = min(n, own)
	}
	return uint16(n)
}

// resyn handles a repeated SYN of a client whose own was sent on: it goes on too.
func (f *forwarder) resyn(i uint32, now int64) {
	n := f.p.table.At(i).Slot
	fl := f.flows.At(n)
	if fl.Mark&attempting != 0 && fl.Mark&shifted == 0 {
		t := f.attempts.slab.At(fl.Attempt)
		t.tries = max(t.tries, 1) - 1
		f.sendSyn(fl.Attempt, now)
	}
}

// answered goes on with a flow whose server's SYN-ACK came.
func (f *forwarder) answered(n uint32, now int64) {
	fl := f.flows.At(n)
	t := f.attempts.slab.At(fl.Attempt)
	fl.Connect = uint32(min((now-fl.Granted)/1000, 1<<32-1))
	shake := f.p.Patience(t.record, int64(t.shake), now)
	t.until = now + shake
	f.attempts.wheel.Start(fl.Attempt, t.until)
	fl.Mark |= told
	f.owner.Answered(n, t.record, now)
	if fl.Mark&shifted == 0 {
		f.p.Free(t.record)
		t.record = 0
	}
}

// completed goes on with a flow whose client is there.
func (f *forwarder) completed(n uint32, now int64) {
	fl := f.flows.At(n)
	f.endAttempt(fl)
	fl.Active = uint32(now / ms)
	f.p.counts.accepted.Add(1)
	if fl.Mark&shifted == 0 {
		f.p.heard++
	}
	f.watch(n, now)
}

// refused tells the owner of a flow that its server did not answer, or refused.
func (f *forwarder) refused(n uint32, now int64) {
	i, held := f.recall(n, now)
	f.owner.Refused(i, held, now)
}

// recall frees a flow whose handshake is to go back to its place.
func (f *forwarder) recall(n uint32, now int64) (i uint32, held uint64) {
	p, fl := f.p, f.flows.At(n)
	held = fl.Held
	t := f.attempts.slab.At(fl.Attempt)
	i, t.record = t.record, 0
	f.unshift(n, now)
	f.uncount(n)
	f.free(n, now, 0)
	r := p.table.At(i)
	r.State, r.Slot = 0, 0
	p.table.Expect(i, r.Mark&proven == 0, now)
	return i, held
}

// quit ends a flow whose client said, by its next SYN or a reset, that it is not
// after it any more, and got no answer before. The record is free then.
func (f *forwarder) quit(i uint32, now int64) { f.end(f.p.table.At(i).Slot, EndQuit, now) }

// Flow returns a forwarded connection.
func (p *Port) Flow(n uint32) *flow.Flow { return p.fwd.flows.At(n) }

// FlowPeer returns the client of one.
func (p *Port) FlowPeer(n uint32) sys.Peer {
	k := p.fwd.flows.ClientKey(n)
	return sys.Peer{Addr: k.Addr, Port: k.Port}
}

// FlowPosition returns how many waited when its client was parked; 0: it was not.
func (p *Port) FlowPosition(n uint32) uint32 {
	fl := p.fwd.flows.At(n)
	if fl.Mark&attempting != 0 {
		return p.fwd.attempts.slab.At(fl.Attempt).position
	}
	return fl.Attempt
}

// FlowsHeld is how many flows hold a slot.
func (p *Port) FlowsHeld() int { return int(p.counts.flows.Load()) }

// NextFlow returns the first flow behind n that holds a slot, in no order that means
// anything; 0 if there is none. Begin with 0.
func (p *Port) NextFlow(n uint32) uint32 {
	t := p.fwd.flows
	for n = t.Next(n); n != 0 && t.At(n).Mark&over != 0; n = t.Next(n) {
	}
	return n
}

// Flows calls f for each flow that holds a slot. f may cut it.
func (p *Port) Flows(f func(n uint32)) {
	for n := p.NextFlow(0); n != 0; n = p.NextFlow(n) {
		f(n)
	}
}
