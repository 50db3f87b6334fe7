package tap

import (
	"encoding/binary"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/checksum"

	"penstock/stack/tap/frame"
)

// optioned is a frame with an option, or an extension header, of IP that says nothing.
func optioned(b []byte) []byte {
	head, put := 34, []byte{1, 1, 1, 1}
	if b[12] == 0x86 {
		head, put = 54, []byte{b[20], 0, 1, 4, 0, 0, 0, 0}
	}
	out := append(append(append([]byte(nil), b[:head]...), put...), b[head:]...)
	if ip := out[linkSize:]; head == 54 {
		ip[6] = 60
		binary.BigEndian.PutUint16(ip[4:], binary.BigEndian.Uint16(ip[4:])+8)
	} else {
		ip[0]++
		binary.BigEndian.PutUint16(ip[2:], binary.BigEndian.Uint16(ip[2:])+4)
		resum4(ip[:24])
	}
	return out
}

func resum4(ip []byte) {
	ip[10], ip[11] = 0, 0
	binary.BigEndian.PutUint16(ip[10:], ^checksum.Checksum(ip, 0))
}

// cutUp returns the two that an IPv4 frame is cut into.
func cutUp(b []byte) (list [][]byte) {
	const head, first = 34, 16
	for _, x := range [][2]int{{0, first}, {first, len(b) - head}} {
		p := append(append([]byte(nil), b[:head]...), b[head+x[0]:head+x[1]]...)
		ip := p[linkSize:]
		binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
		binary.BigEndian.PutUint16(ip[4:], 77)
		binary.BigEndian.PutUint16(ip[6:], uint16(x[0]/8))
		if x[0] == 0 {
			ip[6] |= 0x20
		}
		resum4(ip[:20])
		list = append(list, p)
	}
	return list
}

// A SYN that netstack finds where we do not look, behind options of IP or in pieces,
// is not answered, and leaves nothing behind: nobody gave it a slot, and netstack's
// room for such has no end.
func TestUninvited(t *testing.T) {
	r := newRig(t)
	r.listen(web6, Virtual{Listen: at6})
	r.dev.Take()
	four, six, cut := r.client(1), r.client6(2), r.client(3)
	frames := append(cutUp(cut.segment(frame.SYN, "")), optioned(four.segment(frame.SYN, "")), optioned(six.segment(frame.SYN, "")))
	for range 3 {
		for _, b := range frames {
			r.dev.Send(append([]byte(nil), b...))
		}
		r.settle()
		for _, c := range []*client{four, six, cut} {
			c.none("not invited")
			if r.net.Known(c.peer(), c.local()) {
				t.Errorf("netstack has a handshake with %v", c.peer())
			}
		}
		r.netTime += 5 * time.Second
	}
	r.want()
	for _, c := range []*client{four, six, cut} { // which may come as others do
		r.released(c)
		conn := c.connect()
		c.r.dev.Send(optioned(c.segment(frame.ACK|frame.PSH, "said")))
		b := make([]byte, 9)
		r.until("data", func() bool { n, _ := r.Conns().Recv(conn, b); return string(b[:n]) == "said" })
		r.want("connected")
		r.hangup(conn, false, r.now)
	}
}
