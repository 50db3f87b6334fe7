package proxy

import (
	"time"

	"penstock/lb/dispatch"
	"penstock/stack/tap"
	"penstock/stack/tap/flow"
	"penstock/stack/tap/track"
)

// A virtual server with Forward has no sessions: its clients are handshakes of the
// TAP port until they have a slot, and flows of the port afterwards. A flow keeps
// its path itself, as a number.

// tried is what a handshake has been through that its record has no room for.
type tried struct {
	members uint64
	tries   uint8
}

// held is a path as a flow keeps it.
func held(p dispatch.Path) uint64 {
	n := uint64(p.Virtual)<<16 | uint64(p.Member)
	if p.Probe {
		n |= heldProbe
	}
	if p.Persisted {
		n |= heldPersisted
	}
	return n
}

const (
	heldProbe     = 1 << 32
	heldPersisted = 1 << 33
)

// pathOf is the way back.
func pathOf(held uint64) dispatch.Path {
	return dispatch.Path{
		Virtual: dispatch.VirtualID(held >> 16), Member: dispatch.MemberID(held),
		Probe: held&heldProbe != 0, Persisted: held&heldPersisted != 0,
	}
}

// proceed uses a slot that a handshake has got.
func (w *worker) proceed(i uint32, path dispatch.Path, now int64) {
	if w.p.virtuals[w.tap.Virtual(i)].Forward {
		w.forward(i, path, now)
	} else {
		w.shake(i, path, true, now)
	}
}

// forward lets a handshake go on to its server.
func (w *worker) forward(i uint32, path dispatch.Path, now int64) {
	m := &w.p.members[path.Member]
	o := tap.Opening{
		To: m.at, Held: held(path), Patience: w.p.pools[m.pool].ConnectTimeout, Shake: shakeTime,
	}
	s := w.stats.members[path.Member]
	s.Open.Add(1)
	w.joined()
	switch w.tap.Forward(i, &o, now) {
	case tap.Passed:
		s.Dialled.Add(1)
	case tap.NoWay:
		s.Dialled.Add(1)
		w.Refused(i, held(path), now)
	case tap.NoRoom: // it is passed over for a while, as one that has all it may have
		w.notForwarded(i, path, w.disp.Short, now)
	case tap.Taken:
		w.notForwarded(i, path, w.disp.Unfit, now)
	}
}

// notForwarded puts a client back to its place by one of the dispatcher's ways.
func (w *worker) notForwarded(i uint32, path dispatch.Path, back func(dispatch.Tick, dispatch.Path, uint32, *dispatch.Attempt) dispatch.Verdict, now int64) {
	w.unforward(path.Member)
	a := w.attemptOf(i)
	w.handshakeAgain(i, &a, back(dispatch.Tick(now), path, i|handshakeBit, &a), now)
}

// unforward is for a flow that is gone.
func (w *worker) unforward(m dispatch.MemberID) {
	w.stats.members[m].Open.Add(-1)
	if w.p.cfg.MaxClients > 0 {
		w.loop.Departed()
	}
}

// joined counts a flow, which has no descriptor, where clients are counted because
// they are to be no more than so many.
func (w *worker) joined() {
	if w.p.cfg.MaxClients > 0 {
		w.loop.Joined()
	}
}

// Answered tells the dispatcher that the server is well.
func (w *worker) Answered(f, i uint32, now int64) {
	fl := w.tap.Flow(f)
	path := pathOf(fl.Held)
	w.disp.Dialled(dispatch.Tick(now), &path)
	fl.Held = held(path)
	w.forgetTried(i)
}

// Dropped forgets what a handshake has been through.
func (w *worker) Dropped(i uint32) { w.forgetTried(i) }

// Refused puts the client of a server that did not answer back to its place.
func (w *worker) Refused(i uint32, held uint64, now int64) {
	path := pathOf(held)
	w.unforward(path.Member)
	a := w.attemptOf(i)
	v := w.disp.Failed(dispatch.Tick(now), path, i|handshakeBit, &a)
	w.handshakeAgain(i, &a, v, now)
}

// handshakeAgain carries out what the dispatcher said about a handshake that had a slot.
func (w *worker) handshakeAgain(i uint32, a *dispatch.Attempt, v dispatch.Verdict, now int64) {
	if a.Tries > 0 {
		if w.tried == nil {
			w.tried = map[uint32]tried{}
		}
		w.tried[i] = tried{a.Tried, a.Tries}
	}
	w.decidedHandshake(i, v, now)
}

