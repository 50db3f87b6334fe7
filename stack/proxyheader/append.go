package proxyheader

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"time"

	pp "github.com/pires/go-proxyproto"
)

// TypeWait is the TLV with the queue's wait; WaitLen is how long its value is.
const (
	TypeWait pp.PP2Type = pp.PP2_TYPE_MIN_CUSTOM
	WaitLen             = 8
)

// Longest is room for any header that is written here.
const Longest = mostLine

const unknown = "PROXY UNKNOWN\r\n"

// AppendV1 appends a header of version 1. An address that is not valid makes
// it UNKNOWN. Nothing is allocated if b has room for Longest more.
func AppendV1(b []byte, src, dst netip.AddrPort) []byte {
	if !src.IsValid() || !dst.IsValid() {
		return append(b, unknown...)
	}
	from, to := src.Addr().Unmap(), dst.Addr().Unmap()
	if from.Is4() && to.Is4() {
		b = append(b, "PROXY TCP4 "...)
		b = from.AppendTo(b)
		b = append(b, ' ')
		b = to.AppendTo(b)
	} else {
		b = append(b, "PROXY TCP6 "...)
		b = appendText6(b, from)
		b = append(b, ' ')
		b = appendText6(b, to)
	}
	b = append(b, ' ')
	b = strconv.AppendUint(b, uint64(src.Port()), 10)
	b = append(b, ' ')
	b = strconv.AppendUint(b, uint64(dst.Port()), 10)
	return append(b, "\r\n"...)
}

// appendText6 writes an address in IPv6's form. A v4-mapped one is written in
// hex digits: that is all the spec's grammar has, and every receiver knows it.
func appendText6(b []byte, a netip.Addr) []byte {
	if !a.Is4() {
		return a.WithZone("").AppendTo(b)
	}
	v4 := a.As4()
	b = append(b, "::ffff:"...)
	b = strconv.AppendUint(b, uint64(binary.BigEndian.Uint16(v4[:2])), 16)
	b = append(b, ':')
	return strconv.AppendUint(b, uint64(binary.BigEndian.Uint16(v4[2:])), 16)
}

// AppendV2 appends a header of version 2 that tells how long the client
// waited in the queue. An address that is not valid makes its family
// unspecified. Nothing is allocated if b has room for Longest more.
func AppendV2(b []byte, src, dst netip.AddrPort, wait time.Duration) []byte {
	b = append(b, pp.SIGV2...)
	b = append(b, byte(pp.PROXY))
	from, to := src.Addr().Unmap(), dst.Addr().Unmap()
	switch {
	case !src.IsValid() || !dst.IsValid():
		b = appendFamily(b, pp.UNSPEC)
	case from.Is4() && to.Is4():
		b = appendFamily(b, pp.TCPv4)
		f, t := from.As4(), to.As4()
		b = appendPorts(append(append(b, f[:]...), t[:]...), src, dst)
	default:
		b = appendFamily(b, pp.TCPv6)
		f, t := from.As16(), to.As16()
		b = appendPorts(append(append(b, f[:]...), t[:]...), src, dst)
	}
	b = append(b, byte(TypeWait), 0, WaitLen)
	return binary.BigEndian.AppendUint64(b, uint64(max(0, wait).Microseconds()))
}

func appendFamily(b []byte, f pp.AddressFamilyAndProtocol) []byte {
	return append(b, byte(f), 0, byte(addressLen(f)+tlvHead+WaitLen))
}

func appendPorts(b []byte, src, dst netip.AddrPort) []byte {
	b = binary.BigEndian.AppendUint16(b, src.Port())
	return binary.BigEndian.AppendUint16(b, dst.Port())
}

// AppendLocal appends the header of a connection that the proxy makes for
// itself, such as a monitor's; nothing if v is Off.
func AppendLocal(b []byte, v Version) []byte {
	switch v {
	case V1:
		return append(b, unknown...)
	case V2:
		b = append(b, pp.SIGV2...)
		return append(b, byte(pp.LOCAL), byte(pp.UNSPEC), 0, 0)
	}
	return b
}
