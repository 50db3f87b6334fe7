package term

import (
	"encoding/binary"

	"gvisor.dev/gvisor/pkg/tcpip/checksum"

	"penstock/stack/tap/device"
)

// cut does what the kernel does with a frame before it goes out on a real link:
// by the vnet header alone it makes segments and checksums.
func cut(p packet) (list []packet) {
	v := p.vnet
	if v.Flags&device.NeedsCsum == 0 {
		return []packet{p}
	}
	if v.GSO == device.GSONone {
		complete(p.b, int(v.CsumStart), int(v.CsumOffset))
		return []packet{{b: p.b}}
	}
	head, data := p.b[:v.HdrLen], p.b[v.HdrLen:]
	for at := 0; at < len(data); at += int(v.GSOSize) {
		piece := data[at:min(at+int(v.GSOSize), len(data))]
		b := append(append([]byte(nil), head...), piece...)
		segment(b, at, at+len(piece) == len(data), &v)
		list = append(list, packet{b: b})
	}
	return list
}

// segment turns the copied header of a large frame into that of one segment.
func segment(b []byte, at int, last bool, v *device.VNet) {
	be := binary.BigEndian
	tcp := int(v.CsumStart)
	n := len(b) - tcp
	was := 0 // what the pseudo header's sum has
	if v.GSO == device.GSOTCP4 {
		ip := b[etherSize:]
		was = int(be.Uint16(ip[2:])) - 20
		be.PutUint16(ip[2:], uint16(20+n))
		be.PutUint16(ip[10:], 0)
		be.PutUint16(ip[10:], ^checksum.Checksum(ip[:20], 0))
	} else {
		was = int(be.Uint16(b[etherSize+4:]))
		be.PutUint16(b[etherSize+4:], uint16(n))
	}
	be.PutUint32(b[tcp+4:], be.Uint32(b[tcp+4:])+uint32(at))
	if !last {
		b[tcp+13] &^= 1 | 8 // FIN, PSH
	}
	sum := be.Uint16(b[tcp+16:])
	sum = checksum.Combine(checksum.Combine(sum, ^uint16(was)), uint16(n))
	be.PutUint16(b[tcp+16:], sum)
	complete(b, tcp, int(v.CsumOffset))
}

// complete puts in the checksum of all from start on.
func complete(b []byte, start, offset int) {
	sum := ^checksum.Checksum(b[start:], 0)
	binary.BigEndian.PutUint16(b[start+offset:], sum)
}
