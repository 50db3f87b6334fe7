package term

import (
	"time"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// conn is a connection that the owner has. When it is given up its number is
// free at once; notes that are still on their way then find no endpoint.
type conn struct {
	ep     *tcp.Endpoint // nil: given up
	queue  *waiter.Queue
	entry  waiter.Entry // in queue
	note   note
	ours   *ours
	number uint32

	patience time.Duration // its user timeout, if it has one
	copied   int           // read, and netstack's window tuning not told yet
	settled  bool          // it is over, and failed is the last word
	failed   sys.Errno     // by which it broke off
}

// peer and local are constant since the connection was accepted.
func (c *conn) peer() sys.Peer {
	id := &c.ep.TransportEndpointInfo.ID
	return sys.Peer{Addr: wide(id.RemoteAddress), Port: id.RemotePort}
}

func (c *conn) local() sys.Peer {
	id := &c.ep.TransportEndpointInfo.ID
	return sys.Peer{Addr: wide(id.LocalAddress), Port: id.LocalPort}
}

func wide(a tcpip.Address) frame.Addr {
	if a.Len() == 4 {
		return mapped(a.AsSlice())
	}
	return a.As16()
}

// Peer returns the client's address.
func (s *Stack) Peer(conn uint32) sys.Peer { return s.conns[conn].peer() }

// Local returns the address that the client connected to.
func (s *Stack) Local(conn uint32) sys.Peer { return s.conns[conn].local() }

// Poll says what the connection is ready for at this moment: In, there is
// something to read or the end; Out, there is room to write; Fin, the client
// sent FIN; Err, it broke off.
func (s *Stack) Poll(conn uint32) sys.Ready { return s.conns[conn].poll() }

func (c *conn) poll() (r sys.Ready) {
	m := c.ep.Readiness(waiter.ReadableEvents | waiter.WritableEvents)
	if m&waiter.EventIn != 0 {
		r |= sys.In
	}
	if m&waiter.EventOut != 0 {
		r |= sys.Out
	}
	if m&waiter.EventRdHUp != 0 {
		r |= sys.Fin
	}
	switch c.ep.EndpointState() {
	case tcp.StateCloseWait, tcp.StateLastAck, tcp.StateClosing, tcp.StateTimeWait:
		r |= sys.Fin
	case tcp.StateClose, tcp.StateError:
		r |= sys.In | sys.Out | sys.Fin
		if c.settle() != 0 {
			r |= sys.Err
		}
	}
	return r
}

// Error returns what broke the connection off; 0 if nothing did.
func (s *Stack) Error(conn uint32) sys.Errno { return s.conns[conn].settle() }

// settle finds out how a connection ended that did. Netstack tells an error
// once, to whoever asks first; here it stays.
func (c *conn) settle() sys.Errno {
	if c.settled {
		return c.failed
	}
	switch c.ep.EndpointState() {
	case tcp.StateError:
		c.fail(c.ep.LastError())
	case tcp.StateClose:
		// A reset behind the client's FIN, as the kernel says it. Other errors
		// in this state are messages by ICMP that ended nothing.
		if _, ok := c.ep.LastError().(*tcpip.ErrAborted); ok {
			c.failed = unix.EPIPE
		}
		c.settled = true
	}
	return c.failed
}

// fail notes what broke the connection off.
func (c *conn) fail(err tcpip.Error) sys.Errno {
	if !c.settled {
		c.settled, c.failed = true, errno(err)
	}
	return c.failed
}

// errno translates an error that ends a connection.
func errno(err tcpip.Error) sys.Errno {
	switch err.(type) {
	case *tcpip.ErrConnectionReset:
		return unix.ECONNRESET
	case *tcpip.ErrTimeout:
		return unix.ETIMEDOUT
	case *tcpip.ErrHostUnreachable, *tcpip.ErrHostDown:
		return unix.EHOSTUNREACH
	case *tcpip.ErrNetworkUnreachable, *tcpip.ErrNoNet:
		return unix.ENETUNREACH
	case *tcpip.ErrConnectionRefused:
		return unix.ECONNREFUSED
	}
	return unix.ECONNABORTED
}

// ShutdownWrite sends FIN after what was written.
func (s *Stack) ShutdownWrite(conn uint32) sys.Errno {
	c := s.conns[conn]
	// Netstack makes a note of it that there is room now, so to speak. The loop
	// need not be woken for what it did itself.
	noted := c.note.queued
	c.note.queued = true
	err := c.ep.Shutdown(tcpip.ShutdownWrite)
	c.note.queued = noted
	if err != nil {
		return unix.ENOTCONN
	}
	return 0
}

// Unacked says whether the client has not acknowledged all that was sent, FIN
// included. It is for the end: afterwards Send and WriteFrom have room only
// when all is acknowledged.
func (s *Stack) Unacked(conn uint32) bool {
	ep := s.conns[conn].ep
	switch ep.EndpointState() {
	case tcp.StateFinWait1, tcp.StateClosing, tcp.StateLastAck:
		return true // at least FIN is not
	case tcp.StateEstablished, tcp.StateCloseWait:
		// Netstack does not tell how much is in its buffer, but whether there
		// is room. In a buffer of one byte there is if it is empty.
		ep.SocketOptions().SetSendBufferSize(1, false)
		return ep.Readiness(waiter.WritableEvents)&waiter.EventOut == 0
	}
	return false
}

// Close gives the connection up. What was written is still delivered, then FIN;
// if the client has sent something that was not read, it is reset. The number
// must not be used any more, and may come again for another connection.
func (s *Stack) Close(conn uint32) {
	c := s.conns[conn]
	ep, patience := s.giveUp(c), s.orphans.most
	if c.patience > 0 {
		patience = min(patience, c.patience)
	}
	v := tcpip.TCPUserTimeoutOption(patience)
	ep.SetSockOpt(&v)
	ep.Close()
	s.orphans.add(ep, s.net.Clock().NowMonotonic())
}

// Reset gives the connection up with RST; what was not sent yet is lost.
func (s *Stack) Reset(conn uint32) { reset(s.giveUp(s.conns[conn])) }

// giveUp takes a connection from the owner. From now on nothing of it comes to
// the loop.
func (s *Stack) giveUp(c *conn) *tcp.Endpoint {
	ep := c.ep
	c.queue.EventUnregister(&c.entry)
	c.ep = nil // a note may still be on its way
	c.ours.conns--
	s.conns[c.number] = nil
	s.free = append(s.free, c.number)
	return ep
}

func reset(ep *tcp.Endpoint) {
	switch ep.EndpointState() {
	case tcp.StateTimeWait, tcp.StateClose, tcp.StateError:
		ep.Close() // there is nobody to tell
	default:
		ep.Abort()
	}
}
