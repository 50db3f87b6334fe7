package proxy

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"penstock/lb/dispatch"
	"penstock/stack/kernel"
	"penstock/stack/relay"
	"penstock/stack/slab"
	"penstock/stack/sys"
	"penstock/stack/tap"
)

// worker is the sessions of one loop. Only the loop's goroutine touches it.
type worker struct {
	// Constant after New.
	p     *Proxy
	index int
	loop  *kernel.Loop
	disp  *dispatch.Loop
	relay *relay.Worker
	tap   *tap.Port // nil: there is none
	waste []byte    // for what is read and thrown away, and for PROXY headers

	stats *Stats                // changed while the loop stands still
	shown atomic.Pointer[Stats] // the same, for other goroutines

	clients        slab.Slab[client]
	pairs          slab.Slab[pair]
	more           []uint32            // pairs whose turn was over before they were
	starved        []uint32            // clients with a slot and no descriptor
	retryAt        int64               // when to look at starved
	closing        []int               // listeners to be closed in the next turn
	sweeps         []sweep             // to be done, oldest first
	targets        map[uint32]sys.Peer // by client: what its PROXY header says that it connected to
	ended          Ended               // space for report
	conns          []uint32            // clients by connection of the TAP port
	tried          map[uint32]tried    // by record
	tapWatched     bool
	framesCame     bool // this turn
	serversWatched bool
	drained        func() // called once when no session is left; nil: not draining
}

// A reference for the poller is a client's index and which side it is.
const serverSide = 1

func clientRef(i uint32) uint32 { return i << 1 }
func serverRef(i uint32) uint32 { return i<<1 | serverSide }

// Accepted starts a session.
func (w *worker) Accepted(listener, fd int, from sys.Peer, now int64) {
	i := w.clients.Alloc()
	c := w.clients.At(i)
	*c = client{
		accepted: now, peer: from, virtual: dispatch.VirtualID(listener),
		side: relay.Side{FD: int32(fd), Ready: sys.Out},
	}
	s := w.stats.virtuals[listener]
	s.Accepted.Add(1)
	s.Open.Add(1)
	if v := &w.p.virtuals[listener]; v.AcceptProxy {
		w.greet(i, c, v, now)
		return
	}
	w.arrive(i, c, now)
}

// arrive asks the dispatcher about a client whose address is known.
func (w *worker) arrive(i uint32, c *client, now int64) {
	w.decided(i, c, w.disp.Arrive(dispatch.Tick(now), c.virtual, i, c.attempt()), now)
}

// decided carries out what the dispatcher said.
func (w *worker) decided(i uint32, c *client, v dispatch.Verdict, now int64) {
	switch v.Kind {
	case dispatch.Proceed:
		w.open(i, c, v.Path, now)
	case dispatch.Wait:
		c.state, c.waiter = parked, v.Waiter
		w.clientOptions(c)
		if c.position == 0 {
			c.position = uint32(min(v.Position, 1<<32-1))
		}
		if !w.watchClient(i, c) {
			w.leave(i, c, DialFailed, now)
		}
	default:
		w.refuse(i, c, refusalCode[v.Reason], now)
	}
}

// watchClient registers the client's socket, once. Without that (no memory, or
// more than epoll's max_user_watches) the session has to end.
func (w *worker) watchClient(i uint32, c *client) bool {
	if _, ok := c.side.End(); !ok && !c.watched {
		c.watched = w.loop.Watch(int(c.side.FD), clientRef(i))
		return c.watched
	}
	return true
}

// Ready is called when an event came for a session's socket.
func (w *worker) Ready(ref uint32, r sys.Ready, now int64) {
	switch ref {
	case tapRef:
		w.tap.Readable(now)
		w.framesCame = true
		return
	case serversRef:
		w.tap.ServersReadable(now)
		w.framesCame = true
		return
	}
	i := ref >> 1
	c := w.clients.At(i)
	if ref&serverSide != 0 {
		w.serverReady(i, c, r, now)
		return
	}
	w.clientReady(i, c, r, now)
}

// clientReady is for both kinds of clients.
func (w *worker) clientReady(i uint32, c *client, r sys.Ready, now int64) {
	c.side.Ready |= r
	switch c.state {
	case heading:
		w.headingReady(i, c, r, now)
	case parked, starved:
		w.parkedReady(i, c, r, now)
	case dialling:
		if w.failed(c, r) != 0 {
			w.end(i, c, ClientReset, "client", now)
		}
	case relaying:
		switch w.failed(c, r) {
		case 0:
			w.drive(i, c, now)
		case unix.ETIMEDOUT:
			w.end(i, c, PeerLost, "proxy", now)
		default:
			w.clientReset(i, c, now)
		}
	case flushing:
		if w.failed(c, r) != 0 {
			w.end(i, c, ServerReset, "server", now)
		}
	case refusing:
		w.discard(i, c, now)
	}
}

// failed returns the error by which the client's connection broke off, a reset
// mostly; 0 if it did not. It is asked before anything is read: a FIN in front
// of the reset would read as a clean end.
func (w *worker) failed(c *client, r sys.Ready) sys.Errno {
	if r&(sys.Err|sys.Unsure) == 0 {
		return 0
	}
	return w.clientError(c)
}

func (w *worker) serverReady(i uint32, c *client, r sys.Ready, now int64) {
	p := w.pairs.At(c.pair)
	p.server.Ready |= r
	if c.state == dialling {
		w.dialReady(i, c, p, r, now)
		return
	}
	if r&(sys.Err|sys.Unsure) != 0 {
		w.serverFailed(p, now)
	}
	w.drive(i, c, now)
}

