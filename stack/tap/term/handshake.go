package term

import (
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
	id := stack.TransportEndpointID{
		LocalPort: local.Port, LocalAddress: address(&local.Addr),
		RemotePort: peer.Port, RemoteAddress: address(&peer.Addr),
	}
	found, ok := s.net.FindTransportEndpoint(protocol(&local.Addr), tcp.ProtocolNumber, id, nic).(*tcp.Endpoint)
	if !ok {
		return false
	}
	switch found.EndpointState() {
	case tcp.StateListen, tcp.StateTimeWait:
		return false
	}
	return true
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
