package rewrite

import (
	"bytes"
	"testing"

	"penstock/stack/tap/frame"
)

// ping is a host's echo request for our address.
func ping(w *path, body []byte) (b []byte, s said) {
	s = said{srcMAC: hop1, dstMAC: own, src: w.in.Src, dst: w.in.Dst, kind: echo4, rest: 0x12345678}
	if !frame.Is4(&s.src) {
		s.kind = echo6
	}
	return s.message(body), s
}

func TestEcho(t *testing.T) {
	for name, w := range paths {
		for _, n := range []int{0, 1, 56, 1400} {
			ask, s := ping(&w, bytes.Repeat([]byte{0xa5}, n))
			got, ok := AppendEcho([]byte("before"), append(ask, 1, 2), parse(ask), own)
			s.srcMAC, s.dstMAC, s.src, s.dst = own, hop1, s.dst, s.src
			if s.kind = reply4; name == "v6" {
				s.kind = reply6
			}
			want := s.message(bytes.Repeat([]byte{0xa5}, n))
			if !ok || !bytes.HasPrefix(got, []byte("before")) {
				t.Fatalf("%s, %d bytes: %v", name, n, ok)
			}
			got = got[len("before"):]
			p := parse(got)
			if !icmpOK(got) || !bytes.Equal(got[p.L4:], want[p.L4:]) || p.Src != s.src || p.Dst != s.dst || p.From != own ||
				frame.MAC(got[:6]) != hop1 || len(got) != len(ask) {
				t.Errorf("%s, %d bytes: %x", name, n, got)
			}
		}
	}
}

// Each checksum that a request may have, among them both zeros.
func TestEchoOfEachChecksum(t *testing.T) {
	for name, w := range paths {
		b, _ := ping(&w, []byte{0, 0})
		p := parse(b)
		for v := range 1 << 16 {
			be.PutUint16(b[len(b)-2:], uint16(v))
			resumICMP(b)
			if got, ok := AppendEcho(nil, b, p, own); !ok || !icmpOK(got) {
				t.Fatalf("%s, %#x: %v %x", name, v, ok, got)
			}
		}
	}
}

func TestNoEcho(t *testing.T) {
	right := func(b []byte) []byte { resumICMP(b); return b }
	four, _ := ping(&path4, []byte("ping"))
	six, _ := ping(&path6, []byte("ping"))
	group := addr("ff02::1")
	for name, b := range map[string][]byte{
		"wrong checksum":           changing(four, len(four)-1, 9),
		"wrong checksum, IPv6":     changing(six, len(six)-1, 9),
		"an answer":                right(changing(four, 34, reply4)),
		"an answer, IPv6":          right(changing(six, 54, reply6)),
		"a code":                   right(changing(four, 35, 1)),
		"ICMPv6's request in ICMP": right(changing(four, 34, echo6)),
		"ICMP's request in ICMPv6": right(changing(six, 54, echo4)),
		"by broadcast":             changing(four, 0, frame.Broadcast[:]...),
		"to 224.0.0.1":             right(changing(four, 30, 224, 0, 0, 1)),
		"to 255.255.255.255":       right(changing(four, 30, 255, 255, 255, 255)),
		"from 0.0.0.0":             right(changing(four, 26, 0, 0, 0, 0)),
		"to ff02::1":               right(changing(six, 38, group[:]...)),
		"from ::":                  right(changing(six, 22, make([]byte, 16)...)),
		"a piece":                  right(changing(four, offFragment4, 0x20)),
		"cut off":                  four[:len(four)-1],
		"a segment":                syn(path4.in),
	} {
		if got, ok := AppendEcho([]byte("x"), b, parse(four), own); name == "cut off" && (ok || len(got) != 1) {
			t.Errorf("%s: %x", name, got)
		}
		if got, ok := AppendEcho([]byte("x"), b, parse(b), own); ok || len(got) != 1 {
			t.Errorf("%s: %x", name, got)
		}
	}
}

// Our own errors are read by gVisor, and by ourselves as the other side would.
func TestErrorsOfOurOwn(t *testing.T) {
	for name, w := range paths {
		from := w.in.Dst
		for _, n := range []int{0, 1, 500, 1400, 60000} {
			b := append(data(w.in, make([]byte, n)), 9, 9, 9) // padded
			p := parse(b)
			for what, got := range map[string][]byte{
				"too big":       AppendTooBig([]byte("x"), b, p, own, from, 1400),
				"time exceeded": AppendTimeExceeded([]byte("x"), b[:p.Data], p, own, from),
			} {
				got = got[1:]
				q := parse(got)
				e, ok := ParseError(got, q)
				if !ok || !icmpOK(got) || q.Src != from || q.Dst != p.Src || q.From != own || frame.MAC(got[:6]) != p.From ||
					e.Seq != p.Seq || e.SrcPort != p.SrcPort || e.DstPort != p.DstPort || e.Dst != p.Dst || e.Hard() {
					t.Errorf("%s, %d bytes, %s: %+v %v", name, n, what, e, ok)
				}
				if mtu, ok := e.MTU(); ok != (what == "too big") || ok && mtu != 1400 {
					t.Errorf("%s, %d bytes, %s: MTU %d", name, n, what, mtu)
				}
				if most := map[string]int{"v4": 576, "v6": 1280}[name]; len(got)-etherSize > most ||
					what == "too big" && n >= most && len(got)-etherSize != most {
					t.Errorf("%s, %d bytes, %s: %d bytes", name, n, what, len(got)-etherSize)
				}
				if cut := got[e.ip:]; !bytes.HasPrefix(b[etherSize:p.End], cut) {
					t.Errorf("%s, %d bytes, %s: quotes %x", name, n, what, cut)
				}
			}
		}
	}
}

// Nothing is said about what is no segment, errors above all.
func TestNoErrorAboutAnError(t *testing.T) {
	for name, w := range paths {
		b := w.unreachable().message(quote(segment(w.out, 1), 20))
		if got := AppendTooBig(nil, b, parse(b), own, w.in.Dst, 1400); len(got) != 0 {
			t.Errorf("%s: %x", name, got)
		}
		if got := AppendTimeExceeded(nil, b, parse(b), own, w.in.Dst); len(got) != 0 {
			t.Errorf("%s: %x", name, got)
		}
	}
}

// An MTU that the field of IPv4 has no room for.
func TestTooBigForALargeMTU(t *testing.T) {
	for name, w := range paths {
		b := data(w.in, nil)
		b = AppendTooBig(nil, b, parse(b), own, w.in.Dst, 1<<16)
		e, _ := ParseError(b, parse(b))
		if mtu, ok := e.MTU(); !ok || mtu != map[string]int{"v4": 0xffff, "v6": 1 << 16}[name] {
			t.Errorf("%s: MTU %d", name, mtu)
		}
	}
}
