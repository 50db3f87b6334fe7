package proxy

import (
	"time"

	"golang.org/x/sys/unix"

	"penstock/lb/dispatch"
	"penstock/stack/proxyheader"
	"penstock/stack/relay"
	"penstock/stack/sys"
)

// starvePause is how soon a dial is tried again that found no descriptor,
// port or memory.
const starvePause = 20 * time.Millisecond

// open makes the session the owner of a slot and dials.
func (w *worker) open(i uint32, c *client, path dispatch.Path, now int64) {
	c.pair = w.pairs.Alloc()
	p := w.pairs.At(c.pair)
	*p = pair{client: i, server: relay.Side{FD: none}, path: path, holds: true, granted: now, active: now}
	w.begin(i, c, p, now)
}

// begin dials for a session that has a slot.
func (w *worker) begin(i uint32, c *client, p *pair, now int64) {
	p.flags |= slotted
	path := &p.path
	s := w.stats.members[path.Member]
	s.Dialled.Add(1)
	s.Open.Add(1)
	w.dial(i, c, p, now)
}

func (w *worker) dial(i uint32, c *client, p *pair, now int64) {
	fd, e := w.loop.Dial(&w.p.members[p.path.Member].address)
	if fd >= 0 && !w.loop.Watch(fd, serverRef(i)) {
		w.loop.Close(fd)
		fd, e = -1, unix.ENOMEM
	}
	if fd < 0 {
		switch {
		case !ours(e):
			w.dialFailed(i, c, p, now)
		case now-p.granted < int64(w.dialledAs(p).ConnectTimeout):
			w.starve(i, c, now)
		default: // no fault of the member
			w.end(i, c, DialFailed, "proxy", now)
		}
		return
	}
	c.state = dialling
	p.server = relay.Side{FD: int32(fd), Nagle: true}
	if !w.watchClient(i, c) {
		w.end(i, c, DialFailed, "proxy", now)
		return
	}
	w.loop.StartTimer(c.pair, now+int64(w.dialledAs(p).ConnectTimeout))
}

// ours says whether a dial failed for want of something on this host, which
// says nothing about the member.
func ours(e sys.Errno) bool {
	switch e {
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.EADDRNOTAVAIL, unix.EAGAIN:
		return true
	}
	return false
}

// starve keeps the slot and tries again: somebody else would have no
// descriptor either.
func (w *worker) starve(i uint32, c *client, now int64) {
	c.state = starved
	if !w.watchClient(i, c) {
		w.end(i, c, DialFailed, "proxy", now)
		return
	}
	if len(w.starved) == 0 {
		w.retryAt = now + int64(starvePause)
	}
	w.starved = append(w.starved, i)
}

// feed dials again for those that found no descriptor, oldest first.
func (w *worker) feed(now int64) {
	list := w.starved
	w.starved = nil
	for k, i := range list {
		c := w.clients.At(i)
		if c.state != starved {
			continue // it ended meanwhile
		}
		p := w.pairs.At(c.pair)
		if !w.disp.Usable(p.path) {
			w.withdrawPair(i, c, p, now)
			continue
		}
		w.dial(i, c, p, now)
		if c.state == starved { // no use in asking for the others
			w.starved = append(w.starved, list[k+1:]...)
			w.retryAt = now + int64(starvePause)
			return
		}
	}
}

// dialledAs returns the pool of the member that the session has a slot of.
func (w *worker) dialledAs(p *pair) *Pool { return &w.p.pools[w.p.members[p.path.Member].pool] }

// dialReady looks how a dial ended.
func (w *worker) dialReady(i uint32, c *client, p *pair, r sys.Ready, now int64) {
	fd := int(p.server.FD)
	switch {
	case r&sys.Err != 0:
		w.dialEnded(i, c, p, sys.Error(fd), now)
	case r&sys.Unsure != 0 && !sys.Connected(fd):
		// Not yet; or it was, and has been reset: then this may have been the
		// only event, and Ready is what the rest is read by.
		if e := sys.Error(fd); e != 0 {
			w.dialEnded(i, c, p, e, now)
		} else {
			p.server.Ready = 0
		}
	case r&sys.Out != 0:
		w.connected(i, c, p, now)
	}
}

// dialEnded tells a server that refused, or could not be reached, from one
// that was connected and broke off before it was heard of: what that one said
// is still to be read, and its reset is passed on.
func (w *worker) dialEnded(i uint32, c *client, p *pair, e sys.Errno, now int64) {
	if e == unix.ECONNRESET || e == unix.EPIPE {
		p.flags |= serverBroke
		p.down.Cut()
		w.connected(i, c, p, now)
		return
	}
	w.dialFailed(i, c, p, now)
}

func (w *worker) connected(i uint32, c *client, p *pair, now int64) {
	c.state = relaying
	p.connected, p.active = now, now
	w.disp.Dialled(dispatch.Tick(now), &p.path)
	w.arm(c, p)
	if v := w.dialledAs(p).SendProxy; v != proxyheader.Off {
		w.announce(i, c, p, v)
	}
	w.drive(i, c, now)
}

// dialFailed gives the slot back; the client goes back to its place, on to
// another member, or is refused.
func (w *worker) dialFailed(i uint32, c *client, p *pair, now int64) {
	path := p.path
	w.dropPair(c, p)
	a := c.attempt()
	v := w.disp.Failed(dispatch.Tick(now), path, i, &a)
	w.again(i, c, &a, v, now)
}

// withdraw gives a slot back that no server has seen used, because its member
// takes nobody any more. The client goes back to its place.
func (w *worker) withdraw(i uint32, c *client, path dispatch.Path, now int64) {
	a := c.attempt()
	v := w.disp.Withdraw(dispatch.Tick(now), path, i, &a)
	w.again(i, c, &a, v, now)
}

// withdrawPair does so for a session that has a pair already, over which
// nothing went yet but the client's FIN, perhaps: that is read again.
func (w *worker) withdrawPair(i uint32, c *client, p *pair, now int64) {
	if p.up.Done() {
		c.side.Ready |= sys.In | sys.Fin
	}
	path := p.path
	w.dropPair(c, p)
	w.withdraw(i, c, path, now)
}

// again carries out what the dispatcher said about a client that had a slot.
func (w *worker) again(i uint32, c *client, a *dispatch.Attempt, v dispatch.Verdict, now int64) {
	c.tried, c.tries = a.Tried, a.Tries
	w.decided(i, c, v, now)
	if c.state == parked {
		w.parkedReady(i, c, c.side.Ready, now) // a FIN may have come while it dialled
	}
}

// dropPair closes the server's socket and frees the record. The slot is the
// caller's from now on.
func (w *worker) dropPair(c *client, p *pair) {
	w.loop.StopTimer(c.pair)
	if p.flags&slotted != 0 {
		w.stats.members[p.path.Member].Open.Add(-1)
	}
	if p.server.FD >= 0 {
		w.loop.Close(int(p.server.FD))
	}
	w.relay.Drop(&p.up)
	w.relay.Drop(&p.down)
	w.pairs.Free(c.pair)
	c.pair = 0
}
