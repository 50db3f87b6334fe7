package term

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// listener is an open port.
type listener struct {
	virtual int
	ours    *ours
	ep      tcpip.Endpoint
	queue   waiter.Queue
	entry   waiter.Entry
	note    note
}

// backlog is how many handshakes a listener has room for. Netstack makes no
// room in advance, so it may be any number; at its end there would be SYN
// cookies, without window scale.
const backlog = math.MaxInt32

// Listen accepts connections to at for a virtual server. An address may have
// many ports. The backlog has no end: who lets SYNs in, bounds it.
func (s *Stack) Listen(virtual int, at netip.AddrPort) error {
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	if s.listeners[at] != nil {
		return fmt.Errorf("listen on %v: somebody does", at)
	}
	o, err := s.address(at.Addr())
	if err != nil {
		return fmt.Errorf("listen on %v: %w", at, err)
	}
	l := &listener{virtual: virtual, ours: o}
	if err := l.open(s, at); err != nil {
		return fmt.Errorf("listen on %v: %s", at, err)
	}
	o.listeners++
	s.listeners[at] = l
	return nil
}

// open makes the endpoint.
func (l *listener) open(s *Stack, at netip.AddrPort) (err tcpip.Error) {
	a := frame.Addr(at.Addr().As16())
	if l.ep, err = s.net.NewEndpoint(tcp.ProtocolNumber, protocol(&a), &l.queue); err != nil {
		return err
	}
	// Connections that are there from an earlier listener must not be in the way.
	l.ep.SocketOptions().SetReuseAddress(true)
	if s.mss != 0 {
		err = l.ep.SetSockOptInt(tcpip.MaxSegOption, s.mss)
	}
	if err == nil {
		err = l.ep.Bind(tcpip.FullAddress{NIC: nic, Addr: address(&a), Port: at.Port()})
	}
	if err == nil {
		l.note.mail, l.note.listener = &s.mail, l
		l.entry.Init(&l.note, waiter.ReadableEvents)
		l.queue.EventRegister(&l.entry)
		err = l.ep.Listen(backlog)
	}
	if err != nil {
		l.ep.Close()
	}
	return err
}

// Unlisten takes a listener away. Handshakes that are not complete are
// forgotten, and connections that Events did not tell of yet are reset. Others
// stay, and with them the address.
func (s *Stack) Unlisten(at netip.AddrPort) {
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	l := s.listeners[at]
	if l == nil {
		return
	}
	delete(s.listeners, at)
	l.ours.listeners--
	l.queue.EventUnregister(&l.entry)
	l.ep.Close()
	if s.accepting == l {
		s.accepting = nil
	}
}

// accept takes a connection from a listener, if it has one.
func (s *Stack) accept(l *listener) (e Event, ok bool) {
	ep, queue, err := l.ep.Accept(nil)
	if err != nil {
		return e, false
	}
	c := &conn{ep: ep.(*tcp.Endpoint), queue: queue, ours: l.ours, number: uint32(len(s.conns))}
	if n := len(s.free); n > 0 {
		c.number = s.free[n-1]
		s.free = s.free[:n-1]
		s.conns[c.number] = c
	} else {
		s.conns = append(s.conns, c)
	}
	l.ours.conns++
	c.note.mail, c.note.conn = &s.mail, c
	c.entry.Init(&c.note, waiter.AllEvents)
	queue.EventRegister(&c.entry) // before poll, so that nothing is missed
	return Event{
		Kind: Accepted, Conn: c.number, Virtual: l.virtual,
		Peer: c.peer(), Local: c.local(), Ready: c.poll(),
	}, true
}

// Forget ends a handshake that is not complete, so that netstack knows nothing
// of it; the client is not told. It also ends what is left of a connection in
// TIME-WAIT, so that a new one can begin whatever its numbers are. It returns
// false, and does nothing, if there is neither: nothing came of the SYN yet, or
// it is a connection, and Events tells or told.
func (s *Stack) Forget(peer, local sys.Peer) bool {
	id := stack.TransportEndpointID{
		LocalPort: local.Port, LocalAddress: address(&local.Addr),
		RemotePort: peer.Port, RemoteAddress: address(&peer.Addr),
	}
	found := s.net.FindTransportEndpoint(protocol(&local.Addr), tcp.ProtocolNumber, id, nic)
	ep, ok := found.(*tcp.Endpoint)
	if !ok {
		return false
	}
	switch ep.EndpointState() {
	case tcp.StateSynRecv, tcp.StateTimeWait:
		s.link.muted = &id // of TIME-WAIT netstack makes a reset
		ep.Abort()
		s.link.muted = nil
		return true
	}
	return false
}

// Options is what can be set for a connection.
type Options struct {
	// KeepAlive is how long a connection may be silent before the client is
	// asked whether it is there, three times, 10 s apart; 0 never.
	KeepAlive time.Duration
	// UserTimeout is how long something sent may stay without acknowledgement,
	// or a probe without an answer, or the client's window be shut; 0 means about
	// 15 minutes for the first and no end for the last.
	UserTimeout time.Duration
}

// Probes of keep-alive.
const (
	keepProbes   = 3
	keepInterval = 10 * time.Second
)

// SetOptions sets them.
func (s *Stack) SetOptions(conn uint32, o Options) {
	c := s.conns[conn]
	ep := c.ep
	if o.UserTimeout > 0 {
		c.patience = o.UserTimeout
		v := tcpip.TCPUserTimeoutOption(o.UserTimeout)
		ep.SetSockOpt(&v)
	}
	if o.KeepAlive > 0 { // set last: each option would start the timer anew
		idle, interval := tcpip.KeepaliveIdleOption(o.KeepAlive), tcpip.KeepaliveIntervalOption(keepInterval)
		ep.SetSockOpt(&idle)
		ep.SetSockOpt(&interval)
		ep.SetSockOptInt(tcpip.KeepaliveCountOption, keepProbes)
		ep.SocketOptions().SetKeepAlive(true)
	}
}
