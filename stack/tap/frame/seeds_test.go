package frame

import (
	"bytes"
	"net/netip"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"
)

var (
	own    = MAC{2, 0, 0, 0, 0, 1}
	peer   = MAC{2, 0, 0, 0, 0, 2}
	client = addr("198.18.7.9")
	server = addr("198.18.0.100")
	host6  = addr("2001:db8::7:9")
	serv6  = addr("2001:db8::100")
	flow4  = Flow{peer, own, client, server, 40001, 80}
	flow6  = Flow{peer, own, host6, serv6, 40001, 80}
	linux  = Options{MSS: 1460, WS: 7, SACK: true, TS: true, TSVal: 0x01020304}
)

func addr(s string) Addr { return netip.MustParseAddr(s).As16() }

func netstack(a Addr) tcpip.Address {
	return tcpip.AddrFromSlice(netip.AddrFrom16(a).Unmap().AsSlice())
}

// syn is a Linux client's SYN, by our own builder.
func syn(f Flow) []byte {
	return AppendTCP(nil, &f, &Header{Seq: 1000, Flags: SYN, Window: 64240, Options: &linux}, nil)
}

// data is a segment in the middle of a connection.
func data(f Flow, payload []byte) []byte {
	h := Header{Seq: 1001, Ack: 5001, Flags: ACK | PSH, Window: 502, Options: &Options{TS: true, TSVal: 9, TSEcr: 8}}
	return AppendTCP(nil, &f, &h, payload)
}

// raw is a segment whose options are these bytes, whatever they are; a multiple
// of four, up to 40.
func raw(f Flow, flags uint8, options []byte) []byte {
	b := AppendTCP(nil, &f, &Header{Seq: 7, Flags: flags, Window: 9}, options)
	at := len(b) - len(options) - tcpSize
	b[at+12] = byte((tcpSize + len(options)) / 4 << 4)
	resum(b)
	return b
}

// resum puts right the checksums of a frame that a test has changed, by gVisor.
func resum(b []byte) {
	ip, seg := b[etherSize:], b[etherSize+ip6Size:]
	var src, dst tcpip.Address
	if be.Uint16(b[12:]) == typeIP4 {
		h := header.IPv4(ip)
		h.SetChecksum(0)
		h.SetChecksum(^checksum.Checksum(ip[:min(int(h.HeaderLength()), len(ip))], 0))
		src, dst = h.SourceAddress(), h.DestinationAddress()
		seg = ip[h.HeaderLength():h.TotalLength()]
	} else {
		src, dst = header.IPv6(ip).SourceAddress(), header.IPv6(ip).DestinationAddress()
	}
	if len(seg) >= tcpSize {
		t := header.TCP(seg)
		t.SetChecksum(0)
		t.SetChecksum(^checksum.Checksum(seg, header.PseudoHeaderChecksum(6, src, dst, uint16(len(seg)))))
	}
}

// insert4 puts IPv4 options into a frame.
func insert4(b, options []byte) []byte {
	at := etherSize + ip4Size
	b = bytes.Join([][]byte{b[:at], options, b[at:]}, nil)
	h := header.IPv4(b[etherSize:])
	h.SetHeaderLength(uint8(ip4Size + len(options)))
	h.SetTotalLength(h.TotalLength() + uint16(len(options)))
	resum(b)
	return b
}

// insert6 puts an extension header in front of TCP.
func insert6(b []byte, kind byte, ext []byte) []byte {
	at := etherSize + ip6Size
	b = bytes.Join([][]byte{b[:at], ext, b[at:]}, nil)
	header.IPv6(b[etherSize:]).SetPayloadLength(uint16(len(b) - at))
	b[etherSize+6], b[at] = kind, protoTCP
	return b
}

// changed is a copy of b with the bytes at an offset replaced.
func changed(b []byte, at int, with ...byte) []byte {
	b = bytes.Clone(b)
	copy(b[at:], with)
	return b
}