// forgetTried is for a record that is about to be freed, or has become a flow for
// good.
func (w *worker) forgetTried(i uint32) {
	if len(w.tried) > 0 {
		delete(w.tried, i)
	}
}

// endings are the codes of what a port found out by itself.
var endings = [...]Code{
	tap.EndClient: Served, tap.EndServer: ServerEnd, tap.EndServerReset: ServerReset,
	tap.EndClientReset: ClientReset, tap.EndIdle: Idle, tap.EndHalfClose: HalfClosed, tap.EndQuit: ClientQuit,
}

// closers say who ended it.
var closers = [...]string{
	tap.EndClient: "client", tap.EndServer: "server", tap.EndServerReset: "server",
	tap.EndClientReset: "client", tap.EndIdle: "proxy", tap.EndHalfClose: "proxy", tap.EndQuit: "client",
}

// endAs is a code for Cut.
func endAs(code Code) tap.End { return tap.EndOwner + tap.End(code) }

// Over gives a flow's slot back, and tells the log.
func (w *worker) Over(f uint32, how tap.End, now int64) {
	fl := w.tap.Flow(f)
	path := pathOf(fl.Held)
	code, closer := Code(how-tap.EndOwner), "proxy"
	if how < tap.EndOwner {
		code, closer = endings[how], closers[how]
	}
	w.reportFlow(f, fl, path, code, closer, now)
	w.stats.virtuals[path.Virtual].Open.Add(-1)
	w.unforward(path.Member)
	w.disp.Release(dispatch.Tick(now), path)
}

// Carried counts bytes.
func (w *worker) Carried(f *flow.Flow, from track.Side, bytes int) {
	path := pathOf(f.Held)
	up, down := uint64(bytes), uint64(0)
	if from == track.Server {
		up, down = down, up
	}
	w.stats.moved(path.Virtual, path.Member, up, down)
}

// reportFlow tells the log about one.
func (w *worker) reportFlow(f uint32, fl *flow.Flow, path dispatch.Path, code Code, closer string, now int64) {
	if w.p.cfg.Ended == nil {
		return
	}
	e := &w.ended
	position := w.tap.FlowPosition(f)
	*e = Ended{
		Accepted: time.Duration(now - fl.Since), Client: w.tap.FlowPeer(f).AddrPort(),
		Virtual: int(path.Virtual), Member: int(path.Member), Position: int64(position),
		Connect: time.Duration(fl.Connect) * time.Microsecond,
		Up:      fl.Bytes(track.Client), Down: fl.Bytes(track.Server),
		Left: "-", Code: code, Closer: closer,
		PacketsUp: fl.Packets[track.Client], PacketsDown: fl.Packets[track.Server],
	}
	if position > 0 {
		e.Wait = time.Duration(fl.Granted - fl.Since)
		e.Left = leftAs(code, true)
	}
	w.p.cfg.Ended(w.index, e)
}

// sweepFlow does to a flow what a sweep is for, if it is meant. True: that is not free.
func (w *worker) sweepFlow(s *sweep, f uint32, now int64) bool {
	fl := w.tap.Flow(f)
	if s.what == rearm {
		if pathOf(fl.Held).Virtual == dispatch.VirtualID(s.id) {
			w.tap.Recheck(f, now)
		}
		return false // nothing is ended by that
	}
	if pathOf(fl.Held).Member != dispatch.MemberID(s.id) || fl.Granted > s.at {
		return false
	}
	if s.what != reselect || !w.recall(f, now) {
		w.tap.Cut(f, endAs(ServerDown), now)
	}
	return true
}

// recall puts the client of a flow back to its place whose server has not answered.
// (One that has been answered speaks with this server, by its numbers.)
func (w *worker) recall(f uint32, now int64) bool {
	i, held, ok := w.tap.Recall(f, now)
	if !ok {
		return false
	}
	path := pathOf(held)
	w.unforward(path.Member)
	w.withdrawHandshake(i, path, now)
	return true
}

// cutFlows ends all flows.
func (w *worker) cutFlows(now int64) {
	if w.tap != nil {
		w.tap.Flows(func(f uint32) { w.tap.Cut(f, endAs(Drained), now) })
	}
}
