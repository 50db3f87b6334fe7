package proxy

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"penstock/stack/proxyheader"
	"penstock/stack/relay"
	"penstock/stack/sys"
)

// greet begins the session of a client that has to bring a PROXY header. Most
// are there already when the connection is: those cost one call more.
func (w *worker) greet(i uint32, c *client, v *Virtual, now int64) {
	if !v.trusts(c.peer.AddrPort().Addr()) {
		w.noHeader(i, c, "proxy", now)
		return
	}
	switch w.readHeader(i, c) {
	case nil:
		w.arrive(i, c, now)
	case proxyheader.ErrShort:
		w.awaitHeader(i, c, v, now)
	default:
		w.noHeader(i, c, "proxy", now)
	}
}

// awaitHeader waits for the rest of the header.
func (w *worker) awaitHeader(i uint32, c *client, v *Virtual, now int64) {
	c.state = heading
	w.clientOptions(c)
	c.pair = w.pairs.Alloc()
	*w.pairs.At(c.pair) = pair{client: i, server: relay.Side{FD: -1}, granted: now}
	if !w.watchClient(i, c) {
		w.noHeader(i, c, "proxy", now)
		return
	}
	if v.ProxyHeaderTimeout > 0 {
		w.loop.StartTimer(c.pair, now+int64(v.ProxyHeaderTimeout))
	}
}

// headingReady looks whether the header is whole. The client may have closed
// its side behind it, like any client.
func (w *worker) headingReady(i uint32, c *client, r sys.Ready, now int64) {
	if w.failed(c, r) != 0 {
		w.noHeader(i, c, "client", now)
		return
	}
	if r&sys.Unsure != 0 {
		c.side.Ready |= w.clientPoll(c) // it may hide a FIN
	}
	switch w.readHeader(i, c) {
	case nil:
		w.dropPair(c, w.pairs.At(c.pair))
		w.arrive(i, c, now)
		if c.state == parked {
			w.parkedReady(i, c, c.side.Ready, now)
		}
	case proxyheader.ErrShort:
		if c.side.Ready&sys.Fin != 0 {
			w.noHeader(i, c, "client", now)
		}
	default:
		w.noHeader(i, c, "proxy", now)
	}
}

// readHeader takes the header, and not a byte more, off the client's stream.
// Until it is whole it is only looked at. From then on its addresses are the
// session's, unless it has none.
func (w *worker) readHeader(i uint32, c *client) error {
	n, e := w.clientPeek(c, w.waste)
	switch {
	case e == unix.EAGAIN:
		return proxyheader.ErrShort
	case e != 0:
		return e
	case n == 0:
		return proxyheader.ErrSignature // it closed
	}
	h, n, err := proxyheader.Parse(w.waste[:n])
	if err != nil {
		return err
	}
	if got, e := w.clientRecv(c, w.waste[:n]); e != 0 || got != n {
		return proxyheader.ErrLength // urgent data in it
	}
	if !h.Local {
		c.peer = sys.PeerOf(h.Source)
		w.setTarget(i, h.Destination)
	}
	return nil
}

// setTarget keeps what a client connected to, as its proxy says. There is no
// room for it in the record of everybody.
func (w *worker) setTarget(i uint32, to netip.AddrPort) {
	if w.targets == nil {
		w.targets = map[uint32]sys.Peer{}
	}
	w.targets[i] = sys.PeerOf(to)
}

// noHeader ends the session of a client that brought no PROXY header.
func (w *worker) noHeader(i uint32, c *client, closer string, now int64) {
	w.stats.virtuals[c.virtual].BadHeaders.Add(1)
	w.end(i, c, NoHeader, closer, now)
}

// announce has a server that was just connected told who the client is, before
// anything else. The header and what follows it go out at once.
func (w *worker) announce(i uint32, c *client, p *pair, v proxyheader.Version) {
	to, told := w.targets[i]
	if !told {
		to = w.clientLocal(c)
	}
	b := w.waste[:0]
	switch v {
	case proxyheader.V1:
		b = proxyheader.AppendV1(b, c.peer.AddrPort(), to.AddrPort())
	case proxyheader.V2:
		b = proxyheader.AppendV2(b, c.peer.AddrPort(), to.AddrPort(), waited(c, p))
	}
	sys.NoDelay(int(p.server.FD))
	p.server.Nagle = false
	w.relay.Preload(&p.up, b)
}
