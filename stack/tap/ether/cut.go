package ether

import (
	"bytes"

	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// cut makes segments of a frame that is to be cut up.
func cut(h *device.VNet, b []byte) (all [][]byte) {
	head, data := b[:h.HdrLen], b[h.HdrLen:]
	for at := 0; at < len(data); at += int(h.GSOSize) {
		piece := data[at:min(at+int(h.GSOSize), len(data))]
		s := bytes.Join([][]byte{head, piece}, nil)
		seg := header.TCP(s[h.CsumStart:])
		seg.SetSequenceNumber(seg.SequenceNumber() + uint32(at))
		if at+len(piece) < len(data) {
			seg.SetFlags(uint8(seg.Flags()) &^ (frame.FIN | frame.PSH))
		}
		resum(s, seg)
		all = append(all, s)
	}
	return all
}

// resum puts lengths and checksums right.
func resum(s []byte, seg header.TCP) {
	ip := s[etherSize:]
	var src, dst frame.Addr
	if header.IPVersion(ip) == 6 {
		header.IPv6(ip).SetPayloadLength(uint16(len(seg)))
		src, dst = frame.Addr(ip[8:24]), frame.Addr(ip[24:40])
	} else {
		h := header.IPv4(ip)
		h.SetTotalLength(uint16(len(ip)))
		h.SetChecksum(0)
		h.SetChecksum(^h.CalculateChecksum())
		src[10], src[11], dst[10], dst[11] = 0xff, 0xff, 0xff, 0xff
		copy(src[12:], ip[12:16])
		copy(dst[12:], ip[16:20])
	}
	seg.SetChecksum(0)
	seg.SetChecksum(^checksum.Checksum(seg, frame.Pseudo(&src, &dst, len(seg))))
}
