package proxyheader

import (
	"bufio"
	"bytes"
	"net"
	"net/netip"
	"sync"

	pp "github.com/pires/go-proxyproto"
)

// Parse reads the header that b begins with. n is its exact length: what
// follows is the client's. ErrShort asks for more bytes, and any other error
// stays the same whatever follows. b is not kept and not changed.
func Parse(b []byte) (h Header, n int, err error) {
	if len(b) == 0 {
		return Header{}, 0, ErrShort
	}
	if b[0] == 'P' {
		return parseLine(b)
	}
	return parseBinary(b)
}

func parseLine(b []byte) (h Header, n int, err error) {
	n, err = boundLine(b)
	if err != nil {
		return Header{}, 0, err
	}
	if b[6] == 'U' { // UNKNOWN: what else the line says is to be ignored
		return Header{Local: true}, n, nil
	}
	return decode(b[:n])
}

func parseBinary(b []byte) (h Header, n int, err error) {
	n, err = boundBinary(b)
	if err != nil {
		return Header{}, 0, err
	}
	b = b[:n]
	// LOCAL: the block is to be discarded unseen. UNSPEC: nobody knows where
	// in the block the addresses end and the TLVs begin.
	if command(b) == pp.LOCAL || family(b) == pp.UNSPEC {
		return Header{Local: true}, n, nil
	}
	if err := checkTLVs(b, fixed+addressLen(family(b))); err != nil {
		return Header{}, 0, err
	}
	if f := family(b); f != pp.TCPv4 && f != pp.TCPv6 {
		return Header{Local: true}, n, nil
	}
	return decode(b)
}

// decoder is what the library wants to read from.
type decoder struct {
	bytes bytes.Reader
	buf   *bufio.Reader // of at least mostLine: the library wants a line in one piece
}

var decoders = sync.Pool{New: func() any { return &decoder{buf: bufio.NewReaderSize(nil, 256)} }}

// decode has the library read one whole header with TCP addresses.
func decode(whole []byte) (Header, int, error) {
	d := decoders.Get().(*decoder)
	d.bytes.Reset(whole)
	d.buf.Reset(&d.bytes)
	lib, err := pp.Read(d.buf)
	d.bytes.Reset(nil)
	decoders.Put(d)
	if err != nil {
		return Header{}, 0, ErrAddress
	}
	from, to, ok := lib.TCPAddrs()
	if !ok {
		return Header{}, 0, ErrAddress
	}
	return Header{Source: addrPort(from), Destination: addrPort(to)}, len(whole), nil
}

func addrPort(a *net.TCPAddr) netip.AddrPort {
	p := a.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}
