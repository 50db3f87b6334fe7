package tap

import (
	"math"
	"time"

	"penstock/stack/tap/flow"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/shift"
	"penstock/stack/tap/track"
)

// over gives a flow's slot back, once. The flow stays as long as something may
// have to be sent again.
func (f *forwarder) over(n uint32, how End, now int64) {
	if f.flows.At(n).Mark&over != 0 {
		return
	}
	f.uncount(n)
	f.owner.Over(n, how, now)
}

// uncount is for a flow that no longer holds a slot.
func (f *forwarder) uncount(n uint32) {
	f.flows.At(n).Mark |= over
	f.p.counts.flows.Add(-1)
}

// end ends a flow for a reason of ours, or of the client's that it has not told the
// server: both sides are reset, and the slot is kept until the server has confirmed.
func (f *forwarder) end(n uint32, how End, now int64) {
	fl := f.flows.At(n)
	state := fl.Conn.State()
	if state == track.Resetting {
		return
	}
	if state != track.Opening {
		f.resetClient(n)
	}
	f.resetServer(n, now)
	fl.Code = uint8(how)
	fl.Conn.ForceReset()
	f.confirm(n, now)
}

// Cut ends a forwarded connection: both sides are reset. Its slot is free at once,
// since whoever does this knows why.
func (p *Port) Cut(n uint32, how End, now int64) {
	f := p.fwd
	state := f.flows.At(n).Conn.State()
	if state == track.Opening {
		f.denyRecord(n)
	} else if state != track.Resetting {
		f.resetClient(n)
	}
	f.resetServer(n, now)
	f.over(n, how, now)
	f.free(n, now, now)
}

// denyRecord resets a client that has had no answer from its server yet.
func (f *forwarder) denyRecord(n uint32) {
	fl := f.flows.At(n)
	if fl.Mark&attempting == 0 {
		return
	}
	if i := f.attempts.slab.At(fl.Attempt).record; i != 0 {
		f.p.Deny(i)
	}
}

// Recall takes a flow back from a server that has not answered yet: the flow is gone,
// and its handshake, in record i, the owner's as after Arrived. False if it is too late.
func (p *Port) Recall(n uint32, now int64) (i uint32, held uint64, ok bool) {
	f := p.fwd
	if f.flows.At(n).Conn.State() != track.Opening {
		return 0, 0, false
	}
	f.resetServer(n, now)
	i, held = f.recall(n, now)
	return i, held, true
}

// resetServer resets a flow's server, in the client's name.
func (f *forwarder) resetServer(n uint32, now int64) {
	to, ok := f.toServer(n, now)
	if !ok {
		return
	}
	seq, ack, flags := f.flows.At(n).Conn.ResetFor(track.Server)
	f.write(frame.AppendTCP(f.p.out[:0], &to, &frame.Header{Seq: seq, Ack: ack, Flags: flags}, nil))
}

// resetClient resets a flow's client, in the server's name.
func (f *forwarder) resetClient(n uint32) {
	fl := f.flows.At(n)
	to := f.toClient(n)
	seq, ack, flags := fl.Conn.ResetFor(track.Client)
	f.p.out = frame.AppendTCP(f.p.out[:0], &to, &frame.Header{Seq: seq, Ack: ack, Flags: flags}, nil)
	if fl.Mark&shifted != 0 && !f.p.shift.Out(&to.Src, &to.Dst, f.p.out[tcpAt(&to):], false) {
		return
	}
	f.p.queue.Send(&plain, f.p.out, nil)
}

// tcpAt is where TCP begins in a frame that we made.
func tcpAt(to *frame.Flow) int {
	if frame.Is4(&to.Src) {
		return linkSize + 20
	}
	return linkSize + 40
}

// stale is for a server that answers a SYN with an acknowledgement of something
// else: it remembers another connection between the two. A reset makes it forget
// that (RFC 9293 3.5.2), and the SYN follows at once.
func (f *forwarder) stale(n uint32, now int64) {
	p, fl := f.p, f.flows.At(n)
	if fl.Mark&attempting == 0 {
		return
	}
	to, ok := f.toServer(n, now)
	t := f.attempts.slab.At(fl.Attempt)
	if !ok || t.tries > staleMost {
		return
	}
	seq, flags := track.StaleReset(&track.Segment{Ack: p.pkt.Ack, Seq: p.pkt.Seq, Flags: p.pkt.Flags})
	f.write(frame.AppendTCP(p.out[:0], &to, &frame.Header{Seq: seq, Flags: flags}, nil))
	if fl.Conn.State() == track.Opening {
		f.sendSyn(fl.Attempt, now)
	}
}

// staleMost is how many tries an old connection may cost.
const staleMost = 3

// Flows that end in order are remembered a while: the last acknowledgement may be
// lost, and then a FIN comes again.

