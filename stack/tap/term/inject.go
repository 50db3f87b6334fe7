package term

import (
	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
)

const (
	// headSize is how much of a frame is read to where its headers are looked
	// at; most frames fit.
	headSize = 2048
	// chunkSize is the largest buffer that netstack keeps a pool of. It holds
	// any IP datagram, but not its Ethernet header as well.
	chunkSize = buffer.MaxChunkSize
	// copyMost is how large a frame may be to be copied. Any that is not copied
	// takes a whole chunk, for as long as nobody reads it.
	copyMost = chunkSize / 2
)

// room is where frames are read to. A chunk has space in front for what is in
// head, so that a large frame comes to lie in one piece.
type room struct {
	head [headSize]byte
	tail *buffer.View // nil: to be taken from the pool
}

// Room returns where the next frame is to be read to: first head, and tail when
// that is full. Both are the Stack's again with InjectRoom, or Room.
func (s *Stack) Room() (head, tail []byte) {
	r := &s.room
	if r.tail == nil {
		r.tail = unclear(chunkSize)
	}
	return r.head[:], r.tail.AsSlice()[headSize-etherSize:]
}

// InjectRoom hands over the frame of n bytes that was read into Room. A large
// one is not copied. checked says that its checksum is right, or was left to
// the device; otherwise it is verified.
func (s *Stack) InjectRoom(n int, checked bool) {
	r := &s.room
	switch {
	case n <= headSize:
		s.Inject(r.head[:n], checked)
		return
	case n > etherSize+chunkSize:
		s.oversize.Add(1)
		return
	}
	whole := r.tail.AsSlice()
	copy(whole, r.head[etherSize:])
	n -= etherSize
	proto := protocolOf(r.head[:])
	if n <= copyMost {
		s.deliver(proto, copied(whole[:n]), checked)
		return
	}
	v := r.tail
	r.tail = nil
	v.CapLength(n)
	s.deliver(proto, v, checked)
}

// Inject hands over a copy of a frame.
func (s *Stack) Inject(b []byte, checked bool) {
	if len(b) > etherSize {
		s.deliver(protocolOf(b), copied(b[etherSize:]), checked)
	}
}

func protocolOf(b []byte) tcpip.NetworkProtocolNumber {
	return tcpip.NetworkProtocolNumber(b[12])<<8 | tcpip.NetworkProtocolNumber(b[13])
}

// deliver gives an IP datagram to netstack, and v with it.
func (s *Stack) deliver(proto tcpip.NetworkProtocolNumber, v *buffer.View, checked bool) {
	l := &s.link
	if proto != header.IPv4ProtocolNumber && proto != header.IPv6ProtocolNumber || l.up == nil {
		v.Release()
		return
	}
	if checked != s.trusted {
		s.trusted = checked
		l.trusted.Store(checked)
	}
	pkt := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithView(v)})
	l.up.DeliverNetworkPacket(proto, pkt)
	pkt.DecRef()
}
