package rewrite

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"penstock/stack/tap/frame"
)

// asGiven is what Translate should make of an error: the same one, about the
// segment that we were given instead of what became of it.
func asGiven(s said, to *frame.Flow, body []byte) []byte {
	s.srcMAC, s.dstMAC, s.src, s.dst = to.SrcMAC, to.DstMAC, to.Src, to.Dst
	b := s.message(body)
	if frame.Is4(&to.Src) {
		b[offTTL4]--
	} else {
		b[offHops6]--
	}
	resumICMP(b)
	return b
}

// An error about a segment becomes, bit for bit, the error that the sender would
// have got about the segment that it sent, however much is quoted, and whichever
// way the segment went.
func TestTranslate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		six := rapid.Bool().Draw(t, "six")
		given, sent := anyFlow(t, six, "given"), anyFlow(t, six, "sent")
		if rapid.Bool().Draw(t, "no SNAT") {
			sent.Src, sent.SrcPort = given.Src, given.SrcPort
		}
		if rapid.Bool().Draw(t, "no DNAT") {
			sent.Dst, sent.DstPort = given.Dst, given.DstPort
		}
		seq, delta := rapid.Uint32().Draw(t, "seq"), rapid.SampledFrom([]uint32{0, 1, 1 << 31, 1<<32 - 1, 0x12345}).Draw(t, "delta")
		n := rapid.IntRange(8, 27).Draw(t, "quoted")
		s := said{srcMAC: sent.DstMAC, dstMAC: own, src: sent.Dst, dst: sent.Src, rest: rapid.Uint32().Draw(t, "rest")}
		s.kind = rapid.SampledFrom([]byte{unreachable4, exceeded4, problem4}).Draw(t, "kind")
		if six {
			s.kind = rapid.ByteRange(unreachable6, problem6).Draw(t, "kind6")
		}
		s.code = rapid.ByteRange(0, 15).Draw(t, "code")

		b := s.message(quote(segment(sent, seq), n))
		b = append(b, rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "padding")...)
		p := parse(b)
		e, ok := ParseError(b, p)
		if !ok {
			t.Fatalf("no error: %x", b)
		}
		to := frame.Flow{SrcMAC: own, DstMAC: hop1, Src: given.Dst, Dst: given.Src}
		got := e.Translate(b[:len(b):len(b)], p, own, hop1, given.Src, &given, delta)
		// One byte of a checksum is too little to correct it.
		if want := asGiven(s, &to, quote(segment(given, seq+delta), n)); !bytes.Equal(got, want) && n != 17 {
			t.Fatalf("%x\nwant\n%x", got, want)
		}
		if !icmpOK(got) {
			t.Fatalf("a checksum is wrong: %x", got)
		}
	})
}

// Who an error comes from afterwards: a router behind us is hidden, one on the
// sender's own side isn't.
func TestWhoTheErrorComesFrom(t *testing.T) {
	for name, w := range paths {
		router := addr("192.168.7.7")
		if name == "v6" {
			router = addr("fd00:7::7")
		}
		back := path{reverse(w.out), reverse(w.in)} // what the server sends, here and there
		bare := back
		bare.in.Dst = w.in.Src // without SNAT
		for what, c := range map[string]struct {
			path
			from, want frame.Addr
		}{
			"the server":                        {w, w.out.Dst, w.in.Dst},
			"a router in front of the server":   {w, router, w.in.Dst},
			"the client":                        {back, w.in.Src, w.out.Src},
			"a router in front of the client":   {back, router, w.out.Src},
			"the client, no SNAT":               {bare, w.in.Src, w.in.Src},
			"a router of the client's, no SNAT": {bare, router, router},
		} {
			s := c.unreachable()
			s.src = c.from
			b := s.message(quote(segment(c.out, 1), 20))
			e, ok := ParseError(b, parse(b))
			if !ok {
				t.Fatalf("%s, %s: no error", name, what)
			}
			b = e.Translate(b, parse(b), own, hop1, c.in.Src, &c.in, 0)
			if p := parse(b); p.Src != c.want || p.Dst != c.in.Src || !icmpOK(b) {
				t.Errorf("%s, %s: from %v", name, what, p.Src)
			}
		}
	}
}

// What was wrong in the quote stays wrong, and the message is right all the same.
func TestWrongQuote(t *testing.T) {
	for name, w := range paths {
		b := w.unreachable().message(quote(segment(w.out, 1), 27))
		p := parse(b)
		e, _ := ParseError(b, p)
		for _, at := range []int{e.ip + 10, e.tcp + tcpSum} { // of IPv6 it is an address
			if p.V6 && at == e.ip+10 {
				continue
			}
			c := changing(b, at, b[at]^0x55)
			resumICMP(c)
			e, ok := ParseError(c, p)
			if !ok {
				t.Fatalf("%s: none", name)
			}
			c = e.Translate(c, p, own, hop1, w.in.Src, &w.in, 7)
			want := segment(w.in, 8)[etherSize:]
			if !icmpOK(c) || be.Uint16(c[at:]) == be.Uint16(want[at-e.ip:]) {
				t.Errorf("%s, byte %d: right %v", name, at, icmpOK(c))
			}
		}
	}
}

// Extensions behind the quote (RFC 4884) are passed on as they are.
func TestExtensions(t *testing.T) {
	for name, w := range paths {
		q := append(quote(segment(w.out, 1), 27), make([]byte, 128)...)[:128]
		mpls := []byte{0x20, 0, 0xdf, 0x2f, 0, 8, 1, 1, 0, 1, 0x31, 1}
		b := w.unreachable().message(append(bytes.Clone(q), mpls...))
		e, ok := ParseError(b, parse(b))
		if !ok {
			t.Fatalf("%s: none", name)
		}
		b = e.Translate(b, parse(b), own, hop1, w.in.Src, &w.in, 0)
		if !icmpOK(b) || !bytes.HasSuffix(b, mpls) {
			t.Errorf("%s: %x", name, b)
		}
	}
}
