// Package rewrite changes the headers of frames that are forwarded, in place:
// where a segment comes from and goes to, and what an ICMP error says about one.
//
// Of a frame that frame.Packet has parsed, and whose flow is known:
//
//	if rewrite.Expired(b, &p) { b = rewrite.AppendTimeExceeded(...) }
//	rewrite.ClampMSS(b, &p, h, most)     a SYN or SYN-ACK
//	rewrite.Segment(b, &p, h, &to)       every segment; then it is written as it is
//
//	if e, ok := rewrite.ParseError(b, &p); ok { e.Translate(...) }
//	rewrite.AppendEcho(...)              a ping
//
// Checksums are corrected by what was changed (RFC 1624), so that the payload is
// never read and a segment that was damaged on its way stays damaged. In a frame
// whose checksum is left to the device (NEEDS_CSUM) the pseudo header's sum is
// corrected. A TSO frame is one segment: the device repeats its header.
//
// Sequence numbers, acknowledgements, windows and options are not touched, but for
// the MSS. The package keeps no state, knows no flows, and allocates nothing but
// what append needs.
package rewrite
