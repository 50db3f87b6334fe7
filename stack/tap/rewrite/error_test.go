package rewrite

import (
	"bytes"
	"testing"
)

func TestParseError(t *testing.T) {
	for name, w := range paths {
		for n := range 27 { // of 27 bytes that the segment has
			b := w.unreachable().message(quote(segment(w.out, 99), n))
			e, ok := ParseError(b[:len(b):len(b)], parse(b))
			if ok != (n >= 8) {
				t.Errorf("%s, %d bytes quoted: %v", name, n, ok)
			}
			if ok && (e.Src != w.out.Src || e.Dst != w.out.Dst || e.SrcPort != w.out.SrcPort || e.DstPort != w.out.DstPort ||
				e.Seq != 99 || !e.Hard() || e.V6 != (name == "v6")) {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}

// changing returns a copy of b with the bytes at an offset replaced.
func changing(b []byte, at int, with ...byte) []byte {
	b = bytes.Clone(b)
	copy(b[at:], with)
	return b
}

func TestErrorThatIsNone(t *testing.T) {
	right := func(b []byte) []byte { resumICMP(b); return b }
	kind := func(b []byte, kind, code byte) []byte { return right(changing(b, parse(b).L4, kind, code)) }
	q4, q6 := quote(segment(path4.out, 99), 27), quote(segment(path6.out, 99), 27)
	b4, b6 := path4.unreachable().message(q4), path6.unreachable().message(q6)
	optioned := append(changing(q4[:ip4Size], 0, 0x46), append([]byte{1, 1, 1, 1}, q4[ip4Size:]...)...)
	extended := append(changing(q6[:ip6Size], 6, 60), append([]byte{6, 0, 1, 4, 0, 0, 0, 0}, q6[ip6Size:]...)...)
	mapped := path6.unreachable()
	other := *path4.unreachable()
	other.dst = front4
	for name, b := range map[string][]byte{
		"wrong checksum":                  changing(b4, 36, b4[36]^1),
		"wrong checksum, IPv6":            changing(b6, 56, b6[56]^1),
		"to a group on the link":          changing(b4, 0, 1, 0, 0x5e),
		"a ping":                          kind(b4, echo4, 0),
		"an answer to a ping":             kind(b4, reply4, 0),
		"source quench":                   kind(b4, 4, 0),
		"redirect":                        kind(b4, 5, 1),
		"ICMPv6's type in ICMP":           kind(b4, tooBig6, 0),
		"ICMP's type in ICMPv6":           kind(b6, exceeded4, 0),
		"type zero":                       kind(b6, 0, 0),
		"a ping, IPv6":                    kind(b6, echo6, 0),
		"an unknown error":                kind(b6, 100, 0),
		"unreachable for a reason of 16":  kind(b4, unreachable4, 16),
		"UDP":                             changing(b4, offProto4, 17),
		"a piece":                         right(changing(b4, offFragment4, 0x20)),
		"has options":                     insert(b4, 0, []byte{1, 1, 1, 1}),
		"has an extension header":         insert(b6, 0, []byte{58, 0, 1, 4, 0, 0, 0, 0}),
		"from a group":                    right(changing(b4, 26, 224)),
		"a later piece":                   right(changing(b4, offFragment4, 0, 1)),
		"quotes UDP":                      right(changing(b4, 42+9, 17)),
		"quotes UDP, IPv6":                right(changing(b6, 62+6, 17)),
		"quotes a later piece":            right(changing(b4, 42+6, 0, 1)),
		"quotes IPv6 in ICMP":             right(changing(b4, 42, 0x65)),
		"quotes IPv4 in ICMPv6":           right(changing(b6, 62, 0x45)),
		"quotes options":                  path4.unreachable().message(optioned),
		"quotes an extension header":      path6.unreachable().message(extended),
		"quotes a header that is shorter": right(changing(b4, 42, 0x44)),
		"quotes mapped addresses":         mapped.message(changing(q6, 8, server4[:]...)),
		"quotes a mapped destination":     mapped.message(changing(q6, 24, server4[:]...)),
		"sent to another than it quotes":  other.message(q4),
		"of eight bytes":                  path4.unreachable().message(nil),
		"a segment":                       syn(path4.in),
	} {
		if e, ok := ParseError(b, parse(b)); ok {
			t.Errorf("%s: %+v", name, e)
		}
	}
	// What a router has that lowered the hops before it made up its mind is one, as
	// is the first of several pieces, and what lies behind the message is no matter.
	for name, b := range map[string][]byte{
		"right":                          b4,
		"right, IPv6":                    b6,
		"padded":                         append(bytes.Clone(b4), 1, 2, 3),
		"quoted checksum":                right(changing(b4, 42+8, 0)),
		"quotes the first piece":         right(changing(b4, 42+6, 0x20)),
		"quoted length as a host has it": right(changing(b4, 42+2, 47, 0)),
	} {
		if _, ok := ParseError(b, parse(b)); !ok {
			t.Errorf("%s: not taken", name)
		}
	}
}

// Each byte that is missing of an error makes it none; nothing is read behind it.
func TestErrorCutOff(t *testing.T) {
	for _, w := range paths {
		b := w.unreachable().message(quote(segment(w.out, 99), 8))
		p := parse(b)
		for n := range b {
			if _, ok := ParseError(b[:n:n], p); ok {
				t.Errorf("%d bytes of %d are enough", n, len(b))
			}
		}
	}
}

func TestWhatErrorsMean(t *testing.T) {
	four, six := path4.unreachable(), path6.unreachable()
	for _, c := range []struct {
		name string
		said *said
		kind byte
		code byte
		hard bool
		mtu  int // -1: not about it
	}{
		{"net unreachable", four, unreachable4, 0, true, -1},
		{"host unreachable", four, unreachable4, 1, true, -1},
		{"protocol unreachable", four, unreachable4, 2, true, -1},
		{"port unreachable", four, unreachable4, 3, true, -1},
		{"too big", four, unreachable4, 4, false, 1280},
		{"prohibited", four, unreachable4, 13, true, -1},
		{"time exceeded", four, exceeded4, 0, false, -1},
		{"reassembly time exceeded", four, exceeded4, 1, false, -1},
		{"parameter problem", four, problem4, 0, false, -1},
		{"no route", six, unreachable6, 0, true, -1},
		{"prohibited, IPv6", six, unreachable6, 1, true, -1},
		{"address unreachable", six, unreachable6, 3, true, -1},
		{"port unreachable, IPv6", six, unreachable6, 4, true, -1},
		{"too big, IPv6", six, tooBig6, 0, false, 0x10500},
		{"hop limit exceeded", six, exceeded6, 0, false, -1},
		{"erroneous header", six, problem6, 0, false, -1},
		{"nobody knows TCP", six, problem6, 1, true, -1},
	} {
		w := path4
		if c.said == six {
			w = path6
		}
		c.said.kind, c.said.code, c.said.rest = c.kind, c.code, 0x10500 // 1280 and a bit that ICMP has no use for
		b := c.said.message(quote(segment(w.out, 99), 8))
		e, ok := ParseError(b, parse(b))
		mtu, big := e.MTU()
		if !ok || e.Hard() != c.hard || big != (c.mtu >= 0) || big && mtu != c.mtu || e.Type != c.kind || e.Code != c.code {
			t.Errorf("%s: %+v %v, hard %v, MTU %d %v", c.name, e, ok, e.Hard(), mtu, big)
		}
	}
	// A router that does not say.
	four.kind, four.code, four.rest = unreachable4, 4, 0
	b := four.message(quote(segment(path4.out, 99), 8))
	if e, _ := ParseError(b, parse(b)); e != (Error{}) {
		if mtu, ok := e.MTU(); mtu != 0 || !ok {
			t.Errorf("MTU %d %v", mtu, ok)
		}
	}
}
