package rewrite

import (
	"encoding/binary"
	"math/bits"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

var be = binary.BigEndian

// Options of TCP, and where they begin.
const (
	optEnd = 0
	optNop = 1
	optMSS = 2

	tcpSize = 20
)

// ClampMSS lowers the MSS that a SYN or SYN-ACK announces to most, and corrects
// the checksum; a smaller one stays, and so does zero, which Linux takes for none.
// Where there is none none is added: then 536 holds, or 1220 for IPv6 (RFC 9293
// 3.7.1). b is the frame, or at least all of its headers. It may be called before
// or after Segment.
func ClampMSS(b []byte, p *frame.Packet, h *device.VNet, most uint16) {
	if p.Flags&frame.SYN == 0 {
		return
	}
	for list := b[p.L4+tcpSize : p.Data]; len(list) > 0 && list[0] != optEnd; {
		if list[0] == optNop {
			list = list[1:]
			continue
		}
		if len(list) < 2 || list[1] < 2 || int(list[1]) > len(list) {
			return
		}
		if list[0] == optMSS && list[1] == 4 {
			if mss := be.Uint16(list[2:]); mss > most {
				be.PutUint16(list[2:], most)
				changed(b, p, h, p.Data-len(list), mss, most)
			}
		}
		list = list[list[1]:]
	}
}

// changed corrects TCP's checksum by a word at some offset into the frame. One
// that is left to the device has only the pseudo header's sum in it.
func changed(b []byte, p *frame.Packet, h *device.VNet, at int, old, new uint16) {
	if h.Flags&device.NeedsCsum != 0 {
		return
	}
	if at&1 != 0 { // headers before TCP's are of even size
		old, new = bits.ReverseBytes16(old), bits.ReverseBytes16(new)
	}
	var d frame.Delta
	d.Swap16(old, new)
	sum := b[p.L4+tcpSum:]
	be.PutUint16(sum, d.Apply(be.Uint16(sum)))
}
