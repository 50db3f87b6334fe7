package rewrite

import (
	"gvisor.dev/gvisor/pkg/tcpip/checksum"

	"penstock/stack/tap/frame"
)

// Protocols and types of ICMP (RFC 792) and ICMPv6 (RFC 4443).
const (
	protoTCP   = 6
	protoICMP  = 1
	protoICMP6 = 58

	icmpSize = 8 // type, code, checksum, and four bytes that depend on them

	reply4       = 0
	unreachable4 = 3
	echo4        = 8
	exceeded4    = 11
	problem4     = 12

	unreachable6 = 1
	tooBig6      = 2
	exceeded6    = 3
	problem6     = 4
	echo6        = 128
	reply6       = 129

	needFragment = 4 // code of unreachable4
)

// Sizes of headers below TCP and ICMP.
const (
	etherSize = 14
	ip4Size   = 20
	ip6Size   = 40

	offFragment4 = 20
	offProto4    = 23
	offNext6     = 20
)

// message says whether a frame is a whole ICMP message behind a plain IP header.
// Fragments, options and extension headers are not: nothing that we forward is
// answered so. One that was sent to a group on the link is not either.
func message(b []byte, p *frame.Packet) bool {
	if p.Kind != frame.Other || p.End > len(b) || p.End-p.L4 < icmpSize || b[0]&1 != 0 {
		return false
	}
	if p.V6 {
		return b[offNext6] == protoICMP6
	}
	const fragment = 0x3fff // "more fragments", or an offset
	return p.L4 == etherSize+ip4Size && b[offProto4] == protoICMP && be.Uint16(b[offFragment4:])&fragment == 0
}

// sumOK verifies a message's checksum.
func sumOK(b []byte, p *frame.Packet) bool {
	return checksum.Checksum(b[p.L4:p.End], icmpPseudo(&p.Src, &p.Dst, p.End-p.L4)) == 0xffff
}

// icmpPseudo is the sum of the pseudo header, which only ICMPv6 has.
func icmpPseudo(src, dst *frame.Addr, n int) uint16 {
	if frame.Is4(src) {
		return 0
	}
	return frame.PseudoOf(src, dst, n, protoICMP6)
}