// due is when a flow wants to be looked at.
func (f *forwarder) due(n uint32, now int64) int64 {
	fl := f.flows.At(n)
	span, _ := f.span(n, fl)
	if span == 0 {
		return math.MaxInt64
	}
	return f.active(fl, now) + span
}

// active is when a flow was heard of last.
func (f *forwarder) active(fl *flow.Flow, now int64) int64 {
	return now - int64(int32(uint32(now/ms)-fl.Active))*ms
}

// span is how long nothing may be heard of a flow, and what it has ended by then; 0:
// as long as it likes, or an attempt's time decides.
func (f *forwarder) span(n uint32, fl *flow.Flow) (span int64, how End) {
	l := &f.p.listeners[f.flows.ClientKey(n).Tag]
	switch fl.Conn.State() {
	case track.Established:
		return int64(l.Idle), EndIdle
	case track.Closing:
		if l.HalfClose > 0 && (l.Idle == 0 || l.HalfClose < l.Idle) {
			return int64(l.HalfClose), EndHalfClose
		}
		return int64(l.Idle), EndIdle
	case track.Closed:
		return int64(max(f.p.cfg.TimeWait, time.Second)), EndOwner
	}
	return 0, EndOwner
}

// look is called when a flow may be due.
func (f *forwarder) look(n uint32, at, now int64) (due int64) {
	fl := f.flows.At(n)
	if fl.Mark&attempting != 0 {
		return math.MaxInt64
	}
	if due = f.due(n, now); due > at {
		return due
	}
	if fl.Conn.State() == track.Closed {
		f.free(n, now, now+f.rest(fl))
		return math.MaxInt64
	}
	_, how := f.span(n, fl)
	f.end(n, how, now)
	return math.MaxInt64
}

// Recheck has a flow looked at anew: the times of its virtual server may have changed.
func (p *Port) Recheck(n uint32, now int64) {
	p.fwd.flows.Due(n, now)
	p.fwd.walkBy(now)
}

// watch has a flow looked at when it is due.
func (f *forwarder) watch(n uint32, now int64) {
	due := f.due(n, now)
	f.flows.Due(n, due)
	f.walkBy(due)
}

// walkBy has the next walk begin then, or as soon as it may.
func (f *forwarder) walkBy(at int64) { f.walkAt = min(f.walkAt, max(at, f.walked+flowsEvery)) }

// serverRests is how long a server that closed first remembers the connection
// (TIME_WAIT, as Linux has it).
const serverRests = int64(60e9)

// rest is for how long the port of a flow that ended in order had better not be
// used again.
func (f *forwarder) rest(fl *flow.Flow) int64 {
	if side, _ := fl.Conn.FirstFin(); side == track.Server {
		return serverRests
	}
	return 0
}

// detach gives the client's key of a flow up that is over, or all but: the client
// begins another. What the server still says is not for it.
func (f *forwarder) detach(n uint32, now int64) {
	fl := f.flows.At(n)
	if fl.Mark&over != 0 {
		f.free(n, now, now+f.rest(fl))
		return
	}
	f.unshift(n, now)
	fl.Mark |= left
	f.flows.Leave(n)
}

// replace frees a flow whose place towards its server another takes. The server will
// tell if it is not over there. Not while it lives: a client may use one port towards
// several virtual servers, which may have one server.
func (f *forwarder) replace(n uint32, now int64) bool {
	fl := f.flows.At(n)
	if fl.Mark&over == 0 && !(fl.Conn.State() == track.Resetting && fl.Conn.Sure()) {
		return false
	}
	f.over(n, End(fl.Code), now)
	f.free(n, now, 0)
	return true
}

// free forgets a flow. Its port rests until then.
func (f *forwarder) free(n uint32, now, rest int64) {
	fl := f.flows.At(n)
	f.endAttempt(fl)
	f.unshift(n, now)
	k := f.flows.ServerKey(n)
	if fl.Mark&ported != 0 {
		f.givePort(&k, rest)
	}
	s := &f.servers[k.Tag]
	if s.flows--; s.flows == 0 {
		s.idle = now
	}
	l := f.flows.ClientKey(n).Tag
	f.flows.Free(n)
	if f.p.listeners[l].flows--; f.p.listeners[l].closed {
		f.p.unlisten(l)
	}
}

// unshift ends the translation of a flow's numbers.
func (f *forwarder) unshift(n uint32, now int64) {
	fl := f.flows.At(n)
	if fl.Mark&shifted == 0 || fl.Mark&left != 0 {
		return
	}
	f.p.shift.Remove(f.shiftOf(n), now)
	fl.Mark &^= shifted
}

// shiftOf is a flow as package shift has it.
func (f *forwarder) shiftOf(n uint32) shift.Flow {
	k := f.flows.ClientKey(n)
	l := &f.p.listeners[k.Tag]
	return shift.Flow{Client: k.Addr, ClientPort: k.Port, Virtual: l.at.addr, VirtualPort: l.at.port}
}
