package track

import (
	"math/rand/v2"

	"penstock/stack/tap/frame"
)

// peer is a small TCP of the tests', as RFC 9293 has it. It sends numbers without
// bytes, repeats all that is not acknowledged when it is told to, and asks back
// (RFC 5961) unless it is an old one.
type peer struct {
	rnd  *rand.Rand
	side Side
	old  bool // takes resets anywhere in the window
	send func(Segment)

	state    peerState
	iss, una uint32
	sent     uint32 // behind the last that was sent
	end      uint32 // behind the last that it has to send, without the FIN
	fin      bool   // it wants to close, behind end
	rcv      uint32 // expects this
	heard    []span // beyond it
	peerFin  bool   // the other's FIN is among what was received
	passive  bool   // that was so before it sent its own
	window   uint32 // of the other, as it said last
	own      uint32 // ours
	most     uint32 // the largest of ours
	ws, ows  int8   // shifts, ours and the other's
	accepted int    // handshakes completed
}

type span struct {
	lo, hi uint32
	fin    bool // hi includes it
}

type peerState uint8

const (
	nobody peerState = iota // knows no connection
	listening
	synSent
	synRcvd
	open
	vanished
)

// alive says whether there is a connection of which the application has not seen the end.
func (p *peer) alive() bool { return p.state == open && !(p.peerFin && p.finSent()) }

func (p *peer) finSent() bool { return p.fin && p.sent == p.end+1 }

func (p *peer) flags(s *Segment) *Segment {
	s.WS = -1
	s.Window = uint16(min(p.own>>max(p.ws, 0), 65535))
	if s.has(frame.SYN) {
		s.Window, s.WS = uint16(min(p.own, 65535)), p.ws
	}
	return s
}

func (p *peer) put(s Segment) { p.send(*p.flags(&s)) }

func (p *peer) connect() {
	p.state, p.una = synSent, p.iss
	p.sent, p.end = p.iss+1, p.iss+1
	p.put(Segment{Seq: p.iss, Flags: frame.SYN})
}

func (p *peer) ack() { p.put(Segment{Seq: p.sent, Ack: p.rcv, Flags: frame.ACK}) }

// write adds something to send.
func (p *peer) write(n uint32) {
	if !p.fin && (p.state == open || p.state == synSent) {
		p.end += n
		p.push()
	}
}

// close closes this direction.
func (p *peer) close() {
	switch p.state {
	case open:
		p.fin = true
		p.push()
	case synSent:
		p.state = nobody // in silence, as Linux does
	}
}

// abort resets.
func (p *peer) abort() {
	if p.state == open {
		p.put(Segment{Seq: p.sent, Ack: p.rcv, Flags: frame.RST | frame.ACK})
	}
	if p.state == open || p.state == synSent {
		p.drop()
	}
}

// drop forgets the connection.
func (p *peer) drop() {
	p.state = nobody
	if p.side == Server {
		p.state = listening
	}
	p.heard, p.peerFin, p.fin, p.passive = nil, false, false, false
}

// push sends what is new and fits the window.
func (p *peer) push() {
	if p.state == open {
		p.transmit(p.sent)
	}
}

// transmit sends from a number on.
func (p *peer) transmit(from uint32) {
	edge := p.una + p.window
	for after(p.end, from) && from-p.una < p.window {
		n := min(p.end-from, edge-from, 1+p.rnd.Uint32N(900))
		if p.rnd.IntN(10) == 0 {
			n = min(p.end-from, edge-from, 60000)
		}
		s := Segment{Seq: from, Ack: p.rcv, Len: n, Flags: frame.ACK}
		from += n
		if from == p.end && p.fin && p.rnd.IntN(2) == 0 {
			s.Flags |= frame.FIN
			p.finish()
		}
		p.put(s)
		if !p.finSent() && after(from, p.sent) {
			p.sent = from
		}
	}
	if from == p.end && p.fin {
		p.put(Segment{Seq: p.end, Ack: p.rcv, Flags: frame.ACK | frame.FIN})
		p.finish()
	}
}

// finish notes that the FIN is sent.
func (p *peer) finish() {
	if !p.finSent() {
		p.sent, p.passive = p.end+1, p.peerFin
	}
}

// tick is the timer of retransmissions.
func (p *peer) tick() {
	switch p.state {
	case synSent:
		p.put(Segment{Seq: p.iss, Flags: frame.SYN})
	case synRcvd:
		p.put(Segment{Seq: p.iss, Ack: p.rcv, Flags: frame.SYN | frame.ACK})
	case open:
		switch {
		case p.una != p.sent && p.una == p.end: // only the FIN
			p.put(Segment{Seq: p.end, Ack: p.rcv, Flags: frame.ACK | frame.FIN})
		case p.una != p.sent && p.window > 0:
			p.transmit(p.una)
		case after(p.end, p.una): // a closed window
			p.put(Segment{Seq: p.una, Ack: p.rcv, Len: 1, Flags: frame.ACK})
			if p.sent == p.una {
				p.sent++
			}
		default:
			p.push()
		}
	}
}

func (p *peer) receive(s Segment) {
	switch p.state {
	case vanished:
	case listening:
		if s.Flags&(frame.SYN|frame.ACK|frame.RST) == frame.SYN {
			p.answer(&s)
			return
		}
		p.stranger(&s)
	case nobody:
		p.stranger(&s)
	case synSent:
		p.expectAnswer(&s)
	default:
		p.established(&s)
	}
}

// stranger answers a segment of no connection (RFC 9293 3.10.7.1).
func (p *peer) stranger(s *Segment) {
	switch {
	case s.has(frame.RST):
	case s.has(frame.ACK):
		p.put(Segment{Seq: s.Ack, Flags: frame.RST})
	default:
		p.put(Segment{Ack: s.Seq + s.length(), Flags: frame.RST | frame.ACK})
	}
}

func (s *Segment) length() uint32 { return s.Len + uint32(s.Flags>>1&1) + uint32(s.Flags&1) }

func (p *peer) answer(s *Segment) {
	p.state = synRcvd
	p.iss = p.rnd.Uint32()
	p.rcv, p.una, p.sent, p.end = s.Seq+1, p.iss, p.iss+1, p.iss+1
	p.window = uint32(s.Window)
	p.shifts(s)
	p.put(Segment{Seq: p.iss, Ack: p.rcv, Flags: frame.SYN | frame.ACK})
}

// shifts takes the other's offer; without one nobody shifts.
func (p *peer) shifts(s *Segment) {
	if p.ows = s.WS; s.WS < 0 || p.ws < 0 {
		p.ws, p.ows = -1, -1
	}
}

func (p *peer) expectAnswer(s *Segment) {
	fits := s.has(frame.ACK) && s.Ack == p.iss+1
	switch {
	case s.has(frame.ACK) && !fits:
		p.stranger(s)
	case s.has(frame.RST):
		if fits {
			p.drop()
		}
	case s.has(frame.SYN | frame.ACK):
		p.state, p.una, p.rcv, p.window = open, s.Ack, s.Seq+1, uint32(s.Window)
		p.shifts(s)
		p.accepted++
		p.ack()
		p.push()
	}
}
