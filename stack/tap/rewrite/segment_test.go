package rewrite

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// Whatever the segment, it is bit for bit what writing its fields and computing
// its checksums anew gives; all else, padding too, stays. It is enough to have the
// headers at hand.
func TestSegmentIsAsComputedAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		six := rapid.Bool().Draw(t, "six")
		from, to := anyFlow(t, six, "from"), anyFlow(t, six, "to")
		b := anySegment(t, &from)
		want, p, h := twin(b, &to), parse(b), device.VNet{Flags: rapid.SampledFrom([]uint8{0, device.DataValid}).Draw(t, "flags")}
		was := h
		Segment(b[:p.Data:p.Data], p, &h, &to)
		if !bytes.Equal(b, want) || h != was {
			t.Fatalf("%x\nwant\n%x", b, want)
		}
		if !sumsOK(b) {
			t.Fatalf("a checksum is wrong: %x", b)
		}
	})
}

// A frame whose checksum is left to the device, and that may have to be cut into
// segments, has the right pseudo header's sum in it, and nothing else is asked of
// the device than before.
func TestSegmentLeftToTheDevice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		six := rapid.Bool().Draw(t, "six")
		from, to := anyFlow(t, six, "from"), anyFlow(t, six, "to")
		b := anySegment(t, &from)
		want := twin(b, &to)
		b, h := undone(b)
		if rapid.Bool().Draw(t, "TSO") {
			h.GSO, h.HdrLen, h.GSOSize = device.GSOTCP4, uint16(parse(b).Data), 1448
		}
		was := h
		Segment(b, parse(b), &h, &to)
		p := parse(b)
		if sum := be.Uint16(b[p.L4+tcpSum:]); sum != frame.Pseudo(&to.Src, &to.Dst, p.End-p.L4) || h != was {
			t.Fatalf("sum %#x, %+v, was %+v", sum, h, was)
		}
		if finish(b, &h); !bytes.Equal(b, want) {
			t.Fatalf("%x\nwant\n%x", b, want)
		}
	})
}

// A TSO frame as large as can be.
func TestSegmentOfLargest(t *testing.T) {
	for name, w := range paths {
		b, h := undone(data(w.in, bytes.Repeat([]byte("penstock"), 8180)))
		h.GSO, h.HdrLen, h.GSOSize = device.GSOTCP4, uint16(parse(b).Data), 1448
		p := parse(b)
		Segment(b[:frame.Head], p, &h, &w.out)
		finish(b, &h)
		if !sumsOK(b) || !bytes.Equal(b[p.Data:], bytes.Repeat([]byte("penstock"), 8180)) {
			t.Errorf("%s: not whole", name)
		}
	}
}

// There and back, a frame is what it was but for Ethernet addresses, hops, and the
// checksum that has them in it; also one whose checksum is wrong.
func TestThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		six := rapid.Bool().Draw(t, "six")
		from, to := anyFlow(t, six, "from"), anyFlow(t, six, "to")
		b := anySegment(t, &from)
		p, h := parse(b), device.VNet{}
		wrong := rapid.Uint16Range(0, 0xfffe).Draw(t, "wrong by")
		sum := b[p.L4+tcpSum:]
		be.PutUint16(sum, be.Uint16(sum)^wrong)
		if be.Uint16(sum) == 0xffff {
			return // comes back as the other zero
		}
		if rapid.Bool().Draw(t, "undone") {
			b, h = undone(b)
		}
		was := bytes.Clone(b)
		Segment(b, p, &h, &to)
		if bad := !sumsOK(b); wrong != 0 && h == (device.VNet{}) && !bad {
			t.Fatalf("wrong by %#x, and right on the other side", wrong)
		}
		back := frame.Flow{SrcMAC: from.SrcMAC, DstMAC: from.DstMAC, Src: from.Src, Dst: from.Dst,
			SrcPort: from.SrcPort, DstPort: from.DstPort}
		Segment(b, parse(b), &h, &back)
		if six {
			b[offHops6] += 2
		} else {
			b[offTTL4] += 2
			copy(b[offSum4:offSum4+2], was[offSum4:])
		}
		if !bytes.Equal(b, was) {
			t.Fatalf("%x\nwas\n%x", b, was)
		}
	})
}

