package proxy

import (
	"time"

	"golang.org/x/sys/unix"

	"penstock/lb/dispatch"
	"penstock/stack/relay"
	"penstock/stack/sys"
)

const (
	flushPause = time.Millisecond // doubled up to 128 ms
	flushTries = 240              // about 30 s

	// refuseLinger is how long a client that was refused with FIN may take to
	// close its side.
	refuseLinger = time.Second

	// optionsAfter is how long a connection must last before its server side
	// is given keep-alive and the like, which take five system calls.
	optionsAfter = 3 * time.Second
)

var http503 = []byte("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

// refuse tells a client that it won't be served, in its virtual server's way.
func (w *worker) refuse(i uint32, c *client, code Code, now int64) {
	w.stats.virtuals[c.virtual].Refused.Add(1)
	how := w.p.virtuals[c.virtual].Refuse
	if how == Reset || how == Drop {
		w.end(i, c, code, "proxy", now)
		return
	}
	var last []byte
	if how == HTTP503 {
		last = http503
	}
	w.clientFin(c, last)
	c.state = refusing
	c.pair = w.pairs.Alloc()
	*w.pairs.At(c.pair) = pair{client: i, server: relay.Side{FD: -1}, granted: now, refused: code}
	if !w.watchClient(i, c) {
		w.end(i, c, code, "proxy", now)
		return
	}
	w.loop.StartTimer(c.pair, now+int64(refuseLinger))
	if c.side.Ready&sys.In != 0 {
		w.discard(i, c, now)
	}
}

// discard throws away what a refused client sends, so that closing does not
// become a reset which overtakes the refusal.
func (w *worker) discard(i uint32, c *client, now int64) {
	for range 16 {
		n, e := w.clientRecv(c, w.waste)
		if e == unix.EAGAIN {
			return
		}
		if e != 0 || n == 0 {
			w.end(i, c, w.pairs.At(c.pair).refused, "proxy", now)
			return
		}
	}
	w.end(i, c, w.pairs.At(c.pair).refused, "proxy", now) // it does not listen
}

// Expired is called when a session's timer fires.
func (w *worker) Expired(timer uint32, now int64) {
	p := w.pairs.At(timer)
	i := p.client
	c := w.clients.At(i)
	switch c.state {
	case heading:
		w.noHeader(i, c, "proxy", now)
	case shaking:
		if w.tap.Heard(now) < p.active { // its answer may be there
			w.loop.StartTimer(timer, now+int64(time.Millisecond))
			return
		}
		w.end(i, c, ClientQuit, "client", now) // it is not there any more
	case dialling:
		w.dialFailed(i, c, p, now)
	case relaying:
		w.relayExpired(i, c, p, now)
	case flushing:
		w.flushed(i, c, p, now)
	case refusing:
		w.end(i, c, p.refused, "proxy", now)
	}
}

// relayExpired ends a session that is silent for too long, or waits on: its
// timer is not moved at each byte, but looks again when it fires.
func (w *worker) relayExpired(i uint32, c *client, p *pair, now int64) {
	if p.flags&optionsSet == 0 && now >= p.connected+int64(optionsAfter) {
		p.flags |= optionsSet
		w.p.virtuals[c.virtual].Options.Apply(int(p.server.FD))
		w.clientOptions(c)
	}
	at, code := w.silence(c, p)
	if at != 0 && at <= now {
		w.end(i, c, code, "proxy", now)
		return
	}
	w.arm(c, p)
}

// arm starts the timer of a relaying session.
func (w *worker) arm(c *client, p *pair) {
	if at := w.deadline(c, p); at != 0 {
		w.loop.StartTimer(c.pair, at)
	}
}

// deadline is when a relaying session's timer has to look again; 0 never.
func (w *worker) deadline(c *client, p *pair) int64 {
	at, _ := w.silence(c, p)
	if p.flags&optionsSet == 0 {
		if options := p.connected + int64(optionsAfter); at == 0 || options < at {
			return options
		}
	}
	return at
}

// silence is when a session is ended if no byte moves, and as what; 0 never.
func (w *worker) silence(c *client, p *pair) (at int64, code Code) {
	v := &w.p.virtuals[c.virtual]
	limit, code := v.IdleTimeout, Idle
	if p.flags&(clientFin|serverFin) != 0 && v.HalfClose > 0 && (limit == 0 || v.HalfClose < limit) {
		limit, code = v.HalfClose, HalfClosed
	}
	if limit == 0 {
		return 0, code
	}
	return p.active + int64(limit), code
}

// end is the end of every session: sockets closed, slot given back, records
// freed, a line for the log. Sockets are closed with FIN if both sides have
// said all, with RST otherwise.
func (w *worker) end(i uint32, c *client, code Code, closer string, now int64) {
	if w.p.cfg.Ended != nil {
		w.report(c, code, closer, now)
	}
	w.dropHandshake(c, now)
	w.closeClient(c, code == Served || code == ServerEnd || c.state == refusing, now)
	if c.pair == 0 {
		w.depart(i, c)
		return
	}
	p := w.pairs.At(c.pair)
	holds, path := p.holds, p.path
	if code != Served && code != ServerEnd {
		w.resetServer(p)
	}
	w.dropPair(c, p)
	w.depart(i, c)
	if holds { // last: the server's count is down before the next is let in
		w.disp.Release(dispatch.Tick(now), path)
	}
}

// depart frees a client's record.
func (w *worker) depart(i uint32, c *client) {
	w.stats.virtuals[c.virtual].Open.Add(-1)
	if len(w.targets) > 0 {
		delete(w.targets, i)
	}
	w.clients.Free(i)
	w.loop.Departed()
}

// resetServer closes the server's socket with RST: for a server that was
// connected a FIN would be a clean end.
func (w *worker) resetServer(p *pair) {
	if p.connected != 0 && p.server.FD >= 0 {
		w.loop.Reset(int(p.server.FD))
		p.server.FD = -1
	}
}