// fragments cuts the datagram of an IPv4 frame in two, of which the second
// overlaps the first by eight bytes.
func fragments(b []byte) (first, second []byte) {
	const cut = 24
	at := etherSize + ip4Size
	first = bytes.Clone(b[:at+cut])
	header.IPv4(first[etherSize:]).SetTotalLength(ip4Size + cut)
	header.IPv4(first[etherSize:]).SetFlagsFragmentOffset(header.IPv4FlagMoreFragments, 0)
	second = append(bytes.Clone(b[:at]), b[at+cut-8:]...)
	header.IPv4(second[etherSize:]).SetTotalLength(uint16(len(second) - etherSize))
	header.IPv4(second[etherSize:]).SetFlagsFragmentOffset(0, cut-8)
	for _, f := range [][]byte{first, second} {
		h := header.IPv4(f[etherSize:])
		h.SetChecksum(0)
		h.SetChecksum(^h.CalculateChecksum())
	}
	return first, second
}

// solicit is a neighbour solicitation as gVisor's package writes one.
func solicit(src, dst, target Addr, options header.NDPOptionsSerializer) []byte {
	n := header.ICMPv6NeighborSolicitMinimumSize + options.Length()
	b, m := appendIP(nil, &Flow{SrcMAC: peer, DstMAC: MAC{0x33, 0x33, 0xff}, Src: src, Dst: dst}, n, protoICMPv6, 255)
	icmp := header.ICMPv6(m)
	icmp.SetType(header.ICMPv6NeighborSolicit)
	ns := header.NDPNeighborSolicit(icmp.MessageBody())
	ns.SetTargetAddress(netstack(target))
	ns.Options().Serialize(options)
	resum6(b)
	return b
}

// resum6 puts right the checksum of an ICMPv6 frame, by gVisor.
func resum6(b []byte) {
	ip := header.IPv6(b[etherSize:])
	icmp := header.ICMPv6(ip.Payload())
	icmp.SetChecksum(0)
	icmp.SetChecksum(header.ICMPv6Checksum(header.ICMPv6ChecksumParams{
		Header: icmp, Src: ip.SourceAddress(), Dst: ip.DestinationAddress(),
	}))
}

func solicitedNodeOf(a Addr) Addr {
	g := solicitedNode
	copy(g[13:], a[13:])
	return g
}

// request is an ARP request of the client for the server's address.
func request() []byte {
	return appendARP(nil, Broadcast, &ARPMessage{Op: ARPRequest, Sender: peer, SenderIP: client, TargetIP: server})
}

// sound are frames of all kinds in which nothing is wrong.
func sound() [][]byte {
	first, second := fragments(data(flow4, make([]byte, 100)))
	link := header.NDPOptionsSerializer{header.NDPSourceLinkLayerAddressOption(peer[:])}
	udp4, udp6 := changed(syn(flow4), etherSize+9, 17), changed(syn(flow6), etherSize+6, 17)
	resum(udp4)
	return [][]byte{
		syn(flow4), syn(flow6), data(flow4, nil), data(flow6, nil),
		data(flow4, []byte("GET / HTTP/1.1\r\n\r\n")), data(flow6, []byte("GET / HTTP/1.1\r\n\r\n")),
		AppendTCP(nil, &flow4, &Header{Seq: 1, Flags: RST}, nil),
		AppendTCP(nil, &flow6, &Header{Seq: 1, Ack: 2, Flags: FIN | ACK}, nil),
		append(data(flow4, nil), 0, 0, 0, 0, 0, 0), // padded
		append(data(flow6, []byte{1}), 0, 0, 0),
		raw(flow4, ACK, append([]byte{1, 1, 5, 34}, make([]byte, 32)...)), // SACK blocks
		insert4(syn(flow4), []byte{1, 1, 1, 1}), insert4(data(flow4, []byte{1}), append([]byte{7, 39, 4}, make([]byte, 37)...)),
		insert6(syn(flow6), 0, []byte{0, 0, 1, 4, 0, 0, 0, 0}),  // hop by hop
		insert6(syn(flow6), 43, []byte{0, 0, 0, 0, 0, 0, 0, 0}), // routing
		insert6(syn(flow6), 44, []byte{0, 0, 0, 1, 0, 0, 0, 9}), // first fragment
		insert6(syn(flow6), 60, []byte{0, 0, 1, 4, 0, 0, 0, 0}), // destination options
		first, second, udp4, udp6,
		request(), AppendARPReply(nil, &ARPMessage{Sender: own, SenderIP: server, TargetIP: client}, peer),
		AppendGratuitousARP(nil, peer, &client),
		solicit(host6, solicitedNodeOf(serv6), serv6, link), solicit(Addr{}, solicitedNodeOf(serv6), serv6, nil),
		AppendUnsolicitedAdvert(nil, peer, &host6),
		AppendAdvert(nil, &NeighborMessage{Src: serv6, Target: host6, From: own}, peer),
		append(changed(request()[:etherSize], 12, 0x81, 0x00), make([]byte, 50)...), // VLAN
		changed(syn(flow4), 0, 2, 9, 9, 9, 9, 9),                                    // foreign
	}
}

