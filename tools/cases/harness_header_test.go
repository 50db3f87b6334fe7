package cases

import (
	be "encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// accepting is a virtual server that wants a PROXY header from everybody here.
const accepting = "accept-proxy-protocol=on,trusted-proxies=127.0.0.0/8"

// signature begins a header of version 2.
const signature = "\r\n\r\n\x00\r\nQUIT\n"

// headerV1 is a header of version 1 for two IPv4 addresses.
func headerV1(from, to string) string {
	f, d := netip.MustParseAddrPort(from), netip.MustParseAddrPort(to)
	family := "TCP4"
	if f.Addr().Is6() {
		family = "TCP6"
	}
	return fmt.Sprintf("PROXY %s %v %v %d %d\r\n", family, f.Addr(), d.Addr(), f.Port(), d.Port())
}

// headerV2 is one of version 2, with more bytes behind the addresses.
func headerV2(from, to string, tlvs string) string {
	f, d := netip.MustParseAddrPort(from), netip.MustParseAddrPort(to)
	family := byte(0x11)
	if f.Addr().Is6() {
		family = 0x21
	}
	var b []byte
	b = append(append(b, f.Addr().AsSlice()...), d.Addr().AsSlice()...)
	b = be.BigEndian.AppendUint16(b, f.Port())
	b = be.BigEndian.AppendUint16(b, d.Port())
	return rawV2(0x21, family, string(b)+tlvs)
}

func rawV2(command, family byte, rest string) string {
	return signature + string([]byte{command, family, byte(len(rest) >> 8), byte(len(rest))}) + rest
}

func tlv(kind byte, value string) string {
	return string([]byte{kind, byte(len(value) >> 8), byte(len(value))}) + value
}

// header is what a server reads in front of a client's bytes.
type header struct {
	version  int // 0: there is none
	local    bool
	from, to netip.AddrPort
	tlvs     map[byte]string
}

// readHeader reads a header and no further, as the protocol's text has it.
func readHeader(v io.Reader) (h header, err error) {
	b := make([]byte, 5)
	if _, err := io.ReadFull(v, b); err != nil {
		return h, err
	}
	switch string(b) {
	case "PROXY":
		return readV1(v)
	case signature[:5]:
		return readV2(v)
	}
	return h, fmt.Errorf("%q is no header", b)
}

func readV1(v io.Reader) (h header, err error) {
	var line strings.Builder
	for b := make([]byte, 1); !strings.HasSuffix(line.String(), "\r\n"); {
		if _, err := io.ReadFull(v, b); err != nil {
			return h, err
		}
		line.Write(b)
	}
	h.version = 1
	var family, from, to string
	var fromPort, toPort uint16
	if line.String() == " UNKNOWN\r\n" {
		h.local = true
		return h, nil
	}
	if _, err := fmt.Sscanf(line.String(), " %s %s %s %d %d\r\n", &family, &from, &to, &fromPort, &toPort); err != nil {
		return h, fmt.Errorf("%q: %w", line.String(), err)
	}
	h.from = netip.AddrPortFrom(netip.MustParseAddr(from), fromPort)
	h.to = netip.AddrPortFrom(netip.MustParseAddr(to), toPort)
	if (family == "TCP6") != h.from.Addr().Is6() {
		err = fmt.Errorf("%s for %v", family, h.from)
	}
	return h, err
}

func readV2(v io.Reader) (h header, err error) {
	b := make([]byte, 11)
	if _, err := io.ReadFull(v, b); err != nil {
		return h, err
	}
	if string(b[:7]) != signature[5:] {
		return h, fmt.Errorf("signature ends with %q", b[:7])
	}
	command, family := b[7], b[8]
	rest := make([]byte, be.BigEndian.Uint16(b[9:]))
	if _, err := io.ReadFull(v, rest); err != nil {
		return h, err
	}
	h.version, h.local, h.tlvs = 2, command == 0x20, map[byte]string{}
	size := map[byte]int{0x11: 4, 0x21: 16}[family]
	if size > 0 && len(rest) >= 2*size+4 {
		from, _ := netip.AddrFromSlice(rest[:size])
		to, _ := netip.AddrFromSlice(rest[size : 2*size])
		h.from = netip.AddrPortFrom(from, be.BigEndian.Uint16(rest[2*size:]))
		h.to = netip.AddrPortFrom(to, be.BigEndian.Uint16(rest[2*size+2:]))
		rest = rest[2*size+4:]
	} else if !h.local {
		return h, fmt.Errorf("family %#x", family)
	}
	for len(rest) >= 3 {
		n := int(be.BigEndian.Uint16(rest[1:]))
		if n > len(rest)-3 {
			return h, fmt.Errorf("a TLV of %d bytes, and %d are left", n, len(rest)-3)
		}
		h.tlvs[rest[0]] = string(rest[3 : 3+n])
		rest = rest[3+n:]
	}
	if len(rest) > 0 {
		err = fmt.Errorf("%d bytes behind the last TLV", len(rest))
	}
	return h, err
}

// header reads the header that must come first.
func (v *visit) header(t testing.TB) header {
	t.Helper()
	v.SetReadDeadline(time.Now().Add(patience))
	defer v.SetReadDeadline(time.Time{})
	h, err := readHeader(v)
	if err != nil {
		t.Errorf("header: %v", err)
	}
	return h
}

// rest reads what the client says up to its end.
func (v *visit) rest() string {
	text, _ := readAll(v)
	return text
}
