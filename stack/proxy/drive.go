package proxy

import (
	"golang.org/x/sys/unix"

	"penstock/lb/dispatch"
	"penstock/stack/relay"
	"penstock/stack/sys"
)

// drive moves what can be moved, both ways, and draws the conclusions.
func (w *worker) drive(i uint32, c *client, now int64) {
	p := w.pairs.At(c.pair)
	wasUp, wasDown := p.up.Bytes, p.down.Bytes
	up := relay.Stuck
	if p.flags&serverDeaf == 0 && c.state == relaying {
		up = w.relay.Pump(&p.up, &c.side, &p.server, p.down.Done())
	}
	if up == relay.DstGone {
		// The server takes no more, but what it said before may be an answer:
		// it is read to its end first.
		p.flags |= serverDeaf
		w.serverFailed(p, now)
	}
	down := w.relay.Pump(&p.down, &p.server, &c.side, p.up.Done())
	if p.up.Bytes != wasUp || p.down.Bytes != wasDown {
		p.active = now
		w.stats.moved(c.virtual, p.path.Member, p.up.Bytes-wasUp, p.down.Bytes-wasDown)
	}
	switch {
	case up == relay.SrcReset || down == relay.DstGone:
		w.clientReset(i, c, now)
	case down == relay.SrcReset, down == relay.Done && p.flags&serverBroke != 0 && !p.up.Done():
		w.serverReset(i, c, p, now)
	case p.up.Done() && down == relay.Done:
		w.finished(i, c, p, now)
	case up == relay.More || down == relay.More:
		w.queueMore(c, p)
	case up == relay.Done || down == relay.Done:
		w.halfClosed(c, p, up == relay.Done, now)
	}
}

// serverFailed notes that the server broke off, which gives its slot free. Its stream
// does not end well then, unless its FIN came first: a server that has closed may be
// forgotten by its machine before a slow client has all, and what comes late for it,
// a probe or a larger window, is answered with a reset. That ends nothing that was
// not over; a client that says more, to nobody, is reset for it.
func (w *worker) serverFailed(p *pair, now int64) {
	e, deaf := sys.Error(int(p.server.FD)), p.flags&serverDeaf != 0
	switch {
	case deaf, e != 0 && e != unix.EPIPE:
		p.flags |= serverBroke
		p.down.Cut()
	case e == 0:
		return
	}
	w.release(p, now)
}

// finished ends a session in which both sides have said all.
func (w *worker) finished(i uint32, c *client, p *pair, now int64) {
	if p.flags&serverFin != 0 {
		w.end(i, c, ServerEnd, "server", now)
	} else {
		w.end(i, c, Served, "client", now)
	}
}

// halfClosed notes who was first, and starts the half-close clock: a FIN is a
// sign of life like a byte.
func (w *worker) halfClosed(c *client, p *pair, clientFirst bool, now int64) {
	if p.flags&(clientFin|serverFin) != 0 {
		return
	}
	if clientFirst {
		p.flags |= clientFin
	} else {
		p.flags |= serverFin
	}
	p.active = now
	w.arm(c, p)
}

// clientReset passes the client's reset on.
func (w *worker) clientReset(i uint32, c *client, now int64) {
	w.end(i, c, ClientReset, "client", now)
}

// serverReset passes the server's reset on, behind all that it sent. The slot
// is free at once; the client's kernel may take its time.
func (w *worker) serverReset(i uint32, c *client, p *pair, now int64) {
	w.release(p, now)
	w.loop.Close(int(p.server.FD))
	p.server.FD = -1
	c.state = flushing
	w.flushed(i, c, p, now)
}

// flushed resets the client once it has acknowledged what was sent to it.
// There is no event for that, so it is looked at now and then.
func (w *worker) flushed(i uint32, c *client, p *pair, now int64) {
	if !w.clientUnacked(c) || p.flushes >= flushTries {
		w.end(i, c, ServerReset, "server", now)
		return
	}
	w.loop.StartTimer(c.pair, now+int64(flushPause)<<min(p.flushes, 7))
	p.flushes++
}

// release gives the slot back, once.
func (w *worker) release(p *pair, now int64) {
	if p.holds {
		p.holds = false
		w.disp.Release(dispatch.Tick(now), p.path)
	}
}
