package track

import "penstock/stack/tap/frame"

// Resets. What counts is whether the one it is for takes it. A host that follows RFC
// 5961 does so only if the number is the one it expects; otherwise it asks back. Older
// ones take any number in the window. A host sends one with what the other expects, by
// its last acknowledgement, or with what it would send next. So these two are
// believed. What lies between them, or behind in the window, is doubtful, and the
// server is asked: in flight there may be megabytes, for which a stranger need not
// guess long.
//
// A server that says it has reset the connection has no longer got it. A client may
// say so, but its segment may be lost behind us, or a stranger's.

// reset handles a segment with RST.
func (c *Conn) reset(from Side, s *Segment) (e Event, drop bool) {
	if c.state == Closed || c.state == Reset {
		return None, false
	}
	if from == Client {
		return c.clientReset(s)
	}
	switch fits := c.fits(Server, s); {
	case c.state == Opening && fits == exact:
		c.state = Reset
		return Refused, true
	case c.state == Opening:
		return None, true
	case c.state == Resetting && fits == exact:
		c.state = Reset
		return Confirmed, false
	case c.state == Resetting:
		return None, false
	case fits == exact:
		c.state = Reset
		return Broken, false
	case fits == inWindow:
		c.abort(Server, false)
		return Aborting, false
	}
	return None, false
}

func (c *Conn) clientReset(s *Segment) (e Event, drop bool) {
	fits := c.fits(Client, s)
	switch {
	case fits == outside:
		return None, c.state == Opening
	case c.state != Resetting:
		c.abort(Client, fits == exact)
		return Aborting, false
	case fits == exact && c.is(unsure):
		c.abort(Client, true)
	}
	return None, false
}

// abort goes to Resetting.
func (c *Conn) abort(by Side, sure bool) {
	c.unmark(unsure | byServer | heard<<Client | heard<<Server)
	if by == Server {
		c.mark(byServer)
	}
	if !sure {
		c.mark(unsure)
	}
	c.state = Resetting
}

// ForceReset is for when the proxy ends the connection: nothing is passed on any more
// but resets, and the server has to confirm.
func (c *Conn) ForceReset() {
	if c.state == Closed || c.state == Reset {
		return
	}
	c.abort(Client, true)
	c.mark(byServer)
}

// forced says that it is the proxy that ends it.
func (c *Conn) forced() bool { return c.state == Resetting && c.marks&(unsure|byServer) == byServer }

// Sure says, in Resetting, that the server had to take the reset. If not, resetting
// it again could end what goes on; only ask.
func (c *Conn) Sure() bool { return !c.is(unsure) }

// Resetter is who sent what led to Resetting.
func (c *Conn) Resetter() Side {
	if c.is(unsure) && c.is(byServer) {
		return Server
	}
	return Client
}

// fit is how a reset's number fits.
type fit uint8

const (
	outside fit = iota
	inWindow
	exact
)

// fits says how the number of a reset from a side fits what the other expects.
func (c *Conn) fits(from Side, s *Segment) fit {
	lo, hi := c.acked[1-from], c.next[from]
	switch {
	case from == Server && !c.is(completed):
		return c.fitsShake(s)
	case s.Seq == lo, s.Seq == hi:
		return exact
	case from == Client && !c.is(completed) && c.is(answered) && s.Seq == lo-1:
		return exact // who gave the SYN up may have counted it or not
	}
	return c.fitsWindow(from, s)
}

// Outside says that the number of a reset from a side is not even in the window.
func (c *Conn) Outside(from Side, s *Segment) bool { return c.fits(from, s) == outside }

func (c *Conn) fitsWindow(from Side, s *Segment) fit {
	lo := c.acked[1-from]
	if within(s.Seq, lo, c.next[from]) || within(s.Seq, lo, lo+c.span(1-from)) {
		return inWindow
	}
	return outside
}

// fitsShake is for a server's reset while the client may still wait for the SYN-ACK:
// then it must acknowledge the SYN (RFC 9293 3.10.7.3). Otherwise its number must be
// the one the client expects, or the one that ProbeServer has made it repeat.
func (c *Conn) fitsShake(s *Segment) fit {
	switch {
	case c.acksSyn(s):
		return exact
	case c.state == Opening:
		return outside
	case s.Seq == c.acked[Client], c.is(answered) && s.Seq == c.next[Server]:
		return exact
	case c.is(twin) || !c.is(answered):
		return outside
	}
	return c.fitsWindow(Server, s)
}

// afterReset takes note of what is said in Resetting. Who goes on behind what was
// reset, was not. A doubtful reset is refuted by any news of the client's, and by any
// sign of life of the server's: it would not have given one had it taken it.
//
// After a reset that fits, segments that it overtook are no sign of life, and the
// server may be alive: the reset was lost.
func (c *Conn) afterReset(from Side, s *Segment) Event {
	if !c.is(answered) {
		return None
	}
	if from == Client && !c.is(completed) {
		if !c.completes(s) || c.forced() || !c.refutes(from, s) {
			return None
		}
		c.settle(s)
	}
	if !c.counts(from, s) {
		return None
	}
	if c.forced() || !c.refutes(from, s) {
		c.markOf(from, heard)
		if c.progress(from, s) == Ended {
			return Ended
		}
		return None
	}
	c.unmark(unsure | byServer | heard<<Client | heard<<Server)
	c.state = c.former()
	if e := c.progress(from, s); e == Completed || e == Ended {
		return e
	}
	return Revived
}

// strange says whether a server that is to be reset speaks of something else than
// what passed here: it was taken in by a stranger, or has begun another connection.
// It takes a reset only with that number.
func (c *Conn) strange(s *Segment) bool {
	return c.state == Resetting && !c.is(unsure) && c.is(completed) && s.has(frame.ACK) && !c.counts(Server, s)
}

// refutes says whether a segment shows that its sender, and so the connection, lives.
// One that completes the handshake is news.
func (c *Conn) refutes(from Side, s *Segment) bool {
	if from == Client && after(s.Seq+s.Len, c.next[Client]) {
		return true
	}
	if !c.is(unsure) {
		return false
	}
	return from == Server || !c.is(completed) || after(s.Ack, c.acked[Client])
}

// ResetFor is the reset that a side takes, as if it came from the other. What that
// has sent may be lost; in that case the reset is in the window, and a host that asks
// back tells what it expects. So once it was heard of, that is the number.
func (c *Conn) ResetFor(to Side) (seq, ack uint32, flags uint8) {
	seq, ack = c.next[1-to], c.next[to]
	switch {
	case to == Client && !c.is(answered):
		seq = 0
	case (c.state == Resetting || c.state == Reset) && c.of(to, heard):
		seq = c.acked[to]
	}
	if to == Server {
		return seq, 0, frame.RST
	}
	// A client that has not got the SYN-ACK yet looks at the acknowledgement.
	return seq, ack, frame.RST | frame.ACK
}

// ProbeServer is an acknowledgement that is too old, as of a keep-alive probe: a
// server that has the connection has to answer it with an ACK (RFC 9293 3.10.7.4),
// one that hasn't with a reset that Segment understands.
//
// A probe's number would be the one below what is expected. But where a server
// answers with cookies of Linux, the client's number is part of them, so that what is
// just below may be a cookie too, of a smaller MSS: it would make a connection.
func (c *Conn) ProbeServer() (seq, ack uint32) {
	return c.acked[Server] - probeBelow, c.acked[Client]
}

// probeBelow is by how much a probe's number is too old.
const probeBelow = 1024
