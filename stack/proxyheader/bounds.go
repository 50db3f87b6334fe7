package proxyheader

import (
	"bytes"
	"encoding/binary"

	pp "github.com/pires/go-proxyproto"
)

const (
	mostLine = 107 // of version 1, CR LF included
	fixed    = 16  // what each header of version 2 has: signature, command, family, length
)

// lines is how a header of version 1 may begin.
var lines = [][]byte{
	[]byte("PROXY TCP4 "), []byte("PROXY TCP6 "),
	[]byte("PROXY UNKNOWN "), []byte("PROXY UNKNOWN\r"),
}

// boundLine finds the end of a header of version 1.
func boundLine(b []byte) (n int, err error) {
	if !beginsLine(b) {
		return 0, ErrSignature
	}
	b = b[:min(len(b), mostLine)]
	i := bytes.IndexAny(b, "\r\n")
	switch {
	case i < 0 && len(b) >= mostLine-1, i == mostLine-1:
		return 0, ErrTooLong
	case i < 0:
		return 0, ErrShort
	case b[i] == '\n':
		return 0, ErrLine
	case i+1 == len(b):
		return 0, ErrShort
	case b[i+1] != '\n':
		return 0, ErrLine
	}
	return i + 2, nil
}

func beginsLine(b []byte) bool {
	for _, l := range lines {
		if n := min(len(b), len(l)); bytes.Equal(b[:n], l[:n]) {
			return true
		}
	}
	return false
}

// boundBinary finds the end of a header of version 2, and checks what stands
// before the addresses.
func boundBinary(b []byte) (n int, err error) {
	if k := min(len(b), len(pp.SIGV2)); !bytes.Equal(b[:k], pp.SIGV2[:k]) {
		return 0, ErrSignature
	}
	if len(b) > 12 && !known(command(b)) {
		return 0, ErrCommand
	}
	if len(b) > 13 && addressLen(family(b)) < 0 {
		return 0, ErrFamily
	}
	if len(b) < fixed {
		return 0, ErrShort
	}
	n = fixed + int(binary.BigEndian.Uint16(b[14:]))
	switch {
	case n > Most:
		return 0, ErrTooLong
	case command(b) == pp.PROXY && n < fixed+addressLen(family(b)):
		return 0, ErrLength
	case len(b) < n:
		return 0, ErrShort
	}
	return n, nil
}

func command(b []byte) pp.ProtocolVersionAndCommand { return pp.ProtocolVersionAndCommand(b[12]) }
func family(b []byte) pp.AddressFamilyAndProtocol   { return pp.AddressFamilyAndProtocol(b[13]) }

func known(c pp.ProtocolVersionAndCommand) bool { return c == pp.PROXY || c == pp.LOCAL }

// addressLen returns how many bytes the addresses of a family have; -1 if
// there is no such family. The spec wants those refused, and makes no
// exception for LOCAL.
func addressLen(f pp.AddressFamilyAndProtocol) int {
	switch f {
	case pp.UNSPEC:
		return 0
	case pp.TCPv4, pp.UDPv4:
		return 12
	case pp.TCPv6, pp.UDPv6:
		return 36
	case pp.UnixStream, pp.UnixDatagram:
		return 216
	}
	return -1
}
