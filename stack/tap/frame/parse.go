package frame

// Parse reads the headers of a frame. b is the whole frame and begins at the
// Ethernet header; own is the address we answer with. TCP's checksum is not
// looked at: see ChecksumOK.
func (p *Packet) Parse(b []byte, own MAC) Kind { return p.ParseHead(b, len(b), own) }

// ParseHead does the same for a frame of n bytes of which b is the beginning: all
// of it, or at least Head bytes.
func (p *Packet) ParseHead(b []byte, n int, own MAC) Kind {
	*p = Packet{}
	p.Kind = p.ethernet(b, n, own)
	return p.Kind
}

func (p *Packet) ethernet(b []byte, n int, own MAC) Kind {
	if len(b) < etherSize {
		return Bad
	}
	to := MAC(b[:6])
	if to != own && !to.Group() {
		return Foreign
	}
	p.From = MAC(b[6:12])
	if p.From.Group() || p.From == (MAC{}) {
		return Bad // no answer could reach it
	}
	switch be.Uint16(b[12:]) {
	case typeIP4:
		return p.unicast(p.ip4(b, n), to)
	case typeIP6:
		return p.unicast(p.ip6(b, n), to)
	case typeARP:
		if len(b) < etherSize+arpSize {
			return Bad
		}
		return ARP
	}
	return Unknown
}

// unicast refuses segments that were sent to a group on the link, as ip4 and ip6
// do for groups by IP: a connection is between two, and nothing could be answered
// from a group's address (RFC 1122 4.2.3.10).
func (p *Packet) unicast(k Kind, to MAC) Kind {
	if k == TCP && to.Group() {
		return Foreign
	}
	return k
}

func (p *Packet) ip4(b []byte, n int) Kind {
	if len(b) < etherSize+ip4Size {
		return Bad
	}
	h := b[etherSize : etherSize+ip4Size]
	size, total := int(h[0]&15)*4, int(be.Uint16(h[2:]))
	if h[0]>>4 != 4 || size < ip4Size || total < size || etherSize+total > n || etherSize+size > len(b) {
		return Bad
	}
	if !ip4SumOK(b[etherSize : etherSize+size]) {
		return Bad
	}
	p.L4, p.Data, p.End = etherSize+size, etherSize+size, etherSize+total
	put4(&p.Src, h[12:16])
	put4(&p.Dst, h[16:20])
	if h[12] == 127 || h[16] == 127 || h[12] != 0 && group4(h[12:]) {
		return Bad // from or to a loopback address, or from a group
	}
	const fragment = 0x3fff // "more fragments", or an offset
	switch {
	case size != ip4Size || be.Uint16(h[6:])&fragment != 0 || h[9] != protoTCP:
		return Other
	case h[12] == 0:
		return Bad // "this network": fit for DHCP, not to be answered
	case group4(h[16:]):
		return Foreign
	}
	return p.tcp(b)
}

// group4 is true for multicast, for 255.255.255.255, and for "this network".
func group4(a []byte) bool {
	return a[0]&0xf0 == 224 || a[0] == 0 || be.Uint32(a) == 0xffffffff
}

// ip4SumOK verifies an IPv4 header; its length is a multiple of four, 20 at least.
func ip4SumOK(h []byte) bool {
	sum := uint64(be.Uint32(h)) + uint64(be.Uint32(h[4:])) + uint64(be.Uint32(h[8:])) +
		uint64(be.Uint32(h[12:])) + uint64(be.Uint32(h[16:]))
	for h = h[ip4Size:]; len(h) >= 4; h = h[4:] {
		sum += uint64(be.Uint32(h))
	}
	return fold(sum) == 0xffff
}

func (p *Packet) ip6(b []byte, n int) Kind {
	p.V6 = true
	if len(b) < etherSize+ip6Size {
		return Bad
	}
	h := b[etherSize : etherSize+ip6Size]
	p.L4, p.Data = etherSize+ip6Size, etherSize+ip6Size
	p.End = p.L4 + int(be.Uint16(h[4:]))
	if h[0]>>4 != 6 || p.End > n {
		return Bad
	}
	p.Src, p.Dst = Addr(h[8:24]), Addr(h[24:40])
	if h[8] == 0xff || odd6(&p.Src) || odd6(&p.Dst) {
		return Bad
	}
	switch h[6] {
	case protoTCP:
		if p.Src == (Addr{}) {
			return Bad
		}
		if h[24] == 0xff || p.Dst == (Addr{}) {
			return Foreign
		}
		return p.tcp(b)
	case protoICMPv6:
		return p.icmp6(b)
	}
	return Other
}

// odd6 is true for addresses that have no business on a link: mapped IPv4 ones
// and the loopback address.
func odd6(a *Addr) bool {
	if be.Uint64(a[:8]) != 0 {
		return false
	}
	low := be.Uint64(a[8:])
	return low>>32 == 0xffff || low == 1
}

func (p *Packet) icmp6(b []byte) Kind {
	if p.End == p.L4 || len(b) == p.L4 {
		return Other
	}
	if t := b[p.L4]; t != solicitation && t != advertisement {
		return Other
	}
	if p.End-p.L4 < neighborSize {
		return Bad
	}
	return Neighbor
}

func (p *Packet) tcp(b []byte) Kind {
	if p.End-p.L4 < tcpSize || len(b) < p.L4+tcpSize {
		return Bad
	}
	h := b[p.L4 : p.L4+tcpSize]
	p.Data = p.L4 + int(h[12]>>4)*4
	if p.Data < p.L4+tcpSize || p.Data > p.End || p.Data > len(b) {
		return Bad
	}
	p.SrcPort, p.DstPort = be.Uint16(h), be.Uint16(h[2:])
	p.Seq, p.Ack = be.Uint32(h[4:]), be.Uint32(h[8:])
	p.Flags, p.Window = h[13], be.Uint16(h[14:])
	return TCP
}
