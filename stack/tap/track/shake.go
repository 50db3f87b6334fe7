package track

import "penstock/stack/tap/frame"

// The handshake. Until it is completed only that is passed on which belongs to it:
// what the client does with anything else, and the server, need not be known then.

// syn handles a SYN of the client's.
//
// The same one again is passed on, and the server answers it as before. With another
// number it is passed on as well, once the server has answered: that one asks back
// whether its connection is still there (RFC 5961 4), and the client, if it really
// has begun anew, resets it. Before, or where nothing is left, it could make a
// connection that nobody counts.
func (c *Conn) syn(s *Segment) (drop bool) {
	switch c.state {
	case Opening:
		if s.Flags&frame.ACK != 0 || s.Seq != c.acked[Server] {
			return true
		}
		c.window[Client] = max(c.window[Client], s.Window)
		return false
	case Established, Closing:
		if lo := c.acked[Server] - c.span(Server) - slack; !within(s.Seq, lo, c.next[Client]) {
			c.mark(renewed)
		}
		return s.Flags&frame.ACK != 0
	case Answered:
		return s.Flags&frame.ACK != 0
	}
	return true
}

// early handles what is neither SYN nor reset before the server has answered. From
// the client it is nothing that a client would send. A server that acknowledges
// what was never sent remembers another connection (RFC 9293 3.5.2, figure 9).
func (c *Conn) early(from Side, s *Segment) (e Event, drop bool) {
	if from == Server && s.has(frame.ACK) && !c.acksSyn(s) {
		return Stale, true
	}
	return None, true
}

// StaleReset is the reset for a segment that was Stale.
func StaleReset(s *Segment) (seq uint32, flags uint8) { return s.Ack, frame.RST }

// acksSyn says whether a segment of the server's acknowledges the client's SYN, and
// nothing that was not sent. Blindly nobody can: the number is the client's.
func (c *Conn) acksSyn(s *Segment) bool {
	lo := c.acked[Server]
	if !c.is(answered) {
		lo++
	}
	return s.has(frame.ACK) && within(s.Ack, lo, c.next[Client])
}

// synAck handles a SYN of the server's.
func (c *Conn) synAck(s *Segment) (e Event, drop bool) {
	if !s.has(frame.ACK) {
		return None, true
	}
	switch c.state {
	case Opening:
		if !c.acksSyn(s) {
			return Stale, true
		}
		c.answer(s)
		c.state = Answered
		return Replied, false
	case Answered:
		if !c.acksSyn(s) {
			return None, true
		}
		c.again(s)
		return None, false
	case Established, Closing:
		return c.lateSynAck(s)
	case Resetting:
		return None, c.lateAnswer(s)
	}
	return None, true
}

// answer takes the first SYN-ACK.
func (c *Conn) answer(s *Segment) {
	c.mark(answered)
	c.acked[Server]++ // its SYN, at the least
	c.acked[Client] = s.Seq + 1
	c.next[Server] = s.Seq + 1 + s.Len
	if s.Len > 0 {
		c.mark(said)
	}
	c.scale(s)
}

// scale takes the window of a SYN-ACK, which is not shifted, and has those that
// follow be shifted if both have offered to (RFC 7323 2.2).
func (c *Conn) scale(s *Segment) {
	if s.WS >= 0 && c.shifts&15 != notOffered {
		n := max(c.shifts>>4, uint8(min(s.WS, mostShift))) // of several the largest
		c.shifts = c.shifts&15 | n<<4
		if !c.is(scaled) {
			c.mark(scaled)
			c.window[Client] = c.unscaled(Client, c.window[Client])
			c.window[Server] = c.unscaled(Server, c.window[Server])
		}
	}
	c.window[Server] = max(c.window[Server], c.unscaled(Server, s.Window))
}

// unscaled is a window that was not shifted, as if it had been.
func (c *Conn) unscaled(of Side, window uint16) uint16 {
	n := c.shift(of)
	return uint16((uint32(window) + 1<<n - 1) >> n)
}

// again takes another SYN-ACK. Only the client knows which of several it has got;
// two are remembered.
func (c *Conn) again(s *Segment) {
	c.scale(s)
	n := s.Seq + 1
	if n == c.acked[Client] || c.is(twin) && n == c.next[Server] {
		return
	}
	if c.is(twin) {
		c.acked[Client] = c.next[Server]
	}
	c.mark(twin)
	c.next[Server] = n
}

// completes says whether a segment of the client's acknowledges the SYN-ACK, so that
// the server takes it for connected: an ACK, data, or a FIN, whichever comes first.
func (c *Conn) completes(s *Segment) bool {
	lo := c.acked[Server]
	if !s.has(frame.ACK) || !within(s.Seq, lo, lo+c.span(Server)) {
		return false
	}
	if c.is(twin) {
		return s.Ack == c.acked[Client] || s.Ack == c.next[Server]
	}
	return within(s.Ack, c.acked[Client], c.next[Server])
}

// fitsHandshake says whether a segment may pass while the handshake is not completed.
// The client would reset what does not acknowledge its SYN.
func (c *Conn) fitsHandshake(from Side, s *Segment) bool {
	if from == Server {
		return c.acksSyn(s)
	}
	if !c.completes(s) {
		return false
	}
	c.settle(s)
	return true
}

// settle notes which of several SYN-ACKs it is that a segment completes.
func (c *Conn) settle(s *Segment) {
	if c.is(twin) {
		c.unmark(twin)
		c.acked[Client], c.next[Server] = s.Ack, s.Ack
	}
}

// lateSynAck handles one where there is a connection. One that is repeated is passed
// on, and the client acknowledges it again. If it is for another SYN, and there was
// one, the server may not know the connection any more: it has begun again, and the
// client too.
func (c *Conn) lateSynAck(s *Segment) (e Event, drop bool) {
	if c.acks(Server, s) {
		return None, false
	}
	if !c.is(renewed) {
		return None, true
	}
	c.unmark(renewed)
	c.abort(Server, false)
	return Aborting, true
}

// lateAnswer handles a SYN-ACK in Resetting. The client, if it is gone, resets it.
func (c *Conn) lateAnswer(s *Segment) (drop bool) {
	switch {
	case c.is(completed):
		drop = !c.acks(Server, s)
	case !c.acksSyn(s):
		drop = true
	case !c.is(answered):
		c.answer(s)
	default:
		c.again(s)
	}
	return drop || c.forced()
}
