package proxy

import (
	"time"

	"penstock/lb/dispatch"
	"penstock/stack/relay"
	"penstock/stack/sys"
	"penstock/stack/tap"
)

// A client of the TAP front end is parked as a handshake: a record of its port,
// without a session. The dispatcher knows it by the record's number and this bit.
const handshakeBit = 1 << 31

// tapRef is what the poller calls a loop's TAP queue: the server of no client.
const tapRef = serverSide

// serversRef is the queue of the device that servers are behind: the server of a
// client that can't be.
const serversRef = 1<<31 - 1

// shakeTime is how long a client may take to complete its handshake, once it has
// a slot.
const shakeTime = 3 * time.Second

// Arrived starts with a client whose SYN came.
func (w *worker) Arrived(i uint32, now int64) {
	id := w.tap.Virtual(i)
	v, s := &w.p.virtuals[id], w.stats.virtuals[id]
	if (!v.Forward || w.p.cfg.MaxClients > 0) && !w.loop.Admits() {
		w.tap.Ignore(i) // as a kernel socket's backlog would: it comes again
		return
	}
	s.Accepted.Add(1)
	s.Open.Add(1)
	if v.AcceptProxy {
		w.shake(i, dispatch.Path{}, false, now) // its header comes behind the handshake
		return
	}
	w.decidedHandshake(i, w.disp.Arrive(dispatch.Tick(now), dispatch.VirtualID(id), i|handshakeBit, w.attemptOf(i)), now)
}

func (w *worker) attemptOf(i uint32) dispatch.Attempt {
	t := w.tried[i]
	return dispatch.Attempt{
		Since: dispatch.Tick(w.tap.Record(i).Since), Source: sourceOf(w.tap.Peer(i)), Tried: t.members, Tries: t.tries,
	}
}

// decidedHandshake carries out what the dispatcher said.
func (w *worker) decidedHandshake(i uint32, v dispatch.Verdict, now int64) {
	switch v.Kind {
	case dispatch.Proceed:
		w.proceed(i, v.Path, now)
	case dispatch.Wait:
		r := w.tap.Record(i)
		r.Slot, r.Gen = v.Waiter.Slot, v.Waiter.Gen
		if r.Position == 0 {
			r.Position = uint32(min(v.Position, 1<<32-1))
		}
		w.tap.Park(i)
	default:
		w.refuseHandshake(i, refusalCode[v.Reason], now)
	}
}

// handshakeOutcome carries out what became of a parked handshake.
func (w *worker) handshakeOutcome(i uint32, o *dispatch.Outcome, now int64) {
	gone := w.tap.Record(i).State == tap.Departed
	switch {
	case o.Reason != dispatch.NotRefused && gone:
		w.endHandshake(i, ClientQuit, now)
	case o.Reason != dispatch.NotRefused:
		w.refuseHandshake(i, refusalCode[o.Reason], now)
	case gone:
		w.disp.Release(dispatch.Tick(now), o.Path)
		w.endHandshake(i, ClientQuit, now)
	case !w.disp.Usable(o.Path):
		w.withdrawHandshake(i, o.Path, now)
	default:
		w.proceed(i, o.Path, now)
	}
}

// withdrawHandshake gives a slot back that no server has seen used. The client goes
// back to its place.
func (w *worker) withdrawHandshake(i uint32, path dispatch.Path, now int64) {
	a := w.attemptOf(i)
	v := w.disp.Withdraw(dispatch.Tick(now), path, i|handshakeBit, &a)
	w.handshakeAgain(i, &a, v, now)
}

// refuseHandshake tells a client that it won't be served, in its virtual
// server's way.
func (w *worker) refuseHandshake(i uint32, code Code, now int64) {
	w.stats.virtuals[w.tap.Virtual(i)].Refused.Add(1)
	w.forgetTried(i)
	w.reportHandshake(i, code, now)
	w.tap.Refuse(i)
}

// endHandshake ends one whose client is not there any more.
func (w *worker) endHandshake(i uint32, code Code, now int64) {
	w.forgetTried(i)
	w.reportHandshake(i, code, now)
	w.tap.Free(i)
}

// Left takes a parked handshake out of the queue. If an outcome was faster, the
// record stays until that comes.
func (w *worker) Left(i uint32, now int64) { w.leaveHandshake(i, now, w.endHandshake, ClientQuit) }

func (w *worker) leaveHandshake(i uint32, now int64, end func(i uint32, code Code, now int64), code Code) {
	r := w.tap.Record(i)
	if !w.disp.Leave(dispatch.Tick(now), dispatch.Waiter{Slot: r.Slot, Gen: r.Gen}, dispatch.Tick(r.Since)) {
		if code != ClientQuit {
			w.tap.Deny(i)
		}
		w.tap.Depart(i, now)
		return
	}
	end(i, code, now)
}