// seeds are the sound frames, each cut off where it hurts, and each with fields
// that contradict the rest.
func seeds() (all [][]byte) {
	for _, b := range sound() {
		all = append(all, b)
		for _, n := range []int{0, 1, 13, 14, 15, 33, 34, 41, 42, 53, 54, 55, 62, 73, 74, 77, 78, len(b) - 9, len(b) - 1} {
			if n >= 0 && n < len(b) {
				all = append(all, b[:n])
			}
		}
		if len(b) < etherSize+ip4Size {
			continue
		}
		for _, v := range []byte{0x40, 0x44, 0x45, 0x46, 0x4f, 0x50, 0x60, 0x75, 0xff} {
			all = append(all, changed(b, etherSize, v))
		}
		for _, v := range [][]byte{{0, 0}, {0, 19}, {0, 20}, {0, 39}, {0xff, 0xff}, {0, byte(len(b))}} {
			all = append(all, changed(b, etherSize+2, v...), changed(b, etherSize+4, v...))
			if be.Uint16(b[12:]) == typeIP4 && int(be.Uint16(v)) >= ip4Size {
				c := changed(b, etherSize+2, v...)
				if h := header.IPv4(c[etherSize:]); h.HeaderLength() == ip4Size {
					h.SetChecksum(0)
					h.SetChecksum(^h.CalculateChecksum())
					all = append(all, c) // the lengths are wrong, the checksum isn't
				}
			}
		}
		for _, at := range []int{etherSize + ip4Size + 12, etherSize + ip6Size + 12} {
			for _, v := range []byte{0, 0x10, 0x40, 0x60, 0xa0, 0xf0} {
				if at < len(b) {
					all = append(all, changed(b, at, v))
				}
			}
		}
	}
	return all
}

// lists are options of TCP, most of them malformed.
var lists = [][]byte{
	{},
	{2, 4, 5, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7},             // Linux
	{2, 4, 5, 0xb4, 1, 3, 3, 8, 1, 1, 4, 2},                                      // Windows
	{2, 4, 5, 0xb4, 1, 3, 3, 6, 1, 1, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 4, 2, 0, 0}, // macOS
	{1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8},
	{8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0},
	{1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1}, // odd
	{1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 9},
	{1, 1, 5, 34, 32: 0, 35: 0},
	{1, 1, 1, 2},    // kind without length
	{2, 0, 5, 0xb4}, // length zero
	{2, 1, 5, 0xb4}, // length one
	{2, 3, 5, 1},    // too short for its kind
	{2, 5, 5, 0xb4, 9, 0, 0, 0},
	{2, 4, 0, 0},                   // MSS of zero
	{2, 4, 5, 0xb4, 2, 4, 2, 0x18}, // twice
	{3, 3, 15, 1}, {3, 3, 255, 1},
	{1, 1, 1, 3}, {1, 1, 3, 3}, // ends behind the header
	{1, 8, 10, 1}, {2, 4, 5, 0xb4, 8, 10, 1, 2},
	{4, 2, 5, 250}, {5, 2, 1, 1}, {5, 9, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1},
	{0, 2, 4, 5}, {1, 0, 8, 10}, // ended early
	{34, 2, 1, 1}, {254, 4, 1, 2}, {255, 255, 1, 1},
	{19, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2}, // MD5
}
