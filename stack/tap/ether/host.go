package ether

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv6"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"

	"penstock/stack/tap/frame"
)

// Host is somebody on the link that speaks TCP. It does and verifies all
// checksums itself.
type Host struct {
	d    *Device
	net  *stack.Stack
	addr frame.Addr
	up   stack.NetworkDispatcher
	gone atomic.Bool
}

const nic = 1

// Host adds a host with an address.
func (d *Device) Host(a netip.Addr) (*Host, error) {
	h := &Host{d: d, addr: a.As16(), net: stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol, ipv6.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
	})}
	err := h.net.CreateNIC(nic, link{h})
	if err == nil {
		pa := tcpip.ProtocolAddress{Protocol: h.protocol(), AddressWithPrefix: address(h.addr).WithPrefix()}
		err = h.net.AddProtocolAddress(nic, pa, stack.AddressProperties{})
	}
	if err != nil {
		h.net.Destroy()
		return nil, errors.New(err.String())
	}
	h.net.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}, {Destination: header.IPv6EmptySubnet, NIC: nic}})
	// It comes again from a port as soon as it likes to.
	timeWait := tcpip.TCPTimeWaitTimeoutOption(0)
	h.net.SetTransportProtocolOption(tcp.ProtocolNumber, &timeWait)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hosts[h.addr] = h
	return h, nil
}

// Dial connects, from a port or (0) from any. ctx ends the attempt.
func (h *Host) Dial(ctx context.Context, port uint16, to netip.AddrPort) (*gonet.TCPConn, error) {
	from := tcpip.FullAddress{NIC: nic, Addr: address(h.addr), Port: port}
	return gonet.DialTCPWithBind(ctx, h.net, from, tcpip.FullAddress{NIC: nic, Addr: address(to.Addr().As16()), Port: to.Port()}, h.protocol())
}

// Listen has the host take connections on a port. The caller closes the listener.
func (h *Host) Listen(port uint16) (*gonet.TCPListener, error) {
	return gonet.ListenTCP(h.net, tcpip.FullAddress{NIC: nic, Addr: address(h.addr), Port: port}, h.protocol())
}

// Vanish takes the host off the link, without a word. Nobody misses it.
func (h *Host) Vanish() { h.gone.Store(true) }

// Retransmits is how many segments the host has sent again.
func (h *Host) Retransmits() uint64 { return h.net.Stats().TCP.Retransmits.Value() }

// Connected is how many connections the host has, those included of which it has
// closed its side and waits for that to be acknowledged.
func (h *Host) Connected() int { return int(h.net.Stats().TCP.CurrentConnected.Value()) }

// BadChecksums is how many segments it got that were damaged.
func (h *Host) BadChecksums() uint64 { return h.net.Stats().TCP.ChecksumErrors.Value() }

func (h *Host) protocol() tcpip.NetworkProtocolNumber {
	if frame.Is4(&h.addr) {
		return header.IPv4ProtocolNumber
	}
	return header.IPv6ProtocolNumber
}

func address(a frame.Addr) tcpip.Address {
	return tcpip.AddrFromSlice(netip.AddrFrom16(a).Unmap().AsSlice())
}

// receive takes a frame from the device.
func (h *Host) receive(b []byte) {
	if h.gone.Load() || len(b) < etherSize {
		return
	}
	pkt := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(b[etherSize:])})
	h.up.DeliverNetworkPacket(tcpip.NetworkProtocolNumber(b[12])<<8|tcpip.NetworkProtocolNumber(b[13]), pkt)
	pkt.DecRef()
}

const etherSize = 14

// link is a host's end of the link.
type link struct{ *Host }

// WritePackets implements stack.LinkWriter.
func (l link) WritePackets(list stack.PacketBufferList) (int, tcpip.Error) {
	for _, pkt := range list.AsSlice() {
		if l.gone.Load() {
			break
		}
		b := make([]byte, 0, etherSize+pkt.Size())
		b = append(append(append(b, Own[:]...), Router[:]...), byte(pkt.NetworkProtocolNumber>>8), byte(pkt.NetworkProtocolNumber))
		for _, part := range pkt.AsSlices() {
			b = append(b, part...)
		}
		l.d.Send(b)
	}
	return list.Len(), nil
}

func (l link) MTU() uint32                                  { return MTU }
func (l link) SetMTU(uint32)                                {}
func (l link) MaxHeaderLength() uint16                      { return 0 }
func (l link) LinkAddress() tcpip.LinkAddress               { return tcpip.LinkAddress(Router[:]) }
func (l link) SetLinkAddress(tcpip.LinkAddress)             {}
func (l link) Capabilities() stack.LinkEndpointCapabilities { return stack.CapabilityNone }
func (l link) Attach(d stack.NetworkDispatcher)             { l.up = d }
func (l link) IsAttached() bool                             { return l.up != nil }
func (l link) Wait()                                        {}
func (l link) ARPHardwareType() header.ARPHardwareType      { return header.ARPHardwareEther }
func (l link) AddHeader(*stack.PacketBuffer)                {}
func (l link) ParseHeader(*stack.PacketBuffer) bool         { return true }
func (l link) Close()                                       {}
func (l link) SetOnCloseAction(func())                      {}