// parkedReady looks whether a parked client left.
func (w *worker) parkedReady(i uint32, c *client, r sys.Ready, now int64) {
	if w.gone(c, r) {
		w.left(i, c, now)
	}
}

// gone says whether a client that is not served yet has left, after what is
// known of its socket. It is never read: a FIN is bare if there is nothing to
// peek at.
func (w *worker) gone(c *client, r sys.Ready) bool {
	if w.failed(c, r) != 0 {
		return true
	}
	if r&(sys.Fin|sys.Unsure) == 0 {
		return false
	}
	n, e := w.clientPeek(c, w.waste[:1])
	if e != 0 {
		return e != unix.EAGAIN
	}
	return c.state == parked && w.leaves(c, n == 0, r)
}

// leaves says whether a parked client that may have closed its side has left.
func (w *worker) leaves(c *client, bare bool, r sys.Ready) bool {
	switch w.poolOf(c).OnClose {
	case LeaveBare:
		return bare
	case LeaveAny:
		if r&sys.Fin == 0 { // Unsure only
			r = w.clientPoll(c)
		}
		return r&sys.Fin != 0
	}
	return false
}

// poolOf returns the pool of the client's virtual server, where it waits.
func (w *worker) poolOf(c *client) *Pool { return &w.p.pools[w.p.virtuals[c.virtual].Pool] }

// left ends the session of a client that went while it was parked.
func (w *worker) left(i uint32, c *client, now int64) { w.leave(i, c, ClientQuit, now) }

// leave ends a session that is not yet served. If an outcome was faster, the
// record stays until that comes.
func (w *worker) leave(i uint32, c *client, code Code, now int64) {
	if c.state == parked && !w.disp.Leave(dispatch.Tick(now), c.waiter, dispatch.Tick(c.accepted)) {
		c.state, c.ending = departed, code
		w.closeClient(c, false, now)
		return
	}
	w.end(i, c, code, closerOf(code), now)
}

// closerOf says who ended a session that was not served.
func closerOf(code Code) string {
	if code == ClientQuit {
		return "client"
	}
	return "proxy"
}

// Turn hands the dispatcher's outcomes to their sessions, and gives one
// session that has more to do its turn.
func (w *worker) Turn(now int64) (due int64) {
	if len(w.closing) > 0 {
		w.unlisten()
	}
	w.outcomes(now)
	if len(w.more) > 0 {
		w.resume(now)
	}
	if len(w.starved) > 0 && now >= w.retryAt {
		w.feed(now)
	}
	if len(w.sweeps) > 0 {
		w.sweepOn(now)
	}
	w.outcomes(now)
	tapDue := int64(0)
	if w.tap != nil {
		tapDue = w.tapTurn(now)
	}
	if w.drained != nil && w.idle() {
		w.drained()
		w.drained = nil
	}
	if due = w.nextTurn(); due == 0 || tapDue != 0 && tapDue < due {
		due = tapDue
	}
	return due
}

func (w *worker) outcomes(now int64) {
	for {
		if due := w.disp.Due(); due != 0 && int64(due) <= now {
			w.disp.Run(dispatch.Tick(now))
			if w.disp.Due() == 1 { // budget used up: others first
				return
			}
		}
		o, ok := w.disp.Next()
		if !ok {
			return
		}
		w.outcome(o, now)
	}
}

func (w *worker) nextTurn() int64 {
	if len(w.more) > 0 || len(w.sweeps) > 0 {
		return 1
	}
	due := int64(w.disp.Due())
	if len(w.starved) > 0 && (due == 0 || w.retryAt < due) {
		due = w.retryAt
	}
	return due
}

func (w *worker) outcome(o dispatch.Outcome, now int64) {
	if o.Conn&handshakeBit != 0 {
		w.handshakeOutcome(o.Conn&^handshakeBit, &o, now)
		return
	}
	c := w.clients.At(o.Conn)
	switch {
	case c.state == departed:
		if o.Reason == dispatch.NotRefused {
			w.disp.Release(dispatch.Tick(now), o.Path)
		}
		w.end(o.Conn, c, c.ending, closerOf(c.ending), now)
	case o.Reason == dispatch.NotRefused:
		w.granted(o.Conn, c, o.Path, now)
	default:
		w.refuse(o.Conn, c, refusalCode[o.Reason], now)
	}
}

// granted dials for a waiter, unless its client has left: the event that says
// so may lie in the batch that is being handled. No server is to see a
// connection for somebody who is not there.
func (w *worker) granted(i uint32, c *client, path dispatch.Path, now int64) {
	switch {
	case w.gone(c, w.clientPoll(c)):
		w.disp.Release(dispatch.Tick(now), path)
		w.end(i, c, ClientQuit, "client", now)
	case !w.disp.Usable(path):
		w.withdraw(i, c, path, now)
	default:
		w.open(i, c, path, now)
	}
}

// resume drives the pair that has waited longest for its next turn.
func (w *worker) resume(now int64) {
	pi := w.more[0]
	w.more = w.more[1:]
	p := w.pairs.At(pi)
	if p.flags&queued == 0 { // it ended, and another may have its record
		return
	}
	p.flags &^= queued
	if c := w.clients.At(p.client); c.state == relaying { // not if its server broke off meanwhile
		w.drive(p.client, c, now)
	}
}

func (w *worker) queueMore(c *client, p *pair) {
	if p.flags&queued == 0 {
		p.flags |= queued
		w.more = append(w.more, c.pair)
	}
}
