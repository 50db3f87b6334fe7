package term

import (
	"bytes"

	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"

	"penstock/stack/tap/device"
)

// joinFIN puts a FIN into the segment before it, if that is held back still: a
// response and the end behind it come from the server at once more often than not.
// Netstack makes two segments of them, as two calls made them; each costs the way
// through the device and the client's TCP. What netstack repeats, it repeats as it
// made them, which is the same bytes.
func (l *link) joinFIN(o *outgoing, pkt *stack.PacketBuffer) bool {
	fin := header.TCP(pkt.TransportHeader().Slice())
	if fin.Flags() != header.TCPFlagFin|header.TCPFlagAck || pkt.Data().Size() > 0 {
		return false
	}
	h, b := l.to.Last()
	// With the checksum left to the kernel there is nothing to correct.
	if b == nil || h.GSO != device.GSONone || h.Flags&device.NeedsCsum == 0 {
		return false
	}
	at, ip := int(h.CsumStart), pkt.NetworkHeader().Slice()
	if at != etherSize+len(ip) || len(b) < at+len(fin) || !bytes.Equal(b[:etherSize], o.ether[:]) || !sameEnds(b[etherSize:], ip) {
		return false
	}
	data := header.TCP(b[at:])
	switch {
	case data.SourcePort() != fin.SourcePort(), data.DestinationPort() != fin.DestinationPort():
	case data.Flags()&^header.TCPFlagPsh != header.TCPFlagAck, int(data.DataOffset()) != len(fin):
	case data.SequenceNumber()+uint32(len(b)-at-len(fin)) != fin.SequenceNumber():
	default:
		data.SetFlags(uint8(data.Flags() | header.TCPFlagFin))
		data.SetAckNumber(fin.AckNumber())
		data.SetWindowSize(fin.WindowSize())
		copy(data[header.TCPMinimumSize:], fin[header.TCPMinimumSize:])
		return true
	}
	return false
}

// sameEnds says whether two IP headers have the same addresses.
func sameEnds(a, b []byte) bool {
	if len(b) == header.IPv6MinimumSize {
		return bytes.Equal(a[8:40], b[8:40])
	}
	return bytes.Equal(a[12:20], b[12:20])
}
