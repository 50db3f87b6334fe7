package proxyheader

import (
	"bufio"
	"bytes"
	"slices"
	"testing"

	pp "github.com/pires/go-proxyproto"
)

// FuzzParse: whatever the bytes, however they are cut, and whatever follows,
// the answer is one and the same; and the library agrees with it, but for
// what doc.go lists.
func FuzzParse(f *testing.F) {
	for _, s := range slices.Concat(good, bad) {
		f.Add([]byte(s.in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := Parse(b)
		if n < 0 || n > len(b) || n > Most || err == nil != (n > 0) {
			t.Fatalf("%d of %d bytes, %v", n, len(b), err)
		}
		if err == nil {
			b = b[:n]
		}
		prefixes(t, b, err)
		for _, behind := range []string{"x", "\r\n", "PROXY UNKNOWN\r\n"} {
			h2, n2, err2 := Parse(append(bytes.Clone(b), behind...))
			if err != ErrShort && (h2 != h || n2 != n || err2 != err) {
				t.Fatalf("with %q behind: %+v %d %v, without: %+v %d %v", behind, h2, n2, err2, h, n, err)
			}
		}
		compare(t, b, h, err)
	})
}

// prefixes sees that what b is shows once, and never another way: short until
// then, and afterwards as all of b.
func prefixes(t *testing.T, b []byte, err error) {
	t.Helper()
	known := false
	for i := range b {
		_, _, e := Parse(b[:i])
		switch {
		case !known && e == ErrShort:
		case err != nil && err != ErrShort && e == err:
			known = true
		default:
			t.Fatalf("the first %d of %d bytes: %v; all of them: %v", i, len(b), e, err)
		}
	}
}

func compare(t *testing.T, b []byte, h Header, err error) {
	t.Helper()
	lib, libErr := pp.Read(bufio.NewReader(bytes.NewReader(b)))
	switch {
	case err == nil && libErr != nil:
		if !h.Local || lib != nil || !bytes.HasPrefix(b, []byte(sig+"\x21\x00")) {
			t.Fatalf("the library refuses %q: %v; here it is %+v", b, libErr, h)
		}
	case err == nil && !h.Local:
		from, to, ok := lib.TCPAddrs()
		if !ok || addrPort(from) != h.Source || addrPort(to) != h.Destination {
			t.Fatalf("the library reads %v and %v, here it is %+v", lib.SourceAddr, lib.DestinationAddr, h)
		}
	case err == nil:
		if _, _, tcp := lib.TCPAddrs(); tcp && lib.Command == pp.PROXY {
			t.Fatalf("the library knows addresses: %v, %v", lib.SourceAddr, lib.DestinationAddr)
		}
	case libErr == nil:
		if stricter := []error{ErrTLV, ErrChecksum, ErrTooLong, ErrLine}; !slices.Contains(stricter, err) {
			t.Fatalf("the library takes %q, here it is %v", b, err)
		}
	}
}
