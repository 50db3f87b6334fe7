package proxyheader

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"net/netip"
	"strings"
	"testing"
)

const (
	sig     = "\r\n\r\n\x00\r\nQUIT\n"
	tcp4    = "\x7f\x00\x00\x01\x7f\x00\x00\x02\x00\x2a\x05\x39" // 127.0.0.1:42 to 127.0.0.2:1337
	author  = "\x02\x00\x0512345"
	from4   = "127.0.0.1:42"
	to4     = "127.0.0.2:1337"
	from6   = "[2001:db8::1]:42"
	to6     = "[2001:db8::2]:1337"
	mapped  = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff"
	address = "2001:0db8:0000:0000:0000:0000:0000:0001"
)

// binaryHeader is a header of version 2 with the right length.
func binaryHeader(command, family byte, block string) string {
	return sig + string([]byte{command, family, byte(len(block) >> 8), byte(len(block))}) + block
}

// withSum puts a CRC32c behind a block.
func withSum(command, family byte, block string) string {
	b := []byte(binaryHeader(command, family, block+"\x03\x00\x04\x00\x00\x00\x00"))
	sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	binary.BigEndian.PutUint32(b[len(b)-4:], sum)
	return string(b)
}

func tcp6() string {
	a, b := netip.MustParseAddr("2001:db8::1").As16(), netip.MustParseAddr("2001:db8::2").As16()
	return string(a[:]) + string(b[:]) + "\x00\x2a\x05\x39"
}

type sample struct {
	name, in string
	from, to string // empty: Local
	err      error
}

var good = []sample{
	{name: "v1 tcp4", in: "PROXY TCP4 127.0.0.1 127.0.0.2 42 1337\r\n", from: from4, to: to4},
	{name: "v1 tcp4 longest", in: "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n",
		from: "255.255.255.255:65535", to: "255.255.255.255:65535"},
	{name: "v1 tcp6", in: "PROXY TCP6 2001:db8::1 2001:DB8:0::2 42 1337\r\n", from: from6, to: to6},
	{name: "v1 tcp6 long form", in: "PROXY TCP6 " + address + " " + address + " 0 65535\r\n",
		from: "[2001:db8::1]:0", to: "[2001:db8::1]:65535"},
	{name: "v1 tcp6 mapped", in: "PROXY TCP6 ::ffff:7f00:1 ::ffff:127.0.0.2 42 1337\r\n", from: from4, to: to4},
	{name: "v1 unknown", in: "PROXY UNKNOWN\r\n"},
	{name: "v1 unknown with addresses", in: "PROXY UNKNOWN ffff:: ffff:: 65535 65535\r\n"},
	{name: "v1 unknown with anything", in: "PROXY UNKNOWN \x00\xff TCP4  \r\n"},
	{name: "v1 unknown longest", in: "PROXY UNKNOWN " + strings.Repeat("f", 107-16) + "\r\n"},

	{name: "v2 tcp4", in: binaryHeader(0x21, 0x11, tcp4), from: from4, to: to4},
	{name: "v2 tcp6", in: binaryHeader(0x21, 0x21, tcp6()), from: from6, to: to6},
	{name: "v2 tcp6 mapped", in: binaryHeader(0x21, 0x21, mapped+tcp4[:4]+mapped+tcp4[4:]), from: from4, to: to4},
	{name: "v2 tlv", in: binaryHeader(0x21, 0x11, tcp4+author), from: from4, to: to4},
	{name: "v2 empty tlv, noop, unknown types", in: binaryHeader(0x21, 0x11, tcp4+"\x04\x00\x00\x04\x00\x02ab\xe7\x00\x01x"),
		from: from4, to: to4},
	{name: "v2 checksum", in: withSum(0x21, 0x11, tcp4+author), from: from4, to: to4},
	{name: "v2 checksum tcp6", in: withSum(0x21, 0x21, tcp6()), from: from6, to: to6},
	{name: "v2 longest", in: binaryHeader(0x21, 0x11, tcp4+"\xe1\x0f\xe1"+strings.Repeat("x", Most-16-12-3)), from: from4, to: to4},
	{name: "v2 local", in: binaryHeader(0x20, 0x00, "")},
	{name: "v2 local with a family and no address", in: binaryHeader(0x20, 0x11, "")},
	{name: "v2 local, block to be discarded", in: binaryHeader(0x20, 0x21, "any bytes")},
	{name: "v2 unspec", in: binaryHeader(0x21, 0x00, "any bytes")},
	{name: "v2 udp4", in: binaryHeader(0x21, 0x12, tcp4+author)},
	{name: "v2 udp6", in: binaryHeader(0x21, 0x22, tcp6())},
	{name: "v2 unix", in: binaryHeader(0x21, 0x31, strings.Repeat("/", 216)+author)},
	{name: "v2 unix datagram", in: binaryHeader(0x21, 0x32, strings.Repeat("/", 216))},
}

