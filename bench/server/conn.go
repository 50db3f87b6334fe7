package server

import (
	"encoding/binary"

	"penstock/bench/sock"
)

const (
	// sendMost is how much is sent at once, from a buffer that stays in the
	// cache. Copying it costs 0.08 s/GB; sendfile from a file in memory cost
	// 0.09, since it goes page by page, and MSG_ZEROCOPY copies on loopback.
	sendMost = 256 << 10

	// receiveMost is how much is looked at for tokens at once. The rest of a
	// longer request, and all of Sink, is thrown away in the kernel, so much
	// at a time.
	receiveMost = 16 << 10
	discardMost = 1 << 20

	// turn is how much one connection may send or receive before the others.
	turn = 4 << 20

	// forever is owed by a stream.
	forever = 1 << 62

	tokenSize = 8
)

type token = [tokenSize]byte

// state is what a descriptor is to a loop.
type state uint8

const (
	closed state = iota
	opened
	listening
)

// conn is one connection. Its zero value is closed.
//
//	request  ->  delay (asked > 0)  ->  response (owed > 0)  ->  request ...
//
// While a response is owed nothing is received, with Both excepted.
type conn struct {
	state  state
	heard  bool // a byte has come
	told   bool // and the first request's token
	ended  bool // the client has sent its end; the response is still due
	sinks  bool // all that comes is thrown away
	member int32

	got   int   // bytes of a request not yet whole
	asked int   // requests whose delay is not over
	owed  int   // bytes of responses not yet sent
	sent  int   // bytes of the response under way
	token token // of the request that comes in
	echo  token // of the last whole request

	accepted int64 // ns
	freed    int64 // ns; when the slot that it took over was freed; 0: none was
	seat     int64 // number in the roll; 0: none
}

// ready goes on with a connection until it has to wait or is over. The events
// are all that hold now, not only the new ones, so a request that came while
// a response was stuck is not forgotten.
func (l *loop) ready(fd int, events uint32) {
	c := &l.conns[fd]
	if c.ended && events&sock.Broken != 0 {
		l.lose(fd)
		return
	}
	for more := !c.ended && events&(sock.Readable|sock.Ended) != 0; ; {
		switch {
		case c.sinks:
			l.exchange(fd, c, more, events)
			return
		case c.owed > 0 && !l.push(fd, c), !more:
			return
		}
		more = l.pull(fd, c, events)
	}
}

// pull receives requests, and says whether more may be there. Less than was
// asked for is all, unless the client's end is there to be seen too.
func (l *loop) pull(fd int, c *conn, events uint32) (more bool) {
	n, most, err := l.receive(fd, c)
	switch {
	case err == sock.ErrAgain:
		return false
	case err != nil:
		l.lose(fd)
		return false
	case n == 0:
		l.end(fd, c, events)
		return false
	}
	l.received += int64(n)
	c.heard = true
	if most == len(l.request) {
		l.answer(fd, c, l.read(c, l.request[:n]))
	} else if c.got += n; c.got == l.server.cfg.Request {
		l.answer(fd, c, c.whole())
	}
	return n == most || events&sock.Ended != 0
}

// receive fills the buffer, or throws away the rest of a long request: then
// most is something else than the buffer's length.
func (l *loop) receive(fd int, c *conn) (n, most int, err error) {
	if left := l.server.cfg.Request - c.got; c.got >= tokenSize && left > len(l.request) {
		most = min(left, discardMost)
		n, err = sock.Discard(fd, most)
		return n, most, err
	}
	n, err = sock.Receive(fd, l.request)
	return n, len(l.request), err
}

// read takes requests out of bytes and says how many became whole.
func (l *loop) read(c *conn, b []byte) (whole int) {
	size := l.server.cfg.Request
	for len(b) > 0 {
		n := min(len(b), size-c.got)
		if c.got < tokenSize {
			copy(c.token[c.got:], b[:n])
		}
		c.got += n
		b = b[n:]
		if !c.told && (c.got >= tokenSize || c.got == size) {
			l.tell(c)
		}
		if c.got == size {
			whole += c.whole()
		}
	}
	return whole
}

// whole ends a request: one.
func (c *conn) whole() int {
	c.got, c.echo = 0, c.token
	return 1
}

// tell enters the token of a connection's first request, or that it has none.
func (l *loop) tell(c *conn) {
	l.heed()
	c.told = true
	if l.paused {
		return
	}
	var due int64
	if l.server.cfg.Request >= tokenSize {
		due = int64(binary.BigEndian.Uint64(c.token[:]))
	}
	if due != 0 {
		l.roll.tell(c.seat, due)
		l.wait.Record(l.server.clock.Now() - due)
	}
	// Who was due only after the slot was free has not waited for it.
	if c.freed != 0 && due != 0 && due < c.freed {
		l.handover.Record(c.accepted - c.freed)
	}
}

// answer begins the responses to whole requests, or their delay. What follows
// the first one of a sink is no request.
func (l *loop) answer(fd int, c *conn, requests int) {
	if requests == 0 {
		return
	}
	if then := l.server.cfg.Then; then == Sink || then == Both {
		c.sinks, requests = true, 1
	}
	l.requests += int64(requests)
	c.asked += requests
	if c.asked > requests {
		return // its delay has begun already
	}
	if d := l.server.cfg.Delay.Next(l.random); d > 0 {
		l.delays.Set(fd, l.server.clock.Now()+d)
		return
	}
	l.owe(c)
}

// respond sends the responses whose delay is over.
func (l *loop) respond() {
	if l.delays.Len() == 0 {
		return
	}
	now := l.server.clock.Now()
	for fd, ok := l.delays.Pop(now); ok; fd, ok = l.delays.Pop(now) {
		l.owe(&l.conns[fd])
		l.ready(fd, sock.Writable)
	}
}

// owe makes what was asked for due.
func (l *loop) owe(c *conn) {
	switch l.server.cfg.Then {
	case Stay:
		c.owed = c.asked * l.server.cfg.Response
	case Close:
		c.owed = l.server.cfg.Response
	case Stream, Both:
		c.owed = forever
	}
	c.asked = 0
}
