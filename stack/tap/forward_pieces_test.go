package tap

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip/checksum"

	"penstock/stack/tap/frame"
)

// pieces cuts an IPv4 frame in two.
func pieces(b []byte) [][]byte {
	const ip, data, cut = linkSize, linkSize + 20, 24
	b = append([]byte(nil), b...)
	first := append([]byte(nil), b[:data+cut]...)
	second := append(append([]byte(nil), b[:data]...), b[data+cut:]...)
	for i, p := range [][]byte{first, second} {
		binary.BigEndian.PutUint16(p[ip+2:], uint16(len(p)-linkSize))
		binary.BigEndian.PutUint16(p[ip+4:], 77)
		binary.BigEndian.PutUint16(p[ip+6:], []uint16{1 << 13, cut / 8}[i])
		binary.BigEndian.PutUint16(p[ip+10:], 0)
		binary.BigEndian.PutUint16(p[ip+10:], ^checksum.Checksum(p[ip:data], 0))
	}
	return [][]byte{first, second}
}

// Netstack puts pieces of datagrams together, and knows nothing of what is forwarded:
// it must not reset it.
func TestForwardPieces(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.establish()
	for _, b := range pieces(c.segment(frame.ACK, "twenty-four bytes, and more")) {
		r.dev.Send(b)
	}
	c.none("a segment in pieces")
	c.say(s, "whole")
	c = r.client(2)
	for _, b := range pieces(c.segment(frame.SYN, "")) {
		r.dev.Send(b)
	}
	c.none("a SYN in pieces")
	r.noneServer("a SYN in pieces")
}
