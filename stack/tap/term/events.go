package term

import (
	"gvisor.dev/gvisor/pkg/waiter"

	"penstock/stack/sys"
)

// Kind is what an Event is about.
type Kind uint8

const (
	// Accepted: a handshake is complete. The connection Conn is the caller's from
	// now on, who gives it back by Close or Reset. It may be one that nobody let
	// in: netstack takes a forged ACK for a good one once in 10^8 times. And it
	// may be over already.
	Accepted Kind = iota
	// Ready: more can be done with Conn.
	Ready
)

// Event is what happened to a connection. Several of one connection are one
// when it is read.
type Event struct {
	Kind    Kind
	Conn    uint32    // the connection's number, small; from 1
	Virtual int       // Accepted: what the listener was opened for
	Peer    sys.Peer  // Accepted: the client
	Local   sys.Peer  // Accepted: what it connected to
	Ready   sys.Ready // what it is ready for at this moment, as Poll says
}

// mail is where netstack leaves notes for Events. Each connection and each
// listener has one note, so that nothing is allocated, and many things that
// happen to a connection are one event.
type mail struct {
	wake        func() // constant
	first, last *note
	called      bool // Events is running, or knows that it has to
}

// note says that something happened to a connection or a listener.
type note struct {
	mail     *mail
	conn     *conn // one of these
	listener *listener

	queued bool
	next   *note
}

// NotifyEvent implements waiter.EventListener. It is called while netstack
// handles segments and timers, and by what the loop does with the connection.
func (n *note) NotifyEvent(waiter.EventMask) {
	if n.queued {
		return
	}
	n.queued = true
	m := n.mail
	if m.last == nil {
		m.first = n
	} else {
		m.last.next = n
	}
	m.last = n
	if !m.called {
		m.called = true
		m.wake()
	}
}

// take returns the oldest note; nil: there is none.
func (m *mail) take() *note {
	n := m.first
	if n == nil {
		return nil
	}
	if m.first = n.next; m.first == nil {
		m.last = nil
	}
	n.next, n.queued = nil, false
	return n
}

// Events has netstack do what is due, and handle what was injected. It calls f
// for what happened, at most most times, and says whether there is more; then the
// caller comes back without waiting for Wake. f may do anything with
// connections. Once a second or so it should be called anyway.
func (s *Stack) Events(most int, f func(e Event)) (more bool) {
	s.mail.called = true // whatever comes up now is told, or makes more true
	s.work()
	if len(s.orphans.list) > 0 {
		s.orphans.sweep(s.net.Clock().NowMonotonic())
	}
	for ; most > 0; most-- {
		e, ok := s.event()
		if !ok {
			break
		}
		f(e)
	}
	more = s.mail.first != nil || s.accepting != nil
	s.mail.called = more
	return more
}

// Due returns when Events has to be called at the latest, for the sake of
// netstack's timers, in the time of now; 0 never.
func (s *Stack) Due(now int64) int64 {
	if s.clock == nil {
		return 0
	}
	in, ok := s.clock.next()
	if at := s.link.acks.next(); at != 0 && (!ok || at-s.clock.now() < in) {
		in, ok = at-s.clock.now(), true
	}
	if !ok {
		return 0
	}
	return max(now+in, 1)
}

// work has netstack do what there is to do.
func (s *Stack) work() {
	if s.clock != nil {
		s.clock.expire()
	}
	s.inline.run()
	if s.clock != nil {
		s.link.flush(s.clock.now())
	}
}

// event returns the next event, if there is one.
func (s *Stack) event() (e Event, ok bool) {
	for {
		if l := s.accepting; l != nil {
			if e, ok = s.accept(l); ok {
				return e, true
			}
			s.accepting = nil
		}
		n := s.mail.take()
		if n == nil {
			return e, false
		}
		if c := n.conn; c == nil {
			s.accepting = n.listener
		} else if c.ep != nil {
			return Event{Kind: Ready, Conn: c.number, Ready: c.poll()}, true
		}
	}
}
