package load

import "golang.org/x/sys/unix"

// flow is one of the client's connections, again and again.
//
//	         begin              asked              whole (Hold)
//	resting -------> connecting ------> receiving --------------> holding
//	   ^                 |     \           ^  |  \                    |
//	   |                 |      asking ----+  |   whole (Keep): asks  | lost
//	   |       lost      |         |          |   again               v
//	   +-----------------+---------+----------+                     done
//
// A flow that was served begins again at once; one that was lost rests until
// the next tick, so that a target that refuses is not asked in a tight loop.
// When the total is reached, and in Hold when it was lost, a flow is done.
//
// It owns its descriptor in all states but resting and done.
type flow struct {
	state state
	fd    int
	since int64 // when what is being timed began, on the loop's clock
	left  int   // bytes to send while asking, to receive while receiving
}

type state uint8

const (
	resting state = iota
	connecting
	asking
	receiving
	holding
	done
)

// discardMost is how much is received at once. Nothing is copied, so it may be
// more than any receive buffer holds.
const discardMost = 64 << 20

// begin starts an attempt on a flow without a connection.
//
// The socket is often connected when connect returns, though that says
// EINPROGRESS; so the request is tried at once, which may save a wake-up.
func (l *loop) begin(i int) {
	f := &l.flows[i]
	if !l.more() {
		l.finish(f)
		return
	}
	f.since = l.now()
	fd, err := dial(l.nextSource(), &l.target)
	if err != nil {
		l.lose(f, err)
		return
	}
	f.fd, f.state = fd, connecting
	if err := l.poll.add(fd, i); err != nil {
		l.lose(f, err)
		return
	}
	if l.cfg.Request > 0 {
		l.ask(f)
	}
}

// ready goes on with a flow after events, which are all that hold now.
func (l *loop) ready(i int, events uint32) {
	f := &l.flows[i]
	switch f.state {
	case connecting:
		l.connected(f, events)
	case asking:
		l.ask(f)
	}
	if events&(unix.EPOLLIN|ended) == 0 {
		return
	}
	if f.state == receiving {
		l.receive(i, events)
	}
	if f.state == holding { // the end may come in the same event
		l.disturbed(f)
	}
}

// connected goes on when the handshake is over, either way.
func (l *loop) connected(f *flow, events uint32) {
	switch {
	case events&broken != 0:
		l.lose(f, socketError(f.fd))
	case events&unix.EPOLLOUT == 0:
	case l.cfg.Request > 0:
		l.ask(f)
	default:
		l.hold(f)
	}
}

// ask sends the request, or what is left of it.
func (l *loop) ask(f *flow) {
	left := f.left
	if f.state != asking {
		left = l.cfg.Request
	}
	n, err := send(f.fd, l.request[:left])
	switch {
	case err == errAgain: // not connected yet, or the buffer is full
	case err != nil:
		l.lose(f, err)
	case n < left:
		f.state, f.left = asking, left-n
	default:
		f.state, f.left = receiving, l.cfg.Response
	}
}

// receive takes what came. Less than could be received is all that came,
// unless the peer's end is there to be seen too.
func (l *loop) receive(i int, events uint32) {
	f := &l.flows[i]
	for f.state == receiving {
		n, err := discard(f.fd, discardMost)
		if err == errAgain {
			return
		}
		if err != nil {
			l.lose(f, err)
			return
		}
		if n == 0 {
			l.closed(i)
			return
		}
		l.received(f, n)
		if n < discardMost && events&ended == 0 {
			return
		}
	}
}

// received counts n bytes of the response.
func (l *loop) received(f *flow, n int) {
	if l.counting() {
		l.tally.bytes += uint64(n)
	}
	f.left -= n
	switch {
	case l.cfg.Work == Bulk: // left runs below zero and means nothing but "some came"
	case f.left < 0:
		l.end(f, Excess)
	case f.left > 0 || l.cfg.Work == Short: // Short: the end is still to come
	case l.cfg.Work == Idle:
		l.hold(f)
	default:
		l.served(f)
		l.askAgain(f)
	}
}

// askAgain begins an attempt on a flow that has its connection.
func (l *loop) askAgain(f *flow) {
	if !l.more() {
		l.hangUp(f)
		l.finish(f)
		return
	}
	f.since = l.now()
	l.ask(f)
}

// closed handles a clean end.
func (l *loop) closed(i int) {
	f := &l.flows[i]
	switch {
	case f.left == l.cfg.Response:
		l.end(f, Empty)
	case f.left != 0 || l.cfg.Work != Short:
		l.end(f, Truncated)
	default:
		l.served(f)
		l.hangUp(f)
		l.begin(i)
	}
}

// hold keeps a connection that has come as far as it should.
func (l *loop) hold(f *flow) {
	f.state = holding
	l.held.standing.Add(1)
}

// disturbed handles a held connection that something happened to: nothing
// should.
func (l *loop) disturbed(f *flow) {
	n, err := discard(f.fd, discardMost)
	if err == errAgain {
		return
	}
	l.held.standing.Add(-1)
	switch {
	case err != nil:
		l.lose(f, err)
	case n == 0:
		l.end(f, Empty)
	default:
		l.end(f, Excess)
	}
}

// served counts the attempt.
func (l *loop) served(f *flow) {
	if !l.counting() {
		return
	}
	l.tally.outcomes[Served]++
	l.tally.latency.RecordValue((l.now() - f.since) / 1000)
}

// lose ends an attempt by an error.
func (l *loop) lose(f *flow, err error) {
	o := outcomeOf(err)
	if o == Local && l.tally.cause == nil {
		l.tally.cause = err
	}
	l.end(f, o)
}

// end counts an attempt that was not served, and closes its connection.
func (l *loop) end(f *flow, o Outcome) {
	if l.counting() {
		l.tally.outcomes[o]++
	}
	l.hangUp(f)
	if l.cfg.Work == Idle {
		l.finish(f)
		l.held.lost.Add(1)
	}
}

func (l *loop) hangUp(f *flow) {
	if f.state != resting && f.state != done {
		shut(f.fd)
	}
	f.state = resting
}

// finish retires a flow without a connection.
func (l *loop) finish(f *flow) {
	f.state = done
	l.live--
}
