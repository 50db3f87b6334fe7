package term

import (
	"sync"
	"sync/atomic"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// Link takes the frames that go out: a device.Queue. The pieces of the frame are
// only lent. It may lose frames, which TCP gets over, and hold them back until the
// loop has it write them.
type Link interface {
	SendParts(h *device.VNet, frags [][]byte)
	// Last is the frame that it was given last, if that has not left yet; else nil.
	Last() (h *device.VNet, frame []byte)
}

// Hops knows where frames for an address go: a hop.Table.
type Hops interface {
	To(addr *frame.Addr) (mac frame.MAC, ok bool)
}

// Segment is a TCP segment on its way out.
type Segment struct {
	Src, Dst         frame.Addr
	SrcPort, DstPort uint16
	// Header is the TCP header with its options. It may be changed in place; its
	// length may not.
	Header []byte
	// Partial says that the checksum field has the sum of the pseudo header
	// only. Otherwise who changes something must correct it.
	Partial bool
	Payload int // bytes behind the header
}

const (
	etherSize = 14
	// gsoMost is the largest IP datagram that netstack makes, to be cut into
	// segments by the kernel, or by nobody.
	gsoMost = 65535
	// mostFrags is how many pieces of a frame are given to Link. Netstack
	// appends small writes to a segment as they are, until there are thousands;
	// what has more is copied together.
	mostFrags = 16
)

// link is netstack's link endpoint: Ethernet without address resolution. The
// kernel does the segmentation and the checksums of what has payload.
type link struct {
	// Constant after New.
	to       Link
	hops     Hops
	mac      frame.MAC
	mtu      uint32
	outbound func(*Segment) bool

	// Owned by the loop.
	up stack.NetworkDispatcher // nil before and after the NIC is there

	// trusted says that the frame at hand need not be verified. The NIC asks for
	// it by Capabilities once for each frame, while Inject runs; who else asks
	// does not look at this bit.
	trusted atomic.Bool

	acks  acks      // owned by the loop; see there
	clock *clock    // constant; nil: acks has nothing to do
	one   [1][]byte // for flush

	// muted is a flow of which nothing goes out; see Forget.
	muted *stack.TransportEndpointID

	noHop atomic.Uint64
}

// Capabilities implements stack.LinkEndpoint. There is no
// CapabilityTXChecksumOffload: segments without payload, such as SYN-ACK, would
// then go out without a checksum, and nothing to say so.
func (l *link) Capabilities() stack.LinkEndpointCapabilities {
	if l.trusted.Load() {
		return stack.CapabilityRXChecksumOffload
	}
	return stack.CapabilityNone
}

func (l *link) MTU() uint32                             { return l.mtu }
func (l *link) MaxHeaderLength() uint16                 { return 0 } // ours is a piece of its own
func (l *link) LinkAddress() tcpip.LinkAddress          { return tcpip.LinkAddress(l.mac[:]) }
func (l *link) Attach(d stack.NetworkDispatcher)        { l.up = d }
func (l *link) IsAttached() bool                        { return l.up != nil }
func (l *link) ARPHardwareType() header.ARPHardwareType { return header.ARPHardwareEther }
func (l *link) SupportedGSO() stack.SupportedGSO        { return stack.HostGSOSupported }
func (l *link) GSOMaxSize() uint32                      { return gsoMost }
func (l *link) ParseHeader(*stack.PacketBuffer) bool    { return true }
func (l *link) AddHeader(*stack.PacketBuffer)           {}
func (l *link) SetLinkAddress(tcpip.LinkAddress)        {}
func (l *link) SetMTU(uint32)                           {}
func (l *link) SetOnCloseAction(func())                 {}
func (l *link) Wait()                                   {}
func (l *link) Close()                                  {}

// WritePackets implements stack.LinkWriter. What could not be sent counts as
// sent, and lost.
func (l *link) WritePackets(list stack.PacketBufferList) (int, tcpip.Error) {
	for _, pkt := range list.AsSlice() {
		l.write(pkt)
	}
	return list.Len(), nil
}

// outgoing is what writing a frame takes, kept so that it allocates nothing.
type outgoing struct {
	vnet  device.VNet
	seg   Segment
	ether [etherSize]byte
	frags [][]byte
	whole []byte // the payload of a segment of many pieces
}

var outgoings = sync.Pool{New: func() any {
	return &outgoing{frags: make([][]byte, 0, mostFrags)}
}}

// write sends a packet, whose buffers stay netstack's.
func (l *link) write(pkt *stack.PacketBuffer) {
	o := outgoings.Get().(*outgoing)
	if l.head(o, pkt) {
		if pkt.TransportProtocolNumber == header.TCPProtocolNumber && (l.hold(o, pkt) || l.joinFIN(o, pkt)) {
			outgoings.Put(o)
			return
		}
		o.collect(pkt)
		l.to.SendParts(&o.vnet, o.frags)
	}
	clear(o.frags) // they point into packets
	o.frags = o.frags[:0]
	outgoings.Put(o)
}

// head makes the headers; false if the packet is not to be sent.
func (l *link) head(o *outgoing, pkt *stack.PacketBuffer) bool {
	s := &o.seg
	ip := pkt.NetworkHeader().Slice()
	if pkt.NetworkProtocolNumber == header.IPv6ProtocolNumber {
		s.Src, s.Dst = frame.Addr(ip[8:24]), frame.Addr(ip[24:40])
	} else {
		s.Src, s.Dst = mapped(ip[12:16]), mapped(ip[16:20])
	}
	to, ok := l.hops.To(&s.Dst)
	if !ok {
		l.noHop.Add(1)
		return false
	}
	copy(o.ether[:], to[:])
	copy(o.ether[6:], l.mac[:])
	o.ether[12] = byte(pkt.NetworkProtocolNumber >> 8)
	o.ether[13] = byte(pkt.NetworkProtocolNumber)
	o.offload(pkt)
	if pkt.TransportProtocolNumber != header.TCPProtocolNumber {
		return true
	}
	if m := l.muted; m != nil && s.of(m, header.TCP(pkt.TransportHeader().Slice())) {
		return false
	}
	return l.outbound == nil || !l.filter(o, pkt)
}

func mapped(ip []byte) (a frame.Addr) {
	a[10], a[11] = 0xff, 0xff
	copy(a[12:], ip)
	return a
}

// offload says what is left to the kernel.
func (o *outgoing) offload(pkt *stack.PacketBuffer) {
	o.vnet = device.VNet{}
	g := &pkt.GSOOptions
	if g.Type == stack.GSONone {
		return
	}
	if g.NeedsCsum {
		o.vnet.Flags = device.NeedsCsum
		o.vnet.CsumStart = etherSize + g.L3HdrLen
		o.vnet.CsumOffset = g.CsumOffset
	}
	if pkt.Data().Size() <= int(g.MSS) {
		return
	}
	o.vnet.GSO = device.GSOTCP4
	if g.Type == stack.GSOTCPv6 {
		o.vnet.GSO = device.GSOTCP6
	}
	o.vnet.GSOSize = g.MSS
	o.vnet.HdrLen = uint16(etherSize + pkt.HeaderSize())
}

// filter asks the owner whether to drop a TCP segment.
func (l *link) filter(o *outgoing, pkt *stack.PacketBuffer) (drop bool) {
	s := &o.seg
	s.Header = pkt.TransportHeader().Slice()
	s.SrcPort, s.DstPort = header.TCP(s.Header).SourcePort(), header.TCP(s.Header).DestinationPort()
	s.Partial = o.vnet.Flags&device.NeedsCsum != 0
	s.Payload = pkt.Data().Size()
	drop = l.outbound(s)
	s.Header = nil
	return drop
}

// of says whether a segment with header h belongs to a flow.
func (s *Segment) of(id *stack.TransportEndpointID, h header.TCP) bool {
	return *id == stack.TransportEndpointID{
		LocalPort: h.SourcePort(), LocalAddress: address(&s.Src),
		RemotePort: h.DestinationPort(), RemoteAddress: address(&s.Dst),
	}
}

// collect lists the pieces of the frame.
func (o *outgoing) collect(pkt *stack.PacketBuffer) {
	o.frags = append(o.frags, o.ether[:])
	views, skip := pkt.AsViewList()
	for v := views.Front(); v != nil; v = v.Next() {
		b := v.AsSlice()
		if skip >= len(b) {
			skip -= len(b)
			continue
		}
		if len(o.frags) == mostFrags {
			o.frags[mostFrags-1] = o.join(o.frags[mostFrags-1], b[skip:])
		} else {
			o.frags = append(o.frags, b[skip:])
		}
		skip = 0
	}
}

// join appends b to the last piece of the frame, which is moved to where there
// is room for all of it.
func (o *outgoing) join(last, b []byte) []byte {
	if len(o.whole) == 0 || len(last) == 0 || &o.whole[0] != &last[0] {
		if cap(o.whole) < gsoMost {
			o.whole = make([]byte, 0, gsoMost+1)
		}
		last = append(o.whole[:0], last...)
	}
	last = append(last, b...)
	o.whole = last[:1]
	return last
}
