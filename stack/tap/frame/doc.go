// Package frame reads and writes the headers that the TAP front end deals with
// itself: Ethernet, ARP, IPv4, IPv6, neighbour discovery and TCP, on raw bytes.
//
// Of a frame that was read:
//
//	var p frame.Packet
//	switch p.Parse(b, own) {
//	case frame.TCP:      p.ChecksumOK(b), p.Options(b), p.Reply(own)
//	case frame.ARP:      frame.ParseARP(b)
//	case frame.Neighbor: frame.ParseNeighbor(b)
//	case frame.Other:    is netstack's
//	}
//
// Of a frame to send: AppendTCP, AppendReset, AppendARPRequest and so on append
// it whole, from the Ethernet header on, with all checksums right. For a frame that
// is changed on its way, Delta corrects the checksum by what was changed.
//
// The package is pure: bytes in, numbers out. It never reads behind the frame it
// was given, never panics over what is in one, and allocates nothing but what
// append needs. It keeps no state: whether a segment belongs to anything is for
// others to know.
//
// Addresses are [16]byte, IPv4 in the mapped form, so that they are keys of maps
// as they are. For that reason an IPv6 packet with a mapped address is Bad: it
// would be taken for an IPv4 one, and has no business on a wire.
package frame
