package frame

import "gvisor.dev/gvisor/pkg/tcpip/checksum"

// AppendARPRequest appends the question who has target, an IPv4 address; from is
// our own, and own our address on the link. With to Broadcast it asks all; with
// another address it asks who is thought to have target whether that is still
// so (RFC 1122 2.3.2.1).
func AppendARPRequest(dst []byte, own, to MAC, from, target *Addr) []byte {
	return appendARP(dst, to, &ARPMessage{Op: ARPRequest, Sender: own, SenderIP: *from, TargetIP: *target})
}

// AppendSolicit appends the same question about an IPv6 address: a neighbour
// solicitation that says where from is. With to Broadcast it goes to the group of
// those whose addresses end as target does; with another address to target alone.
func AppendSolicit(dst []byte, own, to MAC, from, target *Addr) []byte {
	const size = neighborSize + linkSize
	f := Flow{SrcMAC: own, DstMAC: to, Src: *from, Dst: *target}
	if to == Broadcast {
		f.Dst = solicitedNode
		copy(f.Dst[13:], target[13:])
		f.DstMAC = MAC{0x33, 0x33, 0xff, target[13], target[14], target[15]}
	}
	dst, m := appendIP(dst, &f, size, protoICMPv6, 255)
	m[0] = solicitation
	copy(m[8:], target[:])
	m[24], m[25] = optSource, linkSize/8
	copy(m[26:], own[:])
	be.PutUint16(m[2:], ^checksum.Checksum(m, pseudo(&f.Src, &f.Dst, size, protoICMPv6)))
	return dst
}