// Each value that a word may have, and with it each that a checksum may have: of
// TCP by the payload, of IPv4 by its identification.
func TestEachChecksum(t *testing.T) {
	for name, w := range paths {
		var zero int
		b := data(w.in, []byte("ab"))
		l4, end := parse(b).L4, len(b)
		for v := range 1 << 16 {
			be.PutUint16(b[end-2:], uint16(v))
			if l4 == offPorts4 {
				be.PutUint16(b[18:], uint16(v))
			}
			resum(b)
			c := bytes.Clone(b)
			Segment(c, parse(c), &device.VNet{}, &w.out)
			if !bytes.Equal(c, twin(b, &w.out)) {
				t.Fatalf("%s, %#x: %x", name, v, c)
			}
			if be.Uint16(c[l4+tcpSum:]) == 0 || be.Uint16(b[l4+tcpSum:]) == 0 {
				zero++
			}
		}
		if zero != 2 {
			t.Errorf("%s: a checksum of zero came %d times", name, zero)
		}
	}
}

// 0xffff is no result of computing, but is right where zero is. It is not made
// wrong. IPv4's header is verified by frame, and may have it too.
func TestOtherZero(t *testing.T) {
	for name, w := range paths {
		b := data(w.in, []byte("ab"))
		p := parse(b)
		sums := []int{p.L4 + tcpSum}
		be.PutUint16(b[p.End-2:], 0x6162)
		be.PutUint16(b[p.End-2:], add(0x6162, be.Uint16(b[p.L4+tcpSum:])))
		if !p.V6 {
			be.PutUint16(b[18:], be.Uint16(b[offSum4:]))
			sums = append(sums, offSum4)
		}
		for _, at := range sums {
			be.PutUint16(b[at:], 0xffff)
		}
		if !sumsOK(b) || parse(b).Kind != frame.TCP {
			t.Fatalf("%s: not right to begin with: %x", name, b)
		}
		if Segment(b, parse(b), &device.VNet{}, &w.out); !sumsOK(b) {
			t.Errorf("%s: %x", name, b)
		}
	}
}

// add is one's complement addition.
func add(a, b uint16) uint16 {
	sum := uint32(a) + uint32(b)
	return uint16(sum>>16 + sum)
}

// Which bytes may change, of whatever segment.
func TestNothingElseChanges(t *testing.T) {
	may := map[string][][2]int{
		"v4": {{0, 12}, {22, 23}, {24, 26}, {26, 38}, {50, 52}},
		"v6": {{0, 12}, {21, 22}, {22, 58}, {70, 72}},
	}
	for name, w := range paths {
		for _, f := range [][]byte{syn(w.in), data(w.in, []byte("hello")), append(data(w.in, nil), 1, 2, 3)} {
			b := bytes.Clone(f)
			Segment(b, parse(b), &device.VNet{}, &w.out)
			for i := range b {
				in := slices.ContainsFunc(may[name], func(r [2]int) bool { return i >= r[0] && i < r[1] })
				if !in && b[i] != f[i] {
					t.Errorf("%s: byte %d changed from %#x to %#x", name, i, f[i], b[i])
				}
			}
		}
	}
}

// A guest may ask for a sum over and at any place of its frame.
func TestThePlaceOfTheChecksumIsNotBelieved(t *testing.T) {
	for name, w := range paths {
		b, h := undone(data(w.in, []byte("x")))
		want := h
		h.CsumStart, h.CsumOffset = 14, 16
		if Segment(b, parse(b), &h, &w.out); h != want {
			t.Errorf("%s: %+v, want %+v", name, h, want)
		}
	}
}

func TestExpired(t *testing.T) {
	for name, w := range paths {
		for ttl, want := range map[byte]bool{0: true, 1: true, 2: false, 64: false, 255: false} {
			b := data(w.in, nil)
			b[map[string]int{"v4": offTTL4, "v6": offHops6}[name]] = ttl
			resum(b)
			if Expired(b, parse(b)) != want {
				t.Errorf("%s: %d hops are left, expired is %v", name, ttl, !want)
			}
		}
	}
}
