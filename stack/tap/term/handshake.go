package term

import (
	"unsafe"

	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/seqnum"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"

	"penstock/stack/sys"
)

// Advertised returns what SYN-ACKs offer to clients: the largest segment they may
// send, and the shift of our window. Who answers in netstack's name must say the
// same.
func (s *Stack) Advertised(v6 bool) (mss uint16, ws int8) {
	mss = uint16(s.link.mtu) - header.IPv4MinimumSize - header.TCPMinimumSize
	if v6 {
		mss = uint16(s.link.mtu) - header.IPv6MinimumSize - header.TCPMinimumSize
	}
	if s.mss != 0 {
		mss = min(mss, uint16(s.mss))
	}
	return mss, int8(tcp.FindWndScale(seqnum.Size(s.receive)))
}

// Known says whether there is a connection between the two. What is remembered of
// one that is over is none: the client may have begun anew.
func (s *Stack) Known(peer, local sys.Peer) bool {
	found := s.between(peer, local)
	if found == nil {
		return false
	}
	switch found.EndpointState() {
	case tcp.StateListen, tcp.StateTimeWait:
		return false
	}
	return true
}

// between returns what netstack has between the two, the listener if nothing else; nil:
// not even that.
func (s *Stack) between(peer, local sys.Peer) *tcp.Endpoint {
	id := stack.TransportEndpointID{
		LocalPort: local.Port, LocalAddress: address(&local.Addr),
		RemotePort: peer.Port, RemoteAddress: address(&peer.Addr),
	}
	found, _ := s.net.FindTransportEndpoint(protocol(&local.Addr), tcp.ProtocolNumber, id, nic).(*tcp.Endpoint)
	return found
}

// InFlight says whether something with that number was sent in a connection between
// the two and is not acknowledged.
func (s *Stack) InFlight(peer, local sys.Peer, seq uint32) bool {
	ep := s.between(peer, local)
	if ep == nil {
		return false
	}
	snd := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(ep), sndAt))
	if snd == nil { // a listener, or a handshake
		return false
	}
	una, nxt := *(*seqnum.Value)(unsafe.Add(snd, unaAt)), *(*seqnum.Value)(unsafe.Add(snd, nxtAt))
	return seqnum.Value(seq).InRange(una, nxt)
}

// Holds says whether netstack still has the connection. It has not once that
// broke off, if only a moment ago: then another one may begin between the two.
func (s *Stack) Holds(conn uint32) bool {
	c := s.conns[conn]
	local := c.local()
	id := c.ep.TransportEndpointInfo.ID
	found, ok := s.net.FindTransportEndpoint(protocol(&local.Addr), tcp.ProtocolNumber, id, nic).(*tcp.Endpoint)
	return ok && found == c.ep
}
