// Package proxyheader reads and writes the header of the PROXY protocol, the
// bytes by which a proxy tells a server who the client is. The format is
// haproxy's doc/proxy-protocol.txt, versions 1 and 2.
//
//	h, n, err := proxyheader.Parse(peeked)   what a trusted proxy sent us
//	b = proxyheader.AppendV2(b, client, virtual, wait)   what we tell a server
//	b = proxyheader.AppendLocal(b, proxyheader.V1)       what a monitor says
//
// # Reading
//
// Sessions peek at a socket and must not take a byte more than the header, so
// Parse finds where the header ends before anything is decoded, and says
// ErrShort while bytes are missing. What can't become a header is refused at
// the first byte that is wrong.
//
// The addresses are decoded by github.com/pires/go-proxyproto, from exactly
// the header's bytes. It is strict about them. What it leaves to its callers,
// or decides otherwise, is done here:
//
//   - Its reader blocks for missing bytes; Parse never hands it too few.
//   - It keeps TLVs as raw bytes. They must end with the header here, as in
//     haproxy, and a CRC32c must be right.
//   - It refuses PROXY with an unspecified family. The spec lets receivers
//     accept it and use the socket's address, as for LOCAL; so does Parse.
//   - It gives out the addresses of datagrams and unix sockets. On a TCP
//     connection they name nobody, and Parse falls back as the spec says.
//   - It takes any bytes before the CRLF of an UNKNOWN line, a lone CR too.
//
// # Writing
//
// The queue's wait travels in version 2 as a TLV of type 0xE0, the first of
// the range for applications: 8 bytes, big endian, the microseconds that the
// client was parked. 0 if it was not.
//
// The header holds one family. If client and server address differ in
// theirs, both are written as IPv6, the IPv4 one v4-mapped. Two addresses
// that are IPv4, v4-mapped or not, are written as IPv4.
package proxyheader
