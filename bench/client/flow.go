package client

import (
	"encoding/binary"

	"penstock/bench/sock"
	"penstock/bench/tally"
)

// flow is one of the client's connections, again and again.
//
//	      begin             sent            first byte           whole
//	idle -------> connecting ----> waiting -----------> receiving -----> ending
//	 ^ ^            |     \         ^ |  |               |   |             |
//	 | |            |     asking ---+ |  |     whole     |   | whole       | end:
//	 | |            |        |        |  +-- holding <---+   | (keep)      | served
//	 | |            |        |        |  |  (hold)           v             |
//	 | |            |        |        |  |               thinking          |
//	 | |            |        |        |  +-- streaming       | another:    |
//	 | |            |        |        |      (bulk)          | asking      |
//	 | +------------+--------+--------+---- lost ------------+             |
//	 +---------------------------------------------------------------------+
//
// Asking is a connection that could not take the whole request yet. Who gives
// up while connecting, asking or waiting is idle again, or silent to the end of
// the run: deaf, and done with. In the closed model an idle flow begins again
// at once, or at the next tick if it was lost, so that a target that refuses is
// not asked in a tight loop; when the total is reached, and in hold when it was
// lost, it is done. In the open model it is free for who is due next.
//
// A flow owns its descriptor in all states but idle and done.
type flow struct {
	state  state
	there  bool // connected, as far as is known
	reader bool // registered for reading only
	told   bool // the run, that it was opened; hold: that it stands

	fd    int32
	asked int // requests answered on this connection

	// In ns on the run's clock.
	due     int64 // when the connection was due, or begun
	since   int64 // when the request was: its token
	limit   int64 // when the patience ends
	timeout int64 // when connecting has taken too long
	sip     int64 // slow readers: when to receive next

	left int    // bytes: of the request while connecting and asking, then of the response
	echo uint64 // the response's first bytes
}

type state uint8

const (
	idle state = iota
	connecting
	asking
	waiting
	receiving
	ending
	thinking
	streaming
	holding
	silent
	done
)

// begin starts a connection that was due then, on an idle flow.
//
// The socket is often connected when connect returns, though that says
// EINPROGRESS; so the request is tried at once. If it is gone, which is the
// rule on one machine, nothing but the response is to be waited for.
func (l *loop) begin(i int, due int64) {
	f := &l.flows[i]
	if !l.more() {
		l.retire(f)
		return
	}
	*f = flow{state: connecting, fd: -1, told: f.told, due: due}
	l.opened(f)
	l.due(f, due)
	now := l.now()
	if l.open && l.counts(f) {
		l.tally.Lag.Record(now - due)
	}
	if f.limit <= now {
		l.giveUp(i) // while no flow was free
		return
	}
	fd, err := sock.Dial(l.nextSource(), &l.target)
	if err != nil {
		l.lose(i, err)
		return
	}
	l.tally.Begun++
	f.fd, f.timeout = int32(fd), now+int64(l.cfg.ConnectTimeout)
	if l.ask(i) {
		l.register(i)
	}
}

// due begins a request: its time, its patience and its bytes.
func (l *loop) due(f *flow, at int64) {
	f.since, f.limit, f.left, f.sip = at, l.patience(at), l.cfg.Request, 0
}

// patience is when that of a client ends whose request was due then.
func (l *loop) patience(due int64) int64 {
	if l.cfg.Patience.Zero() {
		return never
	}
	return due + l.cfg.Patience.Next(l.random)
}

// more takes one attempt from the total of the closed model, if there is one.
func (l *loop) more() bool {
	if l.open || l.cfg.Total == 0 {
		return true
	}
	l.taken++
	return l.taken <= l.cfg.Total
}

// register has the loop told of what comes.
func (l *loop) register(i int) {
	f := &l.flows[i]
	add := l.poll.Add
	if f.state == waiting {
		add, f.reader = l.poll.AddReader, true
	}
	if err := add(int(f.fd), i); err != nil {
		l.lose(i, err)
		return
	}
	l.watch(i)
}

// watch sets the deadline of a flow that connects or waits.
func (l *loop) watch(i int) {
	f := &l.flows[i]
	at := f.limit
	if f.state == connecting {
		at = min(at, f.timeout)
	}
	if at != never {
		l.wake.Set(i, at)
	}
}