// shake makes a session of a handshake and has it completed: it has a slot, or
// (not holds) needs none yet.
func (w *worker) shake(i uint32, path dispatch.Path, holds bool, now int64) {
	r, t := w.tap.Record(i), w.tried[i] // when its virtual server forwarded still
	w.forgetTried(i)
	ci := w.clients.Alloc()
	c := w.clients.At(ci)
	*c = client{
		accepted: r.Since, peer: w.tap.Peer(i), virtual: dispatch.VirtualID(w.tap.Virtual(i)),
		side: relay.Side{FD: none}, position: r.Position, state: shaking, waiter: dispatch.Waiter{Slot: i},
		tried: t.members, tries: t.tries,
	}
	c.pair = w.pairs.Alloc()
	*w.pairs.At(c.pair) = pair{client: ci, server: relay.Side{FD: none}, path: path, holds: holds, granted: now}
	w.loop.Joined()
	p := w.pairs.At(c.pair)
	p.active = now + w.tap.Patience(i, int64(shakeTime), now)
	w.loop.StartTimer(c.pair, p.active)
	w.tap.Release(i, ci, now)
}

// Connected goes on with a client whose handshake is complete.
func (w *worker) Connected(ci, conn uint32, r sys.Ready, now int64) {
	c := w.clients.At(ci)
	p := w.pairs.At(c.pair)
	c.waiter = dispatch.Waiter{}
	c.side = relay.EndSide(conn)
	c.side.Ready = r
	for int(conn) >= len(w.conns) {
		w.conns = append(w.conns, make([]uint32, 1024)...)
	}
	w.conns[conn] = ci
	w.loop.StopTimer(c.pair)
	v := &w.p.virtuals[c.virtual]
	switch {
	case !p.holds:
		w.dropPair(c, p)
		w.greet(ci, c, v, now)
		if w.conns[conn] == ci && c.state == heading {
			w.headingReady(ci, c, r, now) // there is no other event for what came with the handshake
		}
	case !w.disp.Usable(p.path):
		w.withdrawPair(ci, c, p, now)
	default:
		w.begin(ci, c, p, now)
	}
}

// Moved goes on with a connection with which more can be done.
func (w *worker) Moved(conn uint32, r sys.Ready, now int64) {
	if int(conn) < len(w.conns) && w.conns[conn] != 0 {
		ci := w.conns[conn]
		w.clientReady(ci, w.clients.At(ci), r, now)
	}
}

// Broken ends the session of a client that reset its handshake.
func (w *worker) Broken(ci uint32, now int64) {
	c := w.clients.At(ci)
	c.waiter = dispatch.Waiter{}
	w.end(ci, c, ClientQuit, "client", now)
}

// dropHandshake takes back what a session that ends has of the port.
func (w *worker) dropHandshake(c *client, now int64) {
	if c.state == shaking && c.waiter.Slot != 0 {
		w.tap.GiveUp(c.waiter.Slot, now)
		c.waiter = dispatch.Waiter{}
	}
}

// Leaves says whether who closes its side without having sent anything has left.
func (w *worker) Leaves(virtual int) bool {
	return w.p.pools[w.p.virtuals[virtual].Pool].OnClose != LeaveNever
}

// Depth returns how many wait where clients of a virtual server would, and how
// many may.
func (w *worker) Depth(virtual int) (waiting, most int64) {
	return w.disp.Depth(dispatch.VirtualID(virtual))
}

// reportHandshake tells the log about a client that had no session.
func (w *worker) reportHandshake(i uint32, code Code, now int64) {
	id := w.tap.Virtual(i)
	w.stats.virtuals[id].Open.Add(-1)
	if w.p.cfg.Ended == nil {
		return
	}
	r := w.tap.Record(i)
	c := client{accepted: r.Since, peer: w.tap.Peer(i), virtual: dispatch.VirtualID(id), position: r.Position}
	w.report(&c, code, closerOf(code), now)
}

// cutHandshakes ends all that are parked.
func (w *worker) cutHandshakes(now int64) {
	if w.tap != nil {
		w.tap.Handshakes(func(i uint32) { w.leaveHandshake(i, now, w.refuseHandshake, Drained) })
	}
}

// idle says whether no client is left, nor anything on its way to one: what the kernel
// delivers when we are gone, netstack does not.
func (w *worker) idle() bool {
	return w.clients.Len() == 0 && (w.tap == nil || w.tap.Len() == 0 && w.tap.FlowsHeld() == 0 && !w.tap.Conns().Delivering())
}
