package reflect

import (
	"penstock/bench/wire"
)

// As Linux on a link of 1500 bytes.
const (
	windowFirst = 65160
	windowOurs  = 502 // 64256, scaled by 7
)

// take answers one frame.
func (r *Reflector) take(frame []byte) {
	if q, ok := wire.ReadARP(frame); ok && q.Target == r.cfg.Listen.Addr() {
		q.Reply(r.tx.Next(wire.ReplySize), r.own)
		return
	}
	h, ok := wire.Read(frame)
	if !ok {
		return
	}
	if h.Length == len(h.Payload) && !r.rx.Partial() && !wire.Sound(frame) {
		r.bad.Add(1)
		return
	}
	if h.To != r.listen {
		r.strange(&h)
		return
	}
	r.segment(&h)
}

// segment is for us.
func (r *Reflector) segment(h *wire.Heard) {
	switch {
	case h.Flags&wire.RST != 0:
		if r.over(h.From) {
			r.resets.Add(1)
		}
	case h.Flags&wire.SYN != 0:
		r.say(h, wire.Segment{Seq: h.Seq + r.secret(h.From), Ack: h.Seq + 1, Flags: wire.SYN | wire.ACK, Window: windowFirst})
	case h.Flags&wire.ACK == 0:
	case h.Length == 0 && h.Flags&wire.FIN == 0:
		r.acknowledged(h)
	default:
		r.answer(h)
	}
}

// secret is how far our first number is from a client's.
func (r *Reflector) secret(client wire.Flow) uint32 {
	const odd = 0x9e3779b97f4a7c15
	x := (uint64(client.IP)<<16 | uint64(client.Port)) * odd
	x = (x ^ x>>29) * odd
	return uint32(x >> 32)
}

// acknowledged is for a segment that has only that to say. By it we have said so
// much more than heard: what requests and responses differ by. Else its number is too
// low, by which it asks whether we are still there.
func (r *Reflector) acknowledged(h *wire.Heard) {
	more := int32(h.Ack - h.Seq - r.secret(h.From))
	gain := r.cfg.gain()
	low := (more%gain + gain) % gain
	_, up := r.up[h.From]
	switch {
	case more == 0:
		r.established(h.From)
	case low != 0 && up:
		r.say(h, wire.Segment{Seq: h.Ack, Ack: h.Seq + uint32(low), Flags: wire.ACK})
	case low != 0:
		r.strange(h)
	}
}

// answer is for payload, an end, or both.
func (r *Reflector) answer(h *wire.Heard) {
	s := wire.Segment{Seq: h.Ack, Ack: h.Seq + uint32(h.Length), Flags: wire.ACK}
	var token []byte
	if h.Length > 0 {
		r.requests.Add(1)
		r.received.Add(int64(h.Length))
		token = h.Payload[:min(len(h.Payload), tokenSize)]
	}
	if h.Flags&wire.FIN != 0 {
		s.Ack++
		s.Flags |= wire.FIN
		r.over(h.From)
	}
	size := 0
	if h.Length > 0 && r.cfg.Response > 0 {
		size = r.cfg.Response
		s.Flags |= wire.PSH
	}
	r.with(h, s, token, size)
}

// tokenSize is what of a request its response begins with.
const tokenSize = 8

// strange is for a segment of a connection that there is not: RFC 9293, 3.10.7.1.
func (r *Reflector) strange(h *wire.Heard) {
	switch {
	case h.Flags&wire.RST != 0:
	case h.Flags&wire.ACK != 0:
		r.say(h, wire.Segment{Seq: h.Ack, Flags: wire.RST})
	default:
		ack := h.Seq + uint32(h.Length)
		if h.Flags&wire.SYN != 0 {
			ack++
		}
		r.say(h, wire.Segment{Ack: ack, Flags: wire.RST | wire.ACK})
	}
}

// say queues a segment in answer to what was heard.
func (r *Reflector) say(h *wire.Heard, s wire.Segment) { r.with(h, s, nil, 0) }

// with is say with a payload of a size, that begins with a token.
func (r *Reflector) with(h *wire.Heard, s wire.Segment, token []byte, size int) {
	s.From, s.To = h.To, h.From
	if s.Window == 0 && s.Flags&wire.RST == 0 {
		s.Window = windowOurs
	}
	if s.Flags&wire.RST == 0 {
		s.Stamped, s.Stamp, s.Echo = h.Stamped, r.stamp(), h.Stamp
	}
	if h.Sender != r.asker {
		r.asker, r.scribe = h.Sender, *wire.NewScribe(r.own, h.Sender)
	}
	head := s.Size()
	b := r.tx.Next(head + size)
	clear(b[head:])
	copy(b[head:], token)
	r.sent.Add(int64(size))
	r.scribe.Write(b, &s)
}