// ready goes on with a flow after events, which are all that hold now.
func (l *loop) ready(i int, events uint32) {
	f := &l.flows[i]
	switch f.state {
	case connecting:
		if !l.connected(i, events) {
			return
		}
	case asking:
		if !l.ask(i) {
			return
		}
	}
	if f.state == streaming && l.cfg.Direction != Down && events&sock.Writable != 0 {
		l.push(i)
	}
	if events&(sock.Readable|sock.Ended) == 0 {
		return
	}
	switch f.state {
	case waiting, receiving, ending, streaming:
		l.receive(i, events)
	default:
		if f.unasked() {
			l.disturbed(i)
		}
	}
	if events&sock.Ended != 0 && f.unasked() { // it came with the response
		l.disturbed(i)
	}
}

// unasked says that the connection is up, and nothing should come on it.
func (f *flow) unasked() bool {
	return f.state == asking || f.state == thinking || f.state == holding
}

// connected goes on when the handshake is over, either way. It says false if
// the connection is over too.
func (l *loop) connected(i int, events uint32) bool {
	f := &l.flows[i]
	switch {
	case events&sock.Broken != 0:
		l.lose(i, sock.Error(int(f.fd)))
		return false
	case events&sock.Writable == 0:
		return true
	case f.left > 0:
		return l.ask(i)
	}
	l.established(f)
	l.requested(i)
	return true
}

// ask sends the request, or what is left of it. It says false if the connection
// is over.
func (l *loop) ask(i int) bool {
	f := &l.flows[i]
	for f.left > 0 {
		n, err := sock.Send(int(f.fd), l.words(f))
		if err == sock.ErrAgain { // not connected yet, or the buffer is full
			return l.pushing(i)
		}
		if err != nil {
			l.lose(i, err)
			return false
		}
		l.established(f)
		f.state = asking
		f.left -= n
	}
	if f.state == asking {
		l.requested(i)
	}
	return true
}

// words are the next bytes of a request: the token, then zeros.
func (l *loop) words(f *flow) []byte {
	at := l.cfg.Request - f.left
	if at >= tokenSize || !l.cfg.tokens() {
		return l.blob[tokenSize:][:min(f.left, blobSize-tokenSize)]
	}
	binary.BigEndian.PutUint64(l.blob, uint64(f.since))
	return l.blob[at:min(l.cfg.Request, blobSize)]
}

// pushing makes sure that the loop is told when there is room to send.
func (l *loop) pushing(i int) bool {
	f := &l.flows[i]
	if !f.reader {
		return true
	}
	f.reader = false
	if err := l.poll.Again(int(f.fd), i); err != nil {
		l.lose(i, err)
		return false
	}
	return true
}

// established notes that the handshake is over.
func (l *loop) established(f *flow) {
	if f.there {
		return
	}
	f.there = true
	l.there++
	if l.counts(f) {
		l.tally.Connect.Record(l.now() - f.due)
	}
}

// requested goes on when the whole request is sent.
func (l *loop) requested(i int) {
	f := &l.flows[i]
	f.state, f.left, f.echo = waiting, l.cfg.Response, 0
	if f.limit == never {
		l.wake.Clear(i) // what is left is the connect's
	}
	switch l.cfg.Work {
	case Half:
		sock.HalfClose(int(f.fd)) // fails only if the end has come already, and then that is seen
	case Bulk:
		f.state, f.left = streaming, 0
	case Hold:
		l.stand(f)
		if l.cfg.Request == 0 || l.cfg.Response == 0 {
			f.state = holding
		}
	}
}

// another begins the next request on a kept connection.
func (l *loop) another(i int) {
	l.due(&l.flows[i], l.now())
	l.flows[i].state = asking
	if l.ask(i) {
		l.watch(i)
	}
}

// stand notes that a held connection has come as far as it does by itself:
// connected, and its request sent. The answer may take until a place is free.
func (l *loop) stand(f *flow) {
	f.told = true
	l.run.standing.Add(1)
	l.run.opened.tell()
}

// opened tells the run, once, that a flow of the closed model has begun. In
// hold it is told when it stands or is lost.
func (l *loop) opened(f *flow) {
	if !l.open && !f.told && l.cfg.Work != Hold {
		f.told = true
		l.run.opened.tell()
	}
}

// counts says whether what becomes of a flow is to be counted.
func (l *loop) counts(f *flow) bool {
	if l.open {
		return f.due >= l.run.from && f.due < l.run.to.Load()
	}
	return l.run.counting.Load()
}

// tire is for a flow whose deadline has come while it connects or waits. The
// deadline may be an older one; and what has come before the loop got round to
// it was in time.
func (l *loop) tire(i int, now int64) {
	f := &l.flows[i]
	if now >= f.limit && f.state == waiting {
		if l.receive(i, sock.Readable); f.state != waiting {
			return
		}
	}
	switch {
	case now >= f.limit:
		l.giveUp(i)
	case f.state == connecting && now >= f.timeout:
		l.end(i, tally.Timeout)
	default:
		l.watch(i)
	}
}
