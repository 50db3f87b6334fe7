package tap

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip/checksum"

	"penstock/stack/tap/frame"
	"penstock/stack/tap/track"
)

// lastHop has a frame of IPv4 have no hop left behind us.
func lastHop(b []byte) []byte {
	h := b[linkSize : linkSize+20]
	h[8] = 1
	binary.BigEndian.PutUint16(h[10:], 0)
	binary.BigEndian.PutUint16(h[10:], ^checksum.Checksum(h, 0))
	return b
}

// Bytes that can't be passed on at first, and are sent again, count: once.
func TestForwardBytesLostHere(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.establish()
	n := r.NextFlow(0)
	r.dev.Send(lastHop(c.segment(frame.ACK, "request")))
	r.noneServer("it has gone too far")
	c.say(s, "request")
	s.say(c, "response")
	if up, down := r.Flow(n).Bytes(track.Client), r.Flow(n).Bytes(track.Server); up != 7 || down != 8 || r.carried != [2]int{7, 8} {
		t.Errorf("%d bytes up, %d down, carried %v", up, down, r.carried)
	}
	r.told = nil
}

// A client's reset that comes twice, as hosts send one for each segment that they do
// not want, is no stranger's.
func TestForwardResetTwice(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	c.establish()
	c.send(frame.RST|frame.ACK, "")
	c.send(frame.RST|frame.ACK, "")
	if n := r.totals().SpoofedResets; n != 0 {
		t.Errorf("%d spoofed resets", n)
	}
	c.sendAt(c.seq+100_000_000, 0, frame.RST)
	if n := r.totals().SpoofedResets; n != 1 {
		t.Errorf("%d spoofed resets, want 1", n)
	}
	r.told = nil
}
