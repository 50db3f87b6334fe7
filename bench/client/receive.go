package client

import (
	"penstock/bench/sock"
	"penstock/bench/tally"
)

const (
	// discardMost is how much is received at once where nobody looks at it.
	// Nothing is copied, so it may be more than any receive buffer holds.
	discardMost = 64 << 20

	// sips is how many times a second a slow reader receives.
	sips = 50
)

// receive takes what came. Less than could be received is all that came; if
// then the peer's end is there too, it needs no asking for.
func (l *loop) receive(i int, events uint32) {
	if l.cfg.ReadRate > 0 {
		l.sip(i)
		return
	}
	f := &l.flows[i]
	for {
		n, most, err := l.draw(f)
		if err != nil || n == 0 {
			l.dry(i, err)
			return
		}
		if !l.received(i, n) || !f.hears() {
			return
		}
		if n < most && events&sock.Broken == 0 {
			if events&sock.Ended != 0 {
				l.closed(i)
			}
			return
		}
	}
}

// hears says that the flow is in a state in which something may come.
func (f *flow) hears() bool {
	return f.state == waiting || f.state == receiving || f.state == ending || f.state == streaming
}

// draw receives up to most bytes: with a copy those that bear the token.
func (l *loop) draw(f *flow) (n, most int, err error) {
	at := l.cfg.Response - f.left
	if f.state == streaming || at >= tokenSize || !l.cfg.answered() {
		most = discardMost
		if l.cfg.ReadRate > 0 {
			most = l.sipMost
		}
		n, err = sock.Discard(int(f.fd), most)
		return n, most, err
	}
	most = len(l.bytes)
	if l.cfg.ReadRate > 0 {
		most = min(most, l.sipMost)
	}
	n, err = sock.Receive(int(f.fd), l.bytes[:most])
	for _, b := range l.bytes[:min(n, tokenSize-at)] {
		f.echo = f.echo<<8 | uint64(b)
	}
	return n, most, err
}

// sip receives as much as a slow reader may, and sets the time for the next.
// When nothing is there the next event comes at any time.
func (l *loop) sip(i int) {
	f := &l.flows[i]
	now := l.now()
	if now < f.sip {
		return // its deadline comes
	}
	n, _, err := l.draw(f)
	if err != nil || n == 0 {
		l.dry(i, err)
		return
	}
	pause := int64(float64(n) * 1e9 / float64(l.cfg.ReadRate))
	f.sip = max(f.sip, now-1e9/sips) + pause
	if l.received(i, n) && f.hears() && f.state != waiting {
		l.wake.Set(i, f.sip)
	}
}

// dry handles a receive that brought nothing.
func (l *loop) dry(i int, err error) {
	switch err {
	case sock.ErrAgain:
	case nil:
		l.closed(i)
	default:
		l.lose(i, err)
	}
}

// received counts n bytes of the response. It says false if the connection is
// over.
func (l *loop) received(i, n int) bool {
	f := &l.flows[i]
	if l.counts(f) {
		l.tally.Received += uint64(n)
	}
	switch f.state {
	case streaming:
		f.left = 1 // something came
		return true
	case waiting:
		f.state = receiving
		l.wake.Clear(i)
	}
	if n > f.left {
		l.end(i, tally.Excess)
		return false
	}
	if f.left -= n; f.left > 0 {
		return true
	}
	return l.whole(i)
}

// whole handles a response that is all there. It says false if the connection
// is over.
func (l *loop) whole(i int) bool {
	f := &l.flows[i]
	switch {
	case l.cfg.answered() && f.echo != uint64(f.since):
		l.end(i, tally.Wrong)
		return false
	case l.cfg.Work == Keep:
		return l.answered(i)
	case l.cfg.Work == Hold:
		f.state = holding
	default:
		f.state = ending
	}
	return true
}

// answered goes on with a kept connection after a response. It says false if
// that was the last.
func (l *loop) answered(i int) bool {
	f := &l.flows[i]
	l.served(f)
	f.asked++
	if l.cfg.Requests > 0 && f.asked == l.cfg.Requests {
		l.hangUp(i)
		l.again(i, l.now())
		return false
	}
	if !l.more() {
		l.hangUp(i)
		l.retire(f)
		return false
	}
	if l.cfg.Think.Zero() {
		l.another(i)
		return f.state != idle
	}
	f.state = thinking
	l.wake.Set(i, l.now()+l.cfg.Think.Next(l.random))
	return true
}

// closed handles a clean end.
func (l *loop) closed(i int) {
	f := &l.flows[i]
	switch {
	case f.state == ending:
		l.served(f)
		l.hangUp(i)
		l.again(i, l.now())
	case f.state == receiving, f.state == streaming && f.left > 0:
		l.end(i, tally.Truncated)
	default:
		l.end(i, tally.Empty)
	}
}

// disturbed handles a connection on which nothing should come now.
func (l *loop) disturbed(i int) {
	f := &l.flows[i]
	n, err := sock.Discard(int(f.fd), discardMost)
	if err == nil && n > 0 {
		l.end(i, tally.Excess)
		return
	}
	l.dry(i, err)
}

// push sends without end, until the socket takes no more or others should have
// their turn.
func (l *loop) push(i int) {
	f := &l.flows[i]
	for sent := 0; sent < turn; {
		n, err := sock.Send(int(f.fd), l.blob[tokenSize:])
		if err == sock.ErrAgain {
			return
		}
		if err != nil {
			l.lose(i, err)
			return
		}
		sent += n
		f.left = 1 // something went
		if l.counts(f) {
			l.tally.Sent += uint64(n)
		}
	}
	if err := l.poll.Again(int(f.fd), i); err != nil {
		l.lose(i, err)
	}
}
