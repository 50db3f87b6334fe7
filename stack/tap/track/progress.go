package track

import "penstock/stack/tap/frame"

// slack is how far below a window old numbers are still normal (as conntrack's
// MAXACKWINCONST): a window may be small, and segments are up to 64 KiB.
const slack = 1 << 16

// acks says whether a side's acknowledgement is plausible: of what was sent, and not
// older than a window (RFC 5961 5.2).
func (c *Conn) acks(from Side, s *Segment) bool {
	return s.has(frame.ACK) && within(s.Ack, c.acked[from]-c.span(from)-slack, c.next[1-from])
}

// counts says whether a segment is of the connection: it begins in the window that
// the other side has offered, or repeats something not too old. Where it ends does
// not matter: a probe of a full window lies one byte beyond it, and so begins what
// follows it; and a TSO segment may overshoot a window that was reordered before us.
func (c *Conn) counts(from Side, s *Segment) bool {
	edge, span := c.acked[1-from], c.span(1-from)
	ahead := max(span, c.next[from]-edge)
	return within(s.Seq, edge-span-slack, edge+ahead) && c.acks(from, s)
}

// progress takes note of a segment that is neither SYN nor reset, once the server has
// answered. From a client that has not completed the handshake yet it must be one
// that does.
func (c *Conn) progress(from Side, s *Segment) (e Event) {
	if !c.counts(from, s) || from == Server && c.is(twin) && !c.is(completed) {
		return None
	}
	if from == Client && !c.is(completed) {
		c.mark(completed)
		e = Completed
	}
	if c.sent(from, s) && e == None {
		e = Finishing
	}
	if after(s.Ack, c.acked[from]) {
		c.acked[from] = s.Ack
	}
	c.window[from] = max(c.window[from], s.Window)
	if c.final(Client) && c.final(Server) {
		c.state = Closed
		return Ended
	}
	if c.state != Resetting {
		c.state = c.former()
	}
	return e
}

// sent takes note of the numbers that a segment uses, and says whether it has the
// first FIN of all.
//
// A FIN counts only if nothing behind it, or in its place, was seen, and as long as
// nothing is: no sender goes on after its FIN, so one of the two was not the sender's.
// Once it is acknowledged nothing behind it can count.
func (c *Conn) sent(from Side, s *Segment) (first bool) {
	end := s.Seq + s.Len
	if s.Len > 0 {
		c.mark(said)
	}
	if c.final(from) {
		return false
	}
	if s.Flags&frame.FIN != 0 {
		end++
	}
	beyond := after(end, c.next[from])
	switch {
	case !beyond && end != c.next[from]:
		return false
	case s.Flags&frame.FIN != 0:
		if !beyond && c.of(from, paid) {
			return false
		}
		first = c.finish(from)
	case s.Len > 0:
		c.unmarkOf(from, atEnd)
		c.markOf(from, paid)
	case beyond: // what is in front of it was lost before us
		c.unmarkOf(from, atEnd|paid)
	}
	c.next[from] = end
	return first
}

// finish notes that a side has sent a FIN, and nothing behind it.
func (c *Conn) finish(from Side) (first bool) {
	_, other := c.FirstFin()
	if !other && from == Server {
		c.mark(serverFirst)
	}
	c.unmarkOf(from, paid)
	c.markOf(from, finished|atEnd)
	return !other
}

// final says whether a side's FIN has been acknowledged.
func (c *Conn) final(s Side) bool {
	return c.of(s, atEnd) && c.acked[1-s] == c.next[s]
}

// former is the state without any reset.
func (c *Conn) former() State {
	_, fin := c.FirstFin()
	switch {
	case !c.is(answered):
		return Opening
	case !c.is(completed):
		return Answered
	case fin:
		return Closing
	}
	return Established
}

// Again says that a SYN of the client's begins a new connection where this one is
// over: its number is behind all of the old ones (RFC 9293 3.6.1). One that isn't may be an old
// duplicate.
func (c *Conn) Again(syn *Segment) bool {
	return (c.state == Closed || c.state == Reset) && int32(syn.Seq-c.next[Client]) >= 0
}

// Within says whether a side can have sent this number lately: it is in flight, so an
// ICMP error may be about it (RFC 5927 4.1).
func (c *Conn) Within(of Side, seq uint32) bool {
	lo, hi := c.acked[1-of], c.next[of]
	switch {
	case of == Client || c.is(completed):
		return within(seq, lo, hi)
	case !c.is(answered):
		return false
	case c.is(twin):
		return within(seq, lo-1, lo) || within(seq, hi-1, hi)
	}
	return within(seq, lo-1, hi) // the SYN-ACK's too
}

// Finished says that a side has sent its FIN, as far as is believed.
func (c *Conn) Finished(s Side) bool { return c.of(s, finished) }
