package track

import "penstock/stack/tap/frame"

// established handles a segment of what is, or is about to be, a connection (RFC 9293
// 3.10.7.4).
func (p *peer) established(s *Segment) {
	if p.state == synRcvd && s.has(frame.SYN) && !s.has(frame.ACK) && s.Seq == p.rcv-1 {
		p.put(Segment{Seq: p.iss, Ack: p.rcv, Flags: frame.SYN | frame.ACK})
		return
	}
	if s.has(frame.RST) {
		p.resetBy(s)
		return
	}
	if !p.acceptable(s) || s.has(frame.SYN) {
		p.ack()
		return
	}
	if !s.has(frame.ACK) {
		return
	}
	if p.state == synRcvd {
		if s.Ack != p.iss+1 {
			p.put(Segment{Seq: s.Ack, Flags: frame.RST})
			return
		}
		p.state = open
		p.accepted++
	}
	if after(s.Ack, p.sent) {
		p.ack()
		return
	}
	if !after(p.una, s.Ack) {
		p.una = s.Ack
		p.window = uint32(s.Window) << max(p.ows, 0)
	}
	if s.length() > 0 {
		p.take(span{s.Seq, s.Seq + s.length(), s.has(frame.FIN)})
		p.ack()
	}
	p.settle()
	p.push()
}

func (p *peer) acceptable(s *Segment) bool {
	n := s.length()
	in := func(x uint32) bool { return x-p.rcv < max(p.own, 1) }
	if n == 0 {
		return in(s.Seq)
	}
	return in(s.Seq) || in(s.Seq+n-1)
}

func (p *peer) resetBy(s *Segment) {
	switch {
	case s.Seq == p.rcv, p.old && s.Seq-p.rcv < p.own:
		p.drop()
	case s.Seq-p.rcv < p.own:
		p.ack()
	}
}

// take receives numbers in any order.
func (p *peer) take(x span) {
	p.heard = append(p.heard, x)
	for again := true; again; {
		again = false
		kept := p.heard[:0]
		for _, h := range p.heard {
			switch {
			case !after(h.hi, p.rcv): // known
			case after(h.lo, p.rcv):
				kept = append(kept, h)
			default:
				p.rcv, again = h.hi, true
				if h.fin {
					p.peerFin = true
				}
			}
		}
		p.heard = kept
	}
}

// settle forgets a connection that ended in order, if the other closed first; who did
// so itself would remember it a while, and does here until the end.
func (p *peer) settle() {
	if p.passive && p.finSent() && p.una == p.sent && p.side == Server {
		p.drop()
	}
}
