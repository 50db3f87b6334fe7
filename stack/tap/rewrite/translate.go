package rewrite

import "penstock/stack/tap/frame"

// Translate turns an error about a segment that we forwarded into one about the
// segment that we were given, and sends it on to dst, who had sent that one. inner
// is the flow of that segment, as dst knows it, and delta is what its sequence
// number differs by from the quoted one. The frame is changed in place, whatever
// of TCP is quoted, and comes back without padding; what kind of error it is, and
// any MTU, stays. p is what Parse said of the frame, which is not Expired.
//
// It comes from who sent it, if dst knows the address that the segment went to. If
// that address was changed by us, it comes from the one that dst knows: routers
// behind us have addresses that say nothing on the other side, and that a filter
// there would drop (RFC 5508 REQ-5; Linux does the same).
func (e *Error) Translate(b []byte, p *frame.Packet, srcMAC, dstMAC frame.MAC, dst frame.Addr, inner *frame.Flow, delta uint32) []byte {
	b = b[:p.End]
	copy(b, dstMAC[:])
	copy(b[6:], srcMAC[:])
	src := p.Src
	if inner.Dst != e.Dst {
		src = inner.Dst
	}
	t := b[e.tcp:]
	var icmp, quoted, ports frame.Delta
	if e.V6 {
		icmp, quoted = e.addrs6(b, &src, &dst, inner)
	} else {
		icmp, quoted = e.addrs4(b, &src, &dst, inner)
	}
	ports += put16(t, inner.SrcPort)
	ports += put16(t[2:], inner.DstPort)
	ports += put32(t[4:], e.Seq+delta)
	icmp += ports
	if len(t) >= tcpSum+2 {
		icmp += correct(t[tcpSum:], quoted+ports)
	}
	correct(b[p.L4+2:], icmp)
	return b
}

// addrs4 writes the addresses of both IPv4 headers, counts down the hops, and
// returns what that changes in the sum of the message and in that of the quoted
// segment.
func (e *Error) addrs4(b []byte, src, dst *frame.Addr, inner *frame.Flow) (icmp, quoted frame.Delta) {
	outer := putAddr(b[offAddrs4:offAddrs4+4], src) + putAddr(b[offAddrs4+4:offAddrs4+8], dst)
	hops := be.Uint16(b[offTTL4:])
	outer += put16(b[offTTL4:], hops-1<<8)
	correct(b[offSum4:], outer)
	q := b[e.ip:]
	quoted = putAddr(q[12:16], &inner.Src) + putAddr(q[16:20], &inner.Dst)
	return quoted + correct(q[10:], quoted), quoted
}

// addrs6 does the same for IPv6, whose message has the outer addresses in its sum.
func (e *Error) addrs6(b []byte, src, dst *frame.Addr, inner *frame.Flow) (icmp, quoted frame.Delta) {
	outer := putAddr(b[offAddrs6:offAddrs6+16], src) + putAddr(b[offAddrs6+16:offAddrs6+32], dst)
	b[offHops6]--
	q := b[e.ip:]
	quoted = putAddr(q[8:24], &inner.Src) + putAddr(q[24:40], &inner.Dst)
	return outer + quoted, quoted
}

// putAddr writes an address, the last four bytes of it if there is no room for
// more, and returns what that changes, as the next three do.
func putAddr(f []byte, a *frame.Addr) (d frame.Delta) {
	new := a[len(a)-len(f):]
	for i := 0; i < len(f); i += 4 {
		d.Swap32(be.Uint32(f[i:]), be.Uint32(new[i:]))
	}
	copy(f, new)
	return d
}

func put16(f []byte, new uint16) (d frame.Delta) {
	d.Swap16(be.Uint16(f), new)
	be.PutUint16(f, new)
	return d
}

func put32(f []byte, new uint32) (d frame.Delta) {
	d.Swap32(be.Uint32(f), new)
	be.PutUint32(f, new)
	return d
}

// correct brings a checksum up to date.
func correct(f []byte, by frame.Delta) frame.Delta {
	return put16(f, by.Apply(be.Uint16(f)))
}
