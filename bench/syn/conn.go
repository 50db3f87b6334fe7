package syn

import (
	"encoding/binary"

	"penstock/bench/tally"
	"penstock/bench/wire"
)

// conn is a connection that is up.
type conn struct {
	number   uint32
	seq, ack uint32 // next of ours, next of theirs
	echo     uint32 // their last timestamp
	stamped  bool
	since    int64 // up
	due      int64 // keep: when its request was; 0: it waits for no response
	asked    int64 // keep: when that was sent last
	got      int   // bytes of the response
	ended    bool  // their end has come
	carried  bool  // keep: a response has come
}

// hear takes the frames that have come, a burst at most.
func (g *generator) hear() (n int, err error) {
	for ; n < burst && g.tx.Room(); n++ {
		frame, at, ok := g.rx.Next()
		if !ok {
			break
		}
		if h, ok := wire.Read(frame); ok && g.sound(frame, &h) {
			g.take(&h, at)
		}
	}
	at := wire.Now()
	if err := g.surely(); err != nil {
		return n, err
	}
	for ; g.leaving > 0; g.leaving-- {
		g.frees.add(at)
	}
	return n, nil
}

// take is for a segment to one of the clients; who floods is deaf.
func (g *generator) take(h *wire.Heard, at int64) {
	n, ok := g.crowd.number(h.To)
	if !ok || n >= g.flows.n {
		switch {
		case h.Flags&wire.RST != 0:
			g.tally.Handshakes.Refused++
		case h.Flags&wire.SYN != 0:
			g.tally.Handshakes.Answered++
		}
		return
	}
	if g.counting {
		g.tally.Handshakes.Segments++
	}
	switch r := g.flows.at(n); r.state {
	case waiting:
		g.answered(n, r, h, at)
	case up:
		g.more(n, r, h, at)
	case over:
		if h.Flags&wire.RST == 0 && (h.Length > 0 || h.Flags&(wire.SYN|wire.FIN) != 0) {
			g.send(&wire.Segment{From: h.To, To: h.From, Seq: h.Ack, Flags: wire.RST}, 0)
		}
	}
}

// answered is what a client makes of a segment in answer to its SYN.
func (g *generator) answered(n uint32, r *record, h *wire.Heard, at int64) {
	isn, _ := g.crowd.secrets(n)
	switch {
	case h.Ack != isn+1 || h.Flags&wire.ACK == 0:
	case h.Flags&wire.RST != 0:
		g.end(n, r, tally.Refused)
	case h.Flags&wire.SYN != 0:
		g.tally.Handshakes.Answered++
		span, ok := g.frees.released.take(g.wall(n), at)
		note(g.tally.Handshakes.Release, g.counting, span, ok)
		if g.counting {
			g.tally.Connect.Record(at - g.wall(n))
		}
		g.enter(n, r, h)
	}
}

// wall is when a handshake began, on the clock of frames.
func (g *generator) wall(n uint32) int64 { return g.epoch + g.start(n) }

// enter completes a handshake, and asks.
func (g *generator) enter(n uint32, r *record, h *wire.Heard) {
	if len(g.unused) == 0 {
		g.conns = append(g.conns, conn{})
		g.unused = append(g.unused, uint32(len(g.conns)-1))
	}
	r.state, r.conn = up, g.unused[len(g.unused)-1]
	g.unused = g.unused[:len(g.unused)-1]
	c := &g.conns[r.conn]
	*c = conn{number: n, seq: h.Ack, ack: h.Seq + 1, echo: h.Stamp, stamped: h.Stamped, since: g.now()}
	g.connected++
	if g.cfg.Request == 0 && g.cfg.Work == Short {
		g.leave(n, r, c)
		return
	}
	g.ask(n, c, g.first())
}

// first is how much a client sends with its acknowledgement of the SYN-ACK.
func (g *generator) first() int {
	if g.cfg.Work == Keep {
		return 0
	}
	return g.cfg.Request
}

// ask acknowledges what has come, with a request of a size, if any.
func (g *generator) ask(n uint32, c *conn, size int) {
	s := g.segment(c, wire.ACK)
	if size > 0 {
		s.Flags |= wire.PSH
	}
	g.send(&s, size)
	c.seq += uint32(size)
}

// segment is one of a connection.
func (g *generator) segment(c *conn, flags byte) wire.Segment {
	_, clock := g.crowd.secrets(c.number)
	return wire.Segment{
		From: g.crowd.flow(c.number), To: g.target, Seq: c.seq, Ack: c.ack, Flags: flags, Window: windowLater,
		Stamped: c.stamped, Stamp: clock + stamp(g.now()), Echo: c.echo,
	}
}

