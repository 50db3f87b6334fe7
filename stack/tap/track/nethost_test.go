package track

import (
	"bytes"
	"io"
	"net/netip"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"

	"penstock/stack/tap/frame"
)

// netHost is a host with netstack on a link whose other end is the test's.
type netHost struct {
	net *stack.Stack
	up  stack.NetworkDispatcher
	out func(b []byte) // any goroutine
}

const (
	nic     = 1
	ethSize = 14
)

var (
	linkMAC = frame.MAC{2, 0, 0, 0, 0, 1}
	addrs   = [2]netip.Addr{netip.MustParseAddr("198.18.0.2"), netip.MustParseAddr("198.18.0.1")}
)

func newNetHost(clock tcpip.Clock, addr netip.Addr, out func([]byte)) *netHost {
	h := &netHost{out: out, net: stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
		Clock:              clock,
	})}
	must(h.net.CreateNIC(nic, netLink{h}))
	must(h.net.AddProtocolAddress(nic, tcpip.ProtocolAddress{
		Protocol: header.IPv4ProtocolNumber, AddressWithPrefix: tcpip.AddrFrom4(addr.As4()).WithPrefix(),
	}, stack.AddressProperties{}))
	h.net.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}})
	wait := tcpip.TCPTimeWaitTimeoutOption(2e9)
	must(h.net.SetTransportProtocolOption(tcp.ProtocolNumber, &wait))
	size := tcpip.TCPReceiveBufferSizeRangeOption{Min: 4096, Default: 8192, Max: 1 << 20}
	must(h.net.SetTransportProtocolOption(tcp.ProtocolNumber, &size))
	return h
}

func must(err tcpip.Error) {
	if err != nil {
		panic(err.String())
	}
}

// receive takes a frame.
func (h *netHost) receive(b []byte) {
	pkt := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(bytes.Clone(b[ethSize:]))})
	h.up.DeliverNetworkPacket(header.IPv4ProtocolNumber, pkt)
	pkt.DecRef()
}

// settle returns when netstack has handled what it was given: it is idle when it pauses.
func (h *netHost) settle() {
	h.net.Pause()
	h.net.Resume()
}

// sock is a socket of netstack's.
type sock struct {
	tcpip.Endpoint
	port uint16 // of the client
}

func (h *netHost) socket() sock {
	ep, err := h.net.NewEndpoint(tcp.ProtocolNumber, header.IPv4ProtocolNumber, new(waiter.Queue))
	must(err)
	return sock{Endpoint: ep}
}

// connect begins to, from a port, if that is free.
func (h *netHost) connect(port uint16) (s sock, ok bool) {
	s = h.socket()
	s.port = port
	if s.Bind(tcpip.FullAddress{Addr: tcpip.AddrFrom4(addrs[Client].As4()), Port: port}) != nil {
		s.Close()
		return s, false
	}
	_, ok = s.Connect(tcpip.FullAddress{Addr: tcpip.AddrFrom4(addrs[Server].As4()), Port: serverPort}).(*tcpip.ErrConnectStarted)
	if !ok {
		s.Close()
	}
	return s, ok
}

func (h *netHost) listen() sock {
	s := h.socket()
	must(s.Bind(tcpip.FullAddress{Port: serverPort}))
	must(s.Listen(1000))
	return s
}

func (s sock) accept() (a sock, ok bool) {
	var from tcpip.FullAddress
	ep, _, err := s.Accept(&from)
	if err != nil {
		return a, false
	}
	return sock{ep, from.Port}, true
}

func (s sock) state() tcp.EndpointState { return tcp.EndpointState(s.State()) }

// live says whether it is a connection whose end has not been seen by both.
func (s sock) live() bool {
	switch s.state() {
	case tcp.StateEstablished, tcp.StateFinWait1, tcp.StateFinWait2, tcp.StateCloseWait:
		return true
	}
	return false
}

func (s sock) write(n int) { s.Write(bytes.NewReader(make([]byte, n)), tcpip.WriteOptions{}) }

func (s sock) read() {
	for {
		if r, err := s.Read(io.Discard, tcpip.ReadOptions{}); err != nil || r.Count == 0 {
			return
		}
	}
}

// abort closes with a reset.
func (s sock) abort() {
	s.SocketOptions().SetLinger(tcpip.LingerOption{Enabled: true})
	s.Close()
}

// netLink is a host's end of the link.
type netLink struct{ *netHost }

// WritePackets implements stack.LinkWriter.
func (l netLink) WritePackets(list stack.PacketBufferList) (int, tcpip.Error) {
	for _, pkt := range list.AsSlice() {
		b := append(append(append(make([]byte, 0, 1600), linkMAC[:]...), 2, 0, 0, 0, 0, 9), 8, 0)
		for _, part := range pkt.AsSlices() {
			b = append(b, part...)
		}
		l.out(b)
	}
	return list.Len(), nil
}

func (l netLink) MTU() uint32                                  { return 1500 }
func (l netLink) SetMTU(uint32)                                {}
func (l netLink) MaxHeaderLength() uint16                      { return 0 }
func (l netLink) LinkAddress() tcpip.LinkAddress               { return tcpip.LinkAddress(linkMAC[:]) }
func (l netLink) SetLinkAddress(tcpip.LinkAddress)             {}
func (l netLink) Capabilities() stack.LinkEndpointCapabilities { return stack.CapabilityNone }
func (l netLink) Attach(d stack.NetworkDispatcher)             { l.up = d }
func (l netLink) IsAttached() bool                             { return l.up != nil }
func (l netLink) Wait()                                        {}
func (l netLink) ARPHardwareType() header.ARPHardwareType      { return header.ARPHardwareNone }
func (l netLink) AddHeader(*stack.PacketBuffer)                {}
func (l netLink) ParseHeader(*stack.PacketBuffer) bool         { return true }
func (l netLink) Close()                                       {}
func (l netLink) SetOnCloseAction(func())                      {}
