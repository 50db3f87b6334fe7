package proxyheader

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	pp "github.com/pires/go-proxyproto"
)

var pairs = []struct {
	name, from, to     string
	line               string
	family             pp.AddressFamilyAndProtocol
	readFrom, readTo   string // where they differ: unmapped, without zone
	libraryFrom, libTo string // as the library prints them
}{
	{name: "IPv4", from: from4, to: to4, family: pp.TCPv4,
		line: "PROXY TCP4 127.0.0.1 127.0.0.2 42 1337\r\n", libraryFrom: from4, libTo: to4},
	{name: "IPv6", from: from6, to: to6, family: pp.TCPv6,
		line: "PROXY TCP6 2001:db8::1 2001:db8::2 42 1337\r\n", libraryFrom: from6, libTo: to6},
	{name: "mixed", from: from4, to: to6, family: pp.TCPv6,
		line: "PROXY TCP6 ::ffff:7f00:1 2001:db8::2 42 1337\r\n", libraryFrom: from4, libTo: to6},
	{name: "mixed the other way", from: from6, to: "192.0.2.255:80", family: pp.TCPv6,
		line: "PROXY TCP6 2001:db8::1 ::ffff:c000:2ff 42 80\r\n", libraryFrom: from6, libTo: "192.0.2.255:80"},
	{name: "mapped", from: "[::ffff:127.0.0.1]:42", to: to4, family: pp.TCPv4, readFrom: from4,
		line: "PROXY TCP4 127.0.0.1 127.0.0.2 42 1337\r\n", libraryFrom: from4, libTo: to4},
	{name: "zone", from: "[fe80::1%eth0]:42", to: to6, family: pp.TCPv6, readFrom: "[fe80::1]:42",
		line: "PROXY TCP6 fe80::1 2001:db8::2 42 1337\r\n", libraryFrom: "[fe80::1]:42", libTo: to6},
	{name: "longest", from: "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", to: "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535",
		family: pp.TCPv6, line: "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
		libraryFrom: "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", libTo: "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"},
}

// What is written is read back by the library, and by Parse.
func TestAppend(t *testing.T) {
	const wait = 1234567 * time.Microsecond
	for _, p := range pairs {
		from, to := netip.MustParseAddrPort(p.from), netip.MustParseAddrPort(p.to)
		want := Header{Source: from, Destination: to}
		if p.readFrom != "" {
			want.Source = netip.MustParseAddrPort(p.readFrom)
		}
		v1 := AppendV1(nil, from, to)
		if string(v1) != p.line || len(v1) > Longest {
			t.Errorf("%s: %q, want %q", p.name, v1, p.line)
		}
		v2 := AppendV2(nil, from, to, wait)
		for _, b := range [][]byte{v1, v2} {
			if h, n, err := Parse(b); err != nil || n != len(b) || h != want {
				t.Errorf("%s: %q is read as %+v, %d bytes, %v", p.name, b, h, n, err)
			}
			lib, err := pp.Read(bufio.NewReader(bytes.NewReader(b)))
			if err != nil || lib.SourceAddr.String() != p.libraryFrom || lib.DestinationAddr.String() != p.libTo ||
				lib.TransportProtocol != p.family || lib.Command != pp.PROXY {
				t.Errorf("%s: the library reads %q as %+v, %v", p.name, b, lib, err)
			}
		}
		if got := waitOf(t, v2); got != wait {
			t.Errorf("%s: waited %v, want %v", p.name, got, wait)
		}
	}
}

// waitOf reads the queue's wait as a server would.
func waitOf(t *testing.T, b []byte) time.Duration {
	t.Helper()
	lib, err := pp.Read(bufio.NewReader(bytes.NewReader(b)))
	if err != nil {
		t.Fatal(err)
	}
	tlvs, err := lib.TLVs()
	if err != nil || len(tlvs) != 1 || tlvs[0].Type != 0xE0 || len(tlvs[0].Value) != 8 {
		t.Fatalf("TLVs %v, %v", tlvs, err)
	}
	return time.Duration(binary.BigEndian.Uint64(tlvs[0].Value)) * time.Microsecond
}

func TestWait(t *testing.T) {
	from, to := netip.MustParseAddrPort(from4), netip.MustParseAddrPort(to4)
	for wait, want := range map[time.Duration]time.Duration{
		0: 0, -time.Second: 0, 999 * time.Nanosecond: 0, time.Microsecond: time.Microsecond, 300 * time.Hour: 300 * time.Hour,
	} {
		if got := waitOf(t, AppendV2(nil, from, to, wait)); got != want {
			t.Errorf("%v is told as %v, want %v", wait, got, want)
		}
	}
}

func TestAppendLocal(t *testing.T) {
	for v, want := range map[Version]string{
		Off: "", V1: "PROXY UNKNOWN\r\n", V2: sig + "\x20\x00\x00\x00",
	} {
		b := AppendLocal([]byte("x"), v)
		if string(b) != "x"+want {
			t.Errorf("%v: %q, want %q", v, b[1:], want)
		}
		if v == Off {
			continue
		}
		if h, n, err := Parse(b[1:]); err != nil || n != len(want) || h != (Header{Local: true}) {
			t.Errorf("%v: read as %+v, %d bytes, %v", v, h, n, err)
		}
		if lib, err := pp.Read(bufio.NewReader(bytes.NewReader(b[1:]))); err != nil || lib.Command != pp.LOCAL {
			t.Errorf("%v: the library reads %+v, %v", v, lib, err)
		}
	}
}

func TestUnknownAddresses(t *testing.T) {
	to := netip.MustParseAddrPort(to4)
	for _, b := range [][]byte{
		AppendV1(nil, netip.AddrPort{}, to), AppendV1(nil, to, netip.AddrPort{}),
		AppendV2(nil, netip.AddrPort{}, to, time.Second), AppendV2(nil, to, netip.AddrPort{}, time.Second),
	} {
		if h, n, err := Parse(b); err != nil || n != len(b) || h != (Header{Local: true}) {
			t.Errorf("%q: read as %+v, %d bytes, %v", b, h, n, err)
		}
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	from, to := netip.MustParseAddrPort(from4), netip.MustParseAddrPort(to4)
	if b := AppendV2([]byte("before"), from, to, 0); string(b[:6]) != "before" || len(b) != 6+28+11 {
		t.Errorf("%q", b)
	}
	if b := AppendV1([]byte("before"), from, to); string(b) != "before"+pairs[0].line {
		t.Errorf("%q", b)
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	b := make([]byte, 0, Longest)
	for _, p := range pairs {
		from, to := netip.MustParseAddrPort(p.from), netip.MustParseAddrPort(p.to)
		n := testing.AllocsPerRun(1000, func() {
			b = AppendV1(b[:0], from, to)
			b = AppendV2(b[:0], from, to, time.Second)
			b = AppendLocal(b[:0], V1)
			b = AppendLocal(b[:0], V2)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", p.name, n)
		}
	}
}
