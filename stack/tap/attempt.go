package tap

import (
	"time"

	"penstock/stack/slab"
	"penstock/stack/tap/flow"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/track"
	"penstock/stack/wheel"
)

// attempt is what a flow needs besides while something has to happen in time: its
// handshake, or a reset that the server has not confirmed. Few are in either.
type attempt struct {
	flow     uint32
	record   uint32 // of the handshake, while it may go back to its place; else 0
	position uint32 // in the queue
	tries    uint8
	until    int64
	shake    time.Duration // see Opening
}

// attempts are timed by their numbers.
type attempts struct {
	slab  slab.Slab[attempt]
	wheel *wheel.Wheel
}

// retime is called when an attempt's time has come, by a time up to which all was heard.
func (f *forwarder) retime(a uint32, at, now int64) {
	t := f.attempts.slab.At(a)
	fl := f.flows.At(t.flow)
	switch state := fl.Conn.State(); {
	case state == track.Resetting:
		f.askReset(a, now)
	case at < t.until:
		f.sendSyn(a, now)
	case state == track.Opening:
		f.unanswered(t.flow, now)
	default:
		f.p.counts.timeouts.Add(1)
		if fl.Mark&shifted == 0 {
			f.p.mute++
		}
		f.end(t.flow, EndQuit, now) // it is not there any more
	}
}

// unanswered gives a server up that said nothing to a SYN. Should it have something
// half open, that is over.
func (f *forwarder) unanswered(n uint32, now int64) {
	if _, ok := f.toServer(n, now); ok {
		f.p.counts.unanswered.Add(1)
		f.common.routes.Doubt(f.servers[f.flows.ServerKey(n).Tag].hop, now)
		f.resetServer(n, now)
	} else {
		f.p.counts.noRoute.Add(1)
	}
	f.refused(n, now)
}

// endAttempt frees a flow's attempt, and the record of its handshake.
func (f *forwarder) endAttempt(fl *flow.Flow) {
	if fl.Mark&attempting == 0 {
		return
	}
	a := fl.Attempt
	t := f.attempts.slab.At(a)
	f.freeRecord(fl, t)
	fl.Mark &^= attempting
	fl.Attempt = t.position
	f.attempts.wheel.Stop(a)
	f.attempts.slab.Free(a)
}

// freeRecord frees the record of an attempt's handshake, if it has one.
func (f *forwarder) freeRecord(fl *flow.Flow, t *attempt) {
	if t.record == 0 {
		return
	}
	if fl.Mark&told == 0 {
		f.owner.Dropped(t.record)
	}
	f.p.Free(t.record)
	t.record = 0
}

// A reset of a client's may be lost behind us, or may be none of the client's at all.
// So the slot is kept until the server has confirmed that the connection is over. It
// is asked with something old (as a keep-alive probe, RFC 9293 3.8.4): if it is there,
// it has to acknowledge that, and who was the real client of a connection that goes
// on will be heard, and who really is gone answers with the reset that fits (RFC 5961
// 3.2). If it is not, it answers with a reset.
const (
	askFirst = 50 * ms // after the first time; then twice that
	askMost  = 6       // 3 s
)

// oldStamp is for hosts that drop what has no timestamp once they were agreed on.
// One that is too old is answered, as an old number is (RFC 7323 5.3).
var oldStamp = frame.Options{TS: true, TSVal: 1, WS: -1}

// confirm begins to ask.
func (f *forwarder) confirm(n uint32, now int64) {
	fl := f.flows.At(n)
	if fl.Mark&attempting == 0 {
		a := f.attempts.slab.Alloc()
		*f.attempts.slab.At(a) = attempt{flow: n, position: fl.Attempt}
		fl.Attempt = a
		fl.Mark |= attempting
	}
	t := f.attempts.slab.At(fl.Attempt)
	f.freeRecord(fl, t)
	t.tries = 0
	f.askReset(fl.Attempt, now)
}

// askReset asks once more, or gives it up: who is not there to answer serves nobody.
func (f *forwarder) askReset(a uint32, now int64) {
	t := f.attempts.slab.At(a)
	fl := f.flows.At(t.flow)
	switch {
	case t.tries >= askMost && fl.Conn.Sure():
		f.over(t.flow, End(fl.Code), now)
		f.free(t.flow, now, now)
		return
	case t.tries >= askMost: // nobody says that it lives, either
		f.resetClient(t.flow)
		fl.Conn.ForceReset()
		t.tries = 0
	}
	if t.tries > 0 && fl.Conn.Sure() {
		f.resetServer(t.flow, now)
	}
	if to, ok := f.toServer(t.flow, now); ok {
		seq, ack := fl.Conn.ProbeServer()
		f.p.out = frame.AppendTCP(f.p.out[:0], &to, &frame.Header{Seq: seq, Ack: ack, Flags: frame.ACK, Options: &oldStamp}, nil)
		f.write(f.p.out)
		f.p.counts.resetProbes.Add(1)
	}
	f.attempts.wheel.Start(a, now+askFirst<<t.tries)
	t.tries++
}

// revived goes on with a flow whose reset was none. A client that has not completed its
// handshake has no more time for it than it had.
func (f *forwarder) revived(n uint32, now int64) {
	fl := f.flows.At(n)
	if fl.Conn.State() == track.Answered {
		f.attempts.wheel.Start(fl.Attempt, f.attempts.slab.At(fl.Attempt).until)
		return
	}
	f.endAttempt(fl)
	f.watch(n, now)
}
