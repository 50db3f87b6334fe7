package frame

import (
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"pgregory.net/rapid"
)

// gVisor takes a datagram of UDP as we write its headers and sum.
func TestDatagramBeforeTheJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFlow(t)
		body := rapid.SliceOfN(rapid.Byte(), 1, 60).Draw(t, "body")
		b, room := AppendDatagram([]byte("before"), &f, 8+len(body), 17)
		udp := header.UDP(room)
		udp.Encode(&header.UDPFields{SrcPort: f.SrcPort, DstPort: f.DstPort, Length: uint16(len(room))})
		copy(udp.Payload(), body)
		udp.SetChecksum(^checksum.Checksum(room, PseudoOf(&f.Src, &f.Dst, len(room), 17)))
		got := header.UDP(judgeIP(t, b[len("before"):], &f, header.UDPProtocolNumber))
		if !got.IsChecksumValid(netstack(f.Src), netstack(f.Dst), checksum.Checksum(got.Payload(), 0)) {
			t.Fatalf("%x", b)
		}
	})
}
