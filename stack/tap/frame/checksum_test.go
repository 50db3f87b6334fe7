package frame

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// slow is RFC 1071 word by word.
func slow(b []byte) uint16 {
	var sum uint32
	for i := 0; i < len(b); i++ {
		w := uint32(b[i])
		if i&1 == 0 {
			w <<= 8
		}
		sum += w
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		in   uint64
		want uint16
	}{
		{0, 0}, {1, 1}, {0xffff, 0xffff}, {0x10000, 1}, {0x1ffff, 1}, {0x1fffe, 0xffff}, {0xffff0000, 0xffff},
		{1<<64 - 1, 0xffff}, {1 << 63, 0x8000}, {0xffff_ffff_0000_0001, 1}, {1 << 48, 1},
	} {
		if got := fold(c.in); got != c.want {
			t.Errorf("fold(%#x) is %#x, want %#x", c.in, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		if got := fold(n); uint64(got)%0xffff != n%0xffff || got == 0 != (n == 0) {
			t.Fatalf("fold(%#x) is %#x", n, got)
		}
	})
}

func TestPseudo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var src, dst Addr
		copy(src[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "src"))
		copy(dst[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "dst"))
		n := rapid.IntRange(20, 65535).Draw(t, "n")
		b := append(append(src[:], dst[:]...), 0, 0, 0, 0)
		if rapid.Bool().Draw(t, "four") {
			four := addr("0.0.0.0")
			copy(src[:12], four[:])
			copy(dst[:12], four[:])
			b = append(append(append([]byte{}, src[12:]...), dst[12:]...), 0, 0, 0, 0)
		}
		b = append(b, 0, 6, byte(n>>8), byte(n))
		if got, want := Pseudo(&src, &dst, n), slow(b); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
	})
}

// corners are the words where carries and zeros meet.
var corners = []uint16{0, 1, 2, 0x7fff, 0x8000, 0x8001, 0xfffd, 0xfffe, 0xffff}

// Each change of a corner into a corner, with each sum of the rest, against
// computing anew; and each word with zero and 0xffff.
func TestDeltaCorners(t *testing.T) {
	try := func(rest, old, new uint16) {
		var b [4]byte
		put := func(w uint16) []byte {
			binary.BigEndian.PutUint16(b[:], rest)
			binary.BigEndian.PutUint16(b[2:], w)
			return b[:]
		}
		before, after := ^slow(put(old)), ^slow(put(new))
		var d Delta
		d.Swap16(old, new)
		got := d.Apply(before)
		if rest == 0 && (old == 0 || new == 0) {
			// All zero: no segment is, since its pseudo header isn't. Then
			// either zero may come out, and both are verified as right.
			if got != after && got != 0 && after != 0xffff {
				t.Fatalf("rest %#x, %#x -> %#x: %#x, computed anew %#x", rest, old, new, got, after)
			}
			return
		}
		if got != after {
			t.Fatalf("rest %#x, %#x -> %#x: %#x, computed anew %#x", rest, old, new, got, after)
		}
		if p := d.ApplyPartial(^before); p != ^after {
			t.Fatalf("partial, rest %#x, %#x -> %#x: %#x, computed anew %#x", rest, old, new, p, ^after)
		}
	}
	for _, rest := range corners {
		for _, old := range corners {
			for w := range 1 << 16 {
				try(rest, old, uint16(w))
				try(rest, uint16(w), old)
				try(uint16(w), rest, old)
			}
		}
	}
}

// The checksum 0xffff is no result of computing, but is right where 0 is. It is
// not made wrong.
func TestDeltaOfOtherZero(t *testing.T) {
	for _, old := range corners {
		for _, new := range corners {
			rest := ^old // the sum is 0xffff, the checksum 0
			var d Delta
			d.Swap16(old, new)
			a, b := d.Apply(0), d.Apply(0xffff)
			for _, c := range []uint16{a, b} {
				// Nothing but zeros has a sum of zero; either checksum fits.
				if sum := fold(uint64(rest) + uint64(new) + uint64(c)); sum != 0xffff && (sum != 0 || rest != 0) {
					t.Errorf("%#x -> %#x: %#x is wrong", old, new, c)
				}
			}
		}
	}
}

// Segments in which numbers, addresses and timestamps change at even and odd
// places have the checksum that computing anew gives, and a wrong one stays wrong.
func TestDeltaOfSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]Flow{flow4, flow6}).Draw(t, "flow")
		at := rapid.SampledFrom([]int{3, 4}).Draw(t, "place of the timestamp")
		b := raw(f, ACK, map[int][]byte{3: lists[6], 4: lists[4]}[at])
		var p Packet
		p.Parse(b, own)
		wrong := rapid.Bool().Draw(t, "wrong")
		if wrong {
			b[p.L4+17] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		seg, d := b[p.L4:p.End], Delta(0)
		for range rapid.IntRange(0, 5).Draw(t, "changes") {
			v := rapid.OneOf(rapid.Uint32(), rapid.SampledFrom([]uint32{0, 1<<32 - 1, 0xffff, 0xffff0000})).Draw(t, "v")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				d.Swap32(be.Uint32(seg[4:]), v)
				be.PutUint32(seg[4:], v)
			case 1:
				d.Swap16(be.Uint16(seg[14:]), uint16(v))
				be.PutUint16(seg[14:], uint16(v))
			case 2:
				ts := seg[tcpSize+at:]
				swap := d.Swap32
				if at%2 == 1 {
					swap = d.SwapOdd32
				}
				swap(be.Uint32(ts), v)
				be.PutUint32(ts, v)
			case 3:
				to := p.Dst
				be.PutUint32(to[12:], v)
				d.SwapAddr(&p.Dst, &to)
				p.Dst = to
			}
		}
		be.PutUint16(seg[16:], d.Apply(be.Uint16(seg[16:])))
		if p.ChecksumOK(b) == wrong {
			t.Fatalf("%x: wrong was %v and is %v", b, wrong, !wrong)
		}
		was := be.Uint16(seg[16:])
		be.PutUint16(seg[16:], 0)
		if anew := ^fold(uint64(slow(seg)) + uint64(p.pseudo())); anew == was == wrong {
			t.Fatalf("%#x, computed anew %#x", was, anew)
		}
	})
}
