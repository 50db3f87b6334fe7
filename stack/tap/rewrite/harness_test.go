package rewrite

import (
	"net/netip"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

var (
	own     = frame.MAC{2, 0, 0, 0, 0, 1}
	hop1    = frame.MAC{2, 0, 0, 0, 0, 2} // towards the client
	hop2    = frame.MAC{2, 0, 0, 0, 0, 3} // towards the server
	linux   = frame.Options{MSS: 1460, WS: 7, SACK: true, TS: true, TSVal: 0x01020304}
	client4 = addr("198.18.7.9")
	front4  = addr("198.18.0.100")
	snat4   = addr("10.0.0.1")
	server4 = addr("10.0.0.80")
	client6 = addr("2001:db8::7:9")
	front6  = addr("2001:db8::100")
	snat6   = addr("fd00::1")
	server6 = addr("fd00::80")
)

// path is the two flows of a forwarded connection, as the client's segments have
// them: in comes from the client, out goes to the server.
type path struct{ in, out frame.Flow }

var (
	path4 = path{frame.Flow{SrcMAC: hop1, DstMAC: own, Src: client4, Dst: front4, SrcPort: 40001, DstPort: 80},
		frame.Flow{SrcMAC: own, DstMAC: hop2, Src: snat4, Dst: server4, SrcPort: 1025, DstPort: 8080}}
	path6 = path{frame.Flow{SrcMAC: hop1, DstMAC: own, Src: client6, Dst: front6, SrcPort: 40001, DstPort: 80},
		frame.Flow{SrcMAC: own, DstMAC: hop2, Src: snat6, Dst: server6, SrcPort: 1025, DstPort: 8080}}
	paths = map[string]path{"v4": path4, "v6": path6}
)

// reverse is the same flow, of what the other side sends.
func reverse(f frame.Flow) frame.Flow {
	return frame.Flow{SrcMAC: f.DstMAC, DstMAC: f.SrcMAC, Src: f.Dst, Dst: f.Src, SrcPort: f.DstPort, DstPort: f.SrcPort}
}

func addr(s string) frame.Addr { return netip.MustParseAddr(s).As16() }

func netstack(a frame.Addr) tcpip.Address {
	return tcpip.AddrFromSlice(netip.AddrFrom16(a).Unmap().AsSlice())
}

// syn is a Linux client's SYN.
func syn(f frame.Flow) []byte {
	return frame.AppendTCP(nil, &f, &frame.Header{Seq: 1000, Flags: frame.SYN, Window: 64240, Options: &linux}, nil)
}

// data is a segment in the middle of a connection.
func data(f frame.Flow, payload []byte) []byte {
	h := frame.Header{Seq: 1001, Ack: 5001, Flags: frame.ACK | frame.PSH, Window: 502,
		Options: &frame.Options{WS: -1, TS: true, TSVal: 9, TSEcr: 8}}
	return frame.AppendTCP(nil, &f, &h, payload)
}

// undone is a frame whose checksum was left to the device.
func undone(b []byte) ([]byte, device.VNet) {
	p := parse(b)
	be.PutUint16(b[p.L4+tcpSum:], frame.Pseudo(&p.Src, &p.Dst, p.End-p.L4))
	return b, device.VNet{Flags: device.NeedsCsum, CsumStart: uint16(p.L4), CsumOffset: tcpSum}
}

// parse reads a frame as whoever it was sent to.
func parse(b []byte) *frame.Packet {
	p := new(frame.Packet)
	p.Parse(b, frame.MAC(b[:6]))
	return p
}

// finish does what the device would: it computes the checksum.
func finish(b []byte, h *device.VNet) {
	if h.Flags&device.NeedsCsum != 0 {
		at := int(h.CsumStart)
		be.PutUint16(b[at+int(h.CsumOffset):], ^checksum.Checksum(b[at:parse(b).End], 0))
	}
}

// sumsOK lets gVisor verify all checksums of a TCP frame.
func sumsOK(b []byte) bool {
	ip := b[14:]
	var n header.Network = header.IPv6(ip)
	if be.Uint16(b[12:]) == 0x0800 {
		if !header.IPv4(ip).IsChecksumValid() {
			return false
		}
		n = header.IPv4(ip)
	}
	seg := header.TCP(n.Payload())
	rest := seg.Payload()
	return seg.IsChecksumValid(n.SourceAddress(), n.DestinationAddress(), checksum.Checksum(rest, 0), uint16(len(rest)))
}
