package term

import (
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// acks holds acknowledgements of requests back for a moment: the response
// mostly follows at once, and has them with it. Netstack knows no delayed
// acknowledgements (RFC 9293 3.8.6.3), and each segment to the device costs
// as much as a system call and the client's TCP.
//
// Held back is what acknowledges a lone piece of data of at most a segment's
// size, and nothing else: no second one (a client may wait for it to send
// more), nothing that says something of losses or windows. It goes out after
// ackDelay, unless any other segment of the connection does before.
type acks struct {
	fresh []fresh // data that came in since netstack last had its turn
	held  []heldAck
}

const (
	ackDelay = int64(2e6) // nanoseconds
	mostHeld = 64         // more are sent at once: they are looked for one by one
	onePiece = 1460       // bytes; of more the client may wait for an acknowledgement
)

// fresh is a piece of data that came in.
type fresh struct {
	peer  frame.Addr
	ports uint32 // the client's, and ours
	end   uint32 // number behind it
	more  bool   // there were others of its connection
}

// heldAck is an acknowledgement that waits.
type heldAck struct {
	peer  frame.Addr
	ports uint32
	due   int64
	vnet  device.VNet
	size  int
	frame [etherSize + header.IPv6MinimumSize + ackHeader]byte
}

// ackHeader is the TCP header of an acknowledgement with timestamps only.
const ackHeader = header.TCPMinimumSize + 12

// Arriving tells of a segment that is injected next, if it has data: its
// acknowledgement may wait for what is sent in return.
func (s *Stack) Arriving(p *frame.Packet) {
	a := &s.link.acks
	if p.End == p.Data || s.clock == nil {
		return
	}
	f := fresh{peer: p.Src, ports: uint32(p.SrcPort)<<16 | uint32(p.DstPort), end: p.Seq + uint32(p.End-p.Data)}
	for i := range a.fresh {
		if x := &a.fresh[i]; x.ports == f.ports && x.peer == f.peer {
			x.more = true
			return
		}
	}
	f.more = p.End-p.Data > onePiece || p.Flags&^(frame.ACK|frame.PSH) != 0
	if len(a.fresh) < mostHeld {
		a.fresh = append(a.fresh, f)
	}
}

// hold keeps an outgoing segment back, if it is one of those that may be, and
// forgets one of its connection that was.
func (l *link) hold(o *outgoing, pkt *stack.PacketBuffer) bool {
	a := &l.acks
	if len(a.fresh) == 0 && len(a.held) == 0 {
		return false
	}
	h := header.TCP(pkt.TransportHeader().Slice())
	ports := uint32(h.DestinationPort())<<16 | uint32(h.SourcePort())
	again := a.forget(&o.seg.Dst, ports)
	if h.Flags() != header.TCPFlagAck || len(h) > ackHeader || pkt.Data().Size() > 0 || again || len(a.held) == mostHeld {
		return false
	}
	for i := range a.fresh {
		if f := &a.fresh[i]; f.ports == ports && f.end == h.AckNumber() && !f.more && f.peer == o.seg.Dst {
			a.keep(o, pkt, ports, l.clock.now())
			return true
		}
	}
	return false
}

// forget drops the acknowledgement of a connection that is held, and says whether
// there was one.
func (a *acks) forget(peer *frame.Addr, ports uint32) bool {
	for i := range a.held {
		if x := &a.held[i]; x.ports == ports && x.peer == *peer {
			a.drop(i)
			return true
		}
	}
	return false
}

// drop takes one out; the last takes its place.
func (a *acks) drop(i int) {
	last := len(a.held) - 1
	a.held[i] = a.held[last]
	a.held = a.held[:last]
}

// keep takes a copy of the frame.
func (a *acks) keep(o *outgoing, pkt *stack.PacketBuffer, ports uint32, now int64) {
	a.held = append(a.held, heldAck{peer: o.seg.Dst, ports: ports, due: now + ackDelay, vnet: o.vnet})
	x := &a.held[len(a.held)-1]
	x.size = copy(x.frame[:], o.ether[:])
	x.size += copy(x.frame[x.size:], pkt.NetworkHeader().Slice())
	x.size += copy(x.frame[x.size:], pkt.TransportHeader().Slice())
}

// flush sends what has been held long enough.
func (l *link) flush(now int64) {
	a := &l.acks
	a.fresh = a.fresh[:0]
	for i := 0; i < len(a.held); {
		x := &a.held[i]
		if x.due > now {
			i++
			continue
		}
		l.one[0] = x.frame[:x.size]
		l.to.SendParts(&x.vnet, l.one[:])
		a.drop(i)
	}
}

// next is when flush has something to do; 0 never.
func (a *acks) next() (at int64) {
	for i := range a.held {
		if at == 0 || a.held[i].due < at {
			at = a.held[i].due
		}
	}
	return at
}
