package server

import "penstock/bench/sock"

// push sends what is owed. It says whether the connection can go on: not if it
// has to wait or is over.
func (l *loop) push(fd int, c *conn) bool {
	for pushed := 0; c.owed > 0; {
		b := l.next(c)
		if len(b) == 0 {
			l.cut(fd)
			return false
		}
		n, err := sock.Send(fd, b)
		if err == sock.ErrAgain {
			return false
		}
		if err != nil {
			l.lose(fd)
			return false
		}
		l.sent += int64(n)
		if !l.pay(fd, c, n) {
			return false
		}
		if pushed += n; pushed >= turn && c.owed > 0 {
			l.poll.Again(fd, fd) // not registered yet? Add does the same
			return false
		}
	}
	if l.server.cfg.Then == Close || c.ended {
		l.hangUp(fd)
	}
	return c.state == opened
}

// next is what to send next: a part of one response, which begins with its
// token. It is empty if a reset is due.
func (l *loop) next(c *conn) []byte {
	n := min(l.responseSize()-c.sent, sendMost)
	if l.mode == Resetting {
		n = max(min(n, l.server.cfg.ResetAfter-c.sent), 0)
	}
	if c.sent >= tokenSize || l.responseSize() < tokenSize {
		return l.response[tokenSize:][:n]
	}
	copy(l.response, c.echo[:])
	return l.response[c.sent:][:n]
}

// responseSize is without an end for streams.
func (l *loop) responseSize() int {
	if then := l.server.cfg.Then; then == Stream || then == Both {
		return forever
	}
	return l.server.cfg.Response
}

// pay counts what was sent of a response, and resets the connection behind the
// last byte that it gets. It says whether the connection goes on.
func (l *loop) pay(fd int, c *conn, n int) bool {
	c.owed -= n
	c.sent += n
	if l.mode == Resetting && c.sent >= l.server.cfg.ResetAfter {
		l.cut(fd)
		return false
	}
	if c.sent == l.responseSize() {
		c.sent = 0
	}
	return true
}

// exchange sends and receives at once, a turn each.
func (l *loop) exchange(fd int, c *conn, more bool, events uint32) {
	if c.owed > 0 {
		l.push(fd, c)
	}
	for drawn := 0; more && c.state == opened; {
		n, err := sock.Discard(fd, discardMost)
		switch {
		case err == sock.ErrAgain:
			return
		case err != nil:
			l.lose(fd)
			return
		case n == 0:
			l.end(fd, c, events)
			return
		}
		l.received += int64(n)
		if drawn += n; drawn >= turn {
			l.poll.Again(fd, fd)
			return
		}
	}
}

// end is the client's end. A response that is due is still sent, unless a reset
// has followed the end: the kernel tells of the end only.
func (l *loop) end(fd int, c *conn, events uint32) {
	if events&sock.Broken != 0 {
		l.lose(fd)
		return
	}
	if c.ended = true; c.asked > 0 || c.owed > 0 {
		return
	}
	l.ghost(c)
	l.hangUp(fd)
}

// lose ends a connection that the client has reset.
func (l *loop) lose(fd int) {
	c := &l.conns[fd]
	l.server.members[c.member].resets.Add(1)
	l.ghost(c)
	l.hangUp(fd)
}

// ghost counts a connection that its client has ended, if nothing ever came.
func (l *loop) ghost(c *conn) {
	if !c.heard {
		l.server.members[c.member].ghosts.Add(1)
	}
}

// hangUp closes a connection; in order, if all that came was received.
func (l *loop) hangUp(fd int) {
	l.leave(fd)
	sock.Shut(fd)
}

// cut resets a connection.
func (l *loop) cut(fd int) {
	l.leave(fd)
	sock.Cut(fd)
}