// send queues a frame that must not be lost. Its payload, if there is any, is
// a request.
func (g *generator) send(s *wire.Segment, payload int) {
	if g.counting {
		g.tally.Handshakes.Segments++
	}
	size := s.Size()
	b := g.tx.Next(size + payload)
	clear(b[size:])
	if payload >= tokenSize {
		n, _ := g.crowd.number(s.From)
		binary.BigEndian.PutUint64(b[size:], uint64(g.token(n)))
	}
	g.scribe.Write(b, s)
}

// token is what a request begins with: when it was due, on the clock that
// servers read.
func (g *generator) token(n uint32) int64 { return g.begin + g.start(n) }

const tokenSize = 8

// more is for a segment of a connection that is up.
func (g *generator) more(n uint32, r *record, h *wire.Heard, at int64) {
	c := &g.conns[r.conn]
	switch {
	case h.Flags&wire.RST != 0:
		g.end(n, r, g.broken(c))
		return
	case h.Flags&wire.SYN != 0: // it has not heard us
		if g.first() > 0 {
			c.seq = h.Ack
		}
		g.ask(n, c, g.first())
		return
	case h.Length == 0 && h.Flags&wire.FIN == 0:
		return
	case h.Seq != c.ack: // not what is next, or again
		s := g.segment(c, wire.ACK)
		g.send(&s, 0)
		return
	}
	if h.Stamped {
		c.echo = h.Stamp
	}
	if c.got == 0 && h.Length > 0 {
		span, ok := g.frees.served.take(g.wall(n), at)
		note(g.tally.Handshakes.First, g.counting, span, ok)
		if g.foreign(n, h) {
			g.abort(n, r, c, tally.Wrong)
			return
		}
	}
	c.got += h.Length
	c.ack += uint32(h.Length)
	if h.Flags&wire.FIN != 0 {
		c.ended = true
		c.ack++
	}
	g.progress(n, r, c)
}

// foreign says that a response is somebody else's.
func (g *generator) foreign(n uint32, h *wire.Heard) bool {
	return g.cfg.Request >= tokenSize && g.cfg.Response >= tokenSize && len(h.Payload) >= tokenSize &&
		binary.BigEndian.Uint64(h.Payload) != uint64(g.token(n))
}

// broken is what a reset comes to.
func (g *generator) broken(c *conn) tally.Outcome {
	if c.got > g.cfg.Response {
		return tally.Excess
	}
	return tally.Reset
}

// progress ends a connection that was served, and acknowledges else.
func (g *generator) progress(n uint32, r *record, c *conn) {
	whole := c.got >= g.cfg.Response
	switch {
	case g.cfg.Work == Hold:
	case g.cfg.Work == Keep:
		if !g.answeredAsk(n, r, c) {
			return
		}
	case c.got > g.cfg.Response:
		g.abort(n, r, c, tally.Excess)
		return
	case c.ended && !whole && c.got > 0:
		g.abort(n, r, c, tally.Truncated)
		return
	case c.ended && !whole:
		g.abort(n, r, c, tally.Empty)
		return
	case whole && (c.ended || g.cfg.End == Reset):
		g.leave(n, r, c)
		return
	}
	s := g.segment(c, wire.ACK)
	g.send(&s, 0)
}

// leave ends a connection that was served, as it is to end. Once that is on
// its way its slot is free.
func (g *generator) leave(n uint32, r *record, c *conn) {
	flags := byte(wire.RST | wire.ACK)
	if g.cfg.End == Fin {
		flags = wire.FIN | wire.ACK
	}
	s := g.segment(c, flags)
	g.send(&s, 0)
	g.leaving++
	if g.counting {
		g.tally.Latency.Record(g.now() - g.start(n))
	}
	g.end(n, r, tally.Served)
}

// abort ends a connection that went wrong.
func (g *generator) abort(n uint32, r *record, c *conn, why tally.Outcome) {
	s := g.segment(c, wire.RST|wire.ACK)
	g.send(&s, 0)
	g.leaving++
	g.end(n, r, why)
}

// end counts what became of a handshake, and has another one come.
func (g *generator) end(n uint32, r *record, what tally.Outcome) {
	if r.state == up {
		g.unused = append(g.unused, r.conn)
		g.connected--
	}
	if r.state == up && g.conns[r.conn].due != 0 {
		g.asking--
	}
	r.state = over
	g.standing--
	if g.counting || g.cfg.Work == Hold || g.cfg.Work == Keep {
		g.tally.Outcomes[what]++
	}
}