var bad = []sample{
	{name: "http", in: "GET / HTTP/1.1\r\n", err: ErrSignature},
	{name: "lower case", in: "proxy TCP4 ", err: ErrSignature},
	{name: "v1 junk behind the signature", in: "PROXYjunk TCP4 127.0.0.1 127.0.0.2 42 1337\r\n", err: ErrSignature},
	{name: "v1 tcp5", in: "PROXY TCP5", err: ErrSignature},
	{name: "v1 udp4", in: "PROXY UDP4", err: ErrSignature},
	{name: "v1 unknown, more letters", in: "PROXY UNKNOWNS\r\n", err: ErrSignature},
	{name: "v1 two spaces", in: "PROXY  TCP4", err: ErrSignature},
	{name: "v1 two spaces inside", in: "PROXY TCP4  127.0.0.1 127.0.0.2 42 1337\r\n", err: ErrAddress},
	{name: "v1 tab", in: "PROXY TCP4 127.0.0.1\t127.0.0.2 42 1337\r\n", err: ErrAddress},
	{name: "v1 space at the end", in: "PROXY TCP4 127.0.0.1 127.0.0.2 42 1337 \r\n", err: ErrAddress},
	{name: "v1 words missing", in: "PROXY TCP4 127.0.0.1 127.0.0.2 42\r\n", err: ErrAddress},
	{name: "v1 words missing 2", in: "PROXY TCP4 \r\n", err: ErrAddress},
	{name: "v1 family", in: "PROXY TCP6 127.0.0.1 127.0.0.2 42 1337\r\n", err: ErrAddress},
	{name: "v1 family 2", in: "PROXY TCP4 ::1 ::2 42 1337\r\n", err: ErrAddress},
	{name: "v1 mixed family", in: "PROXY TCP4 127.0.0.1 ::2 42 1337\r\n", err: ErrAddress},
	{name: "v1 zone", in: "PROXY TCP6 fe80::1%eth0 ::2 42 1337\r\n", err: ErrAddress},
	{name: "v1 octal", in: "PROXY TCP4 127.0.0.01 127.0.0.2 42 1337\r\n", err: ErrAddress},
	{name: "v1 three numbers", in: "PROXY TCP4 127.0.1 127.0.0.2 42 1337\r\n", err: ErrAddress},
	{name: "v1 256", in: "PROXY TCP4 127.0.0.256 127.0.0.2 42 1337\r\n", err: ErrAddress},
	{name: "v1 port with a zero in front", in: "PROXY TCP4 127.0.0.1 127.0.0.2 042 1337\r\n", err: ErrAddress},
	{name: "v1 port 65536", in: "PROXY TCP4 127.0.0.1 127.0.0.2 42 65536\r\n", err: ErrAddress},
	{name: "v1 port with a sign", in: "PROXY TCP4 127.0.0.1 127.0.0.2 +42 1337\r\n", err: ErrAddress},
	{name: "v1 lone LF", in: "PROXY TCP4 127.0.0.1 127.0.0.2 42 1337\n", err: ErrLine},
	{name: "v1 lone CR", in: "PROXY TCP4 127.0.0.1 127.0.0.2 42 1337\rG", err: ErrLine},
	{name: "v1 lone CR in unknown", in: "PROXY UNKNOWN a\rb", err: ErrLine},
	{name: "v1 unknown, CR and no LF", in: "PROXY UNKNOWN\rx", err: ErrLine},
	{name: "v1 too long", in: "PROXY UNKNOWN " + strings.Repeat("f", 106-14), err: ErrTooLong},
	{name: "v1 too long, CR LF late", in: "PROXY UNKNOWN " + strings.Repeat("f", 107-15) + "\r\n", err: ErrTooLong},

	{name: "v2 signature", in: "\r\n\r\n\x00\r\nQUIR", err: ErrSignature},
	{name: "v2 version 1", in: sig + "\x11", err: ErrCommand},
	{name: "v2 version 3", in: sig + "\x31", err: ErrCommand},
	{name: "v2 command 2", in: sig + "\x22", err: ErrCommand},
	{name: "v2 family 4", in: sig + "\x21\x41", err: ErrFamily},
	{name: "v2 protocol 3", in: sig + "\x21\x13", err: ErrFamily},
	{name: "v2 protocol unspecified, family not", in: sig + "\x21\x10", err: ErrFamily},
	{name: "v2 local of no family", in: sig + "\x20\x99", err: ErrFamily},
	{name: "v2 tcp4 length 11", in: sig + "\x21\x11\x00\x0b", err: ErrLength},
	{name: "v2 tcp6 with length of tcp4", in: sig + "\x21\x21\x00\x0c", err: ErrLength},
	{name: "v2 unix length 215", in: sig + "\x21\x31\x00\xd7", err: ErrLength},
	{name: "v2 too long", in: sig + "\x21\x11\x0f\xf1", err: ErrTooLong},
	{name: "v2 local too long", in: sig + "\x20\x00\xff\xff", err: ErrTooLong},
	// The two wrong ones of haproxy's proxy_protocol_tlv_validation.vtc.
	{name: "v2 tlv past the end", in: binaryHeader(0x21, 0x11, tcp4+"\x02\x00\x0a12345"), err: ErrTLV},
	{name: "v2 tlv not ending at the end", in: binaryHeader(0x21, 0x11, tcp4+"\x02\x00\x041234"+"5"), err: ErrTLV},
	{name: "v2 half a tlv", in: binaryHeader(0x21, 0x11, tcp4+"\x02\x00"), err: ErrTLV},
	{name: "v2 tlv in udp", in: binaryHeader(0x21, 0x12, tcp4+"\x02\x00"), err: ErrTLV},
	{name: "v2 unique id of 129 bytes", in: binaryHeader(0x21, 0x11, tcp4+"\x05\x00\x81"+strings.Repeat("x", 129)), err: ErrTLV},
	{name: "v2 wrong checksum", in: strings.Replace(withSum(0x21, 0x11, tcp4+author), "12345", "12346", 1), err: ErrChecksum},
	{name: "v2 short checksum", in: binaryHeader(0x21, 0x11, tcp4+"\x03\x00\x02ab"), err: ErrTLV},
	{name: "v2 two checksums", in: withSum(0x21, 0x11, tcp4+"\x03\x00\x04abcd"), err: ErrTLV},
}

