package proxy

import (
	"penstock/stack/relay"
	"penstock/stack/sys"
	"penstock/stack/tap/term"
)

// A client's side is a kernel socket, or one of the connections of the loop's
// TAP port. What follows is what sessions do with either.

// none is the side of a client that has no connection, or has none any more.
const none = -1

// clientError returns the error by which the client's connection broke off; 0
// if it did not.
func (w *worker) clientError(c *client) sys.Errno {
	if conn, ok := c.side.End(); ok {
		return w.tap.Conns().Error(conn)
	}
	return sys.Error(int(c.side.FD))
}

// clientPeek reads without taking anything out.
func (w *worker) clientPeek(c *client, b []byte) (int, sys.Errno) {
	if conn, ok := c.side.End(); ok {
		return w.tap.Conns().Peek(conn, b)
	}
	return sys.Peek(int(c.side.FD), b)
}

func (w *worker) clientRecv(c *client, b []byte) (int, sys.Errno) {
	if conn, ok := c.side.End(); ok {
		return w.tap.Conns().Recv(conn, b)
	}
	return sys.Recv(int(c.side.FD), b)
}

// clientPoll asks what the client's side is ready for at this moment.
func (w *worker) clientPoll(c *client) sys.Ready {
	if conn, ok := c.side.End(); ok {
		return w.tap.Conns().Poll(conn)
	}
	return sys.Poll(int(c.side.FD))
}

// clientUnacked says whether the client has not acknowledged all that was sent.
func (w *worker) clientUnacked(c *client) bool {
	if conn, ok := c.side.End(); ok {
		return w.tap.Conns().Unacked(conn)
	}
	return sys.Unacked(int(c.side.FD)) > 0
}

// clientLocal returns the address that the client connected to.
func (w *worker) clientLocal(c *client) sys.Peer {
	if conn, ok := c.side.End(); ok {
		return w.tap.Conns().Local(conn)
	}
	return sys.Local(int(c.side.FD))
}

// clientFin says that nothing more is sent to the client, behind a last word.
func (w *worker) clientFin(c *client, last []byte) {
	conn, ok := c.side.End()
	if !ok {
		if len(last) > 0 {
			sys.Send(int(c.side.FD), last)
		}
		sys.ShutdownWrite(int(c.side.FD))
		return
	}
	if len(last) > 0 {
		w.tap.Conns().Send(conn, last)
	}
	w.tap.Conns().ShutdownWrite(conn)
}

// clientOptions has a client that may be there for long be asked whether it is. A
// kernel socket has that from its listener; for a short connection it is not
// worth the time.
func (w *worker) clientOptions(c *client) {
	if conn, ok := c.side.End(); ok {
		o := &w.p.virtuals[c.virtual].Options
		w.tap.Conns().SetOptions(conn, term.Options{KeepAlive: o.Keepalive, UserTimeout: o.UserTimeout})
	}
}

// closeClient gives the client's connection up, if it has one: with FIN, or
// with RST.
func (w *worker) closeClient(c *client, clean bool, now int64) {
	conn, ok := c.side.End()
	switch {
	case c.side.FD == none:
	case ok:
		w.conns[conn] = 0
		w.tap.Hangup(conn, clean, now)
	case clean:
		w.loop.Close(int(c.side.FD))
	default:
		w.loop.Reset(int(c.side.FD))
	}
	c.side = relay.Side{FD: none}
}
