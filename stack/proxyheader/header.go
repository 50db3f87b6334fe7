package proxyheader

import (
	"errors"
	"net/netip"
)

// Most is how long a header may be; a peek of so many bytes is always enough.
// The longest one in use carries a client's certificate of 1 to 2 KiB.
const Most = 4096

// Header is what a header says about the client.
type Header struct {
	// Source is the client, Destination what it connected to. IPv4 addresses
	// that came v4-mapped are IPv4 here, so that a client is the same one
	// however its proxy wrote it.
	Source, Destination netip.AddrPort

	// Local: the proxy speaks for itself (a check), or can't say who the
	// client is. The socket's own addresses count; those above are zero.
	Local bool
}

// ErrShort means that all is well so far and the header is not whole.
var ErrShort = errors.New("PROXY header: not whole yet")

// Why a header is refused. Made in advance: a flood of bad headers costs
// nothing.
var (
	ErrSignature = errors.New("PROXY header: there is none")
	ErrLine      = errors.New("PROXY header: the line must end with CR LF, once")
	ErrTooLong   = errors.New("PROXY header: too long")
	ErrCommand   = errors.New("PROXY header: unknown version or command")
	ErrFamily    = errors.New("PROXY header: unknown address family or protocol")
	ErrLength    = errors.New("PROXY header: the length disagrees with the address family")
	ErrTLV       = errors.New("PROXY header: a TLV does not end where it should")
	ErrChecksum  = errors.New("PROXY header: wrong checksum")
	ErrAddress   = errors.New("PROXY header: malformed address or port")
)

// Version is the version of the protocol to send.
type Version uint8

const (
	Off Version = iota // no header
	V1                 // a line of text
	V2                 // binary, with TLVs
)

func (v Version) String() string {
	return [...]string{"off", "v1", "v2"}[v]
}