func addrPortOrZero(s string) netip.AddrPort {
	if s == "" {
		return netip.AddrPort{}
	}
	return netip.MustParseAddrPort(s)
}

func TestGood(t *testing.T) {
	for _, s := range good {
		want := Header{Source: addrPortOrZero(s.from), Destination: addrPortOrZero(s.to), Local: s.from == ""}
		// Bytes behind the header are the client's.
		for _, behind := range []string{"", "x", author, "\r\n", s.in} {
			h, n, err := Parse([]byte(s.in + behind))
			if err != nil || n != len(s.in) || h != want {
				t.Errorf("%s + %q: %+v, %d bytes, %v; want %+v and %d", s.name, behind, h, n, err, want, len(s.in))
			}
		}
		cut(t, s.name, []byte(s.in))
	}
}

// cut sees that each beginning asks for more.
func cut(t *testing.T, name string, b []byte) {
	t.Helper()
	for i := range b {
		if h, n, err := Parse(b[:i]); err != ErrShort || n != 0 || h != (Header{}) {
			t.Fatalf("%s, the first %d of %d bytes: %+v, %d, %v; want ErrShort", name, i, len(b), h, n, err)
		}
	}
}

func TestBad(t *testing.T) {
	for _, s := range bad {
		for _, behind := range []string{"", "x", "\r\n", strings.Repeat("x", 2*Most)} {
			if h, n, err := Parse([]byte(s.in + behind)); err != s.err || n != 0 || h != (Header{}) {
				t.Errorf("%s + %d bytes: %+v, %d bytes, %v; want %v", s.name, len(behind), h, n, err, s.err)
			}
		}
		// What is wrong inside is refused when it is there, and not before.
		if s.err != ErrSignature && !strings.HasPrefix(s.name, "v1 too long") {
			cut(t, s.name, []byte(s.in))
		}
	}
}

func TestRefusedAtFirstWrongByte(t *testing.T) {
	for in, at := range map[string]int{
		"GET": 1, "PROXX": 5, "PROXY\t": 6, "PROXY T": 0, "PROXY TX": 8, "PROXY TCP4\r": 11, "PROXY UNKNOWNX": 14,
		"\r\n\r\nG": 5, "\n": 1, "\x00": 1,
	} {
		for i := 1; i <= len(in); i++ {
			_, _, err := Parse([]byte(in[:i]))
			if want := at > 0 && i >= at; want != (err == ErrSignature) || !want && err != ErrShort {
				t.Errorf("%q: %v", in[:i], err)
			}
		}
	}
}

func TestParseKeepsAndChangesNothing(t *testing.T) {
	b := []byte(withSum(0x21, 0x11, tcp4+author))
	was := bytes.Clone(b)
	h, _, err := Parse(b)
	if err != nil || !bytes.Equal(b, was) {
		t.Fatalf("%v; bytes now %q, were %q", err, b, was)
	}
	clear(b)
	if h.Source.String() != from4 {
		t.Errorf("the header changed with the buffer: %+v", h)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, s := range []sample{good[0], good[2], good[5], good[9], good[10], good[13]} {
		b.Run(strings.ReplaceAll(s.name, " ", "-"), func(b *testing.B) {
			in := []byte(s.in)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Parse(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
