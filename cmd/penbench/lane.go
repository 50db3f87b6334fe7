package main

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync/atomic"

	"penstock/lb/dispatch"
)

// senders is how many addresses the clients come from, 10.0.0.0 and on. A
// power of two, so that a client's number may wrap.
const senders = 64

// lane drives one loop, as the proxy's event loop does. One goroutine at a
// time may use it.
//
// Its clients are numbered as they come; client i is of sender i%senders. In
// that order they must be served: all, or if the queue is sorted those of one
// sender.
type lane struct {
	*dispatch.Loop
	from [senders]dispatch.Source // constant

	lines uint32          // in which order counts: 1, or one for each sender
	turn  [senders]uint32 // by line: who is next
	came  uint32          // clients so far

	now    dispatch.Tick
	held   []dispatch.Path // slots whose clients are being served
	served int64

	_ [64]byte // the neighbour may be another's
}

func newLane(l *dispatch.Loop, sorted bool) *lane {
	n := &lane{Loop: l, lines: 1}
	if sorted {
		n.lines = senders
	}
	for i := range n.from {
		n.from[i] = dispatch.SourceOf(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	n.forget()
	return n
}

// come lets the next client in.
func (l *lane) come() dispatch.Verdict {
	conn := l.came
	l.came++
	return l.Arrive(l.now, 0, conn, dispatch.Attempt{Since: l.now, Source: l.from[conn%senders]})
}

// forget is for when nobody waits: who comes next is next.
func (l *lane) forget() {
	for i := range l.lines {
		next := l.came + i
		l.turn[next%l.lines] = next
	}
}

// inTurn checks that it is the client's turn.
func (l *lane) inTurn(conn uint32) error {
	next := &l.turn[conn%l.lines]
	if *next != conn {
		return fmt.Errorf("out of order: client %d before client %d", conn, *next)
	}
	*next += l.lines
	return nil
}

// batch is how many events a loop takes before it reads the clock again.
const batch = 64

// serve works until told to stop: whoever gets a slot is served at once and
// leaves, and another one comes.
func (l *lane) serve(now func() dispatch.Tick, stop *atomic.Bool) error {
	for !stop.Load() {
		l.now = now()
		for range batch {
			path, ok, err := l.next()
			if err != nil {
				return err
			}
			if !ok {
				runtime.Gosched() // all slots are with other loops
				break
			}
			l.Release(l.now, path)
			if v := l.come(); v.Kind != dispatch.Wait {
				return fmt.Errorf("a client came behind a crowd: %+v, want it to wait", v)
			}
			l.served++
		}
	}
	return nil
}

// next returns a slot that a client of this loop has.
func (l *lane) next() (path dispatch.Path, ok bool, err error) {
	if n := len(l.held); n > 0 {
		path, l.held = l.held[n-1], l.held[:n-1]
		return path, true, nil
	}
	if l.Due() == 1 {
		l.Run(l.now)
	}
	return l.granted()
}

// granted returns the slot that the next of this loop's clients has got.
func (l *lane) granted() (path dispatch.Path, ok bool, err error) {
	o, ok := l.Next()
	switch {
	case !ok:
		return path, false, nil
	case o.Reason != dispatch.NotRefused:
		return path, false, fmt.Errorf("client %d: refused for reason %d, want a slot", o.Conn, o.Reason)
	}
	return o.Path, true, l.inTurn(o.Conn)
}

// keep does what is due, and holds the slots that clients have got: n of them.
func (l *lane) keep() (n int, err error) {
	l.settle()
	for {
		path, ok, err := l.granted()
		if !ok || err != nil {
			return n, err
		}
		l.held = append(l.held, path)
		n++
	}
}

// settle goes on with what was too much to be done at once.
func (l *lane) settle() {
	for l.Due() == 1 {
		l.Run(l.now)
	}
}

// expire does what is due, and counts clients that were too old.
func (l *lane) expire() (n int, err error) {
	l.Run(l.now)
	for {
		o, ok := l.Next()
		switch {
		case !ok:
			return n, nil
		case o.Reason != dispatch.Expired:
			return n, fmt.Errorf("client %d: reason %d, want %d: it was too old", o.Conn, o.Reason, dispatch.Expired)
		}
		if err := l.inTurn(o.Conn); err != nil {
			return n, err
		}
		n++
	}
}
