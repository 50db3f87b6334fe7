package rewrite

import (
	"bytes"
	"testing"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// raw is a segment whose options are these bytes, whatever they are; a multiple of
// four, up to 40.
func raw(f frame.Flow, flags uint8, options []byte) []byte {
	b := frame.AppendTCP(nil, &f, &frame.Header{Seq: 7, Flags: flags, Window: 9}, options)
	b[len(b)-len(options)-8] = byte((tcpSize + len(options)) / 4 << 4)
	resum(b)
	return b
}

func TestClampMSS(t *testing.T) {
	const most = 0x0500
	for name, c := range map[string]struct {
		flags      uint8
		list, want []byte
	}{
		"none":                   {frame.SYN, nil, nil},
		"Linux":                  {frame.SYN, []byte{2, 4, 5, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7}, []byte{2, 4, 5, 0, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7}},
		"SYN-ACK":                {frame.SYN | frame.ACK, []byte{2, 4, 5, 0xb4}, []byte{2, 4, 5, 0}},
		"behind others":          {frame.SYN, []byte{1, 3, 3, 7, 2, 4, 5, 0xb4}, []byte{1, 3, 3, 7, 2, 4, 5, 0}},
		"at an odd place":        {frame.SYN, []byte{3, 3, 7, 2, 4, 5, 0xb4, 0}, []byte{3, 3, 7, 2, 4, 5, 0, 0}},
		"the largest":            {frame.SYN, []byte{1, 2, 4, 0xff, 0xff, 1, 1, 1}, []byte{1, 2, 4, 5, 0, 1, 1, 1}},
		"twice":                  {frame.SYN, []byte{2, 4, 9, 9, 2, 4, 8, 8}, []byte{2, 4, 5, 0, 2, 4, 5, 0}},
		"after a wrong length":   {frame.SYN, []byte{2, 3, 9, 2, 4, 9, 9, 1}, []byte{2, 3, 9, 2, 4, 5, 0, 1}},
		"as much as may be":      {frame.SYN, []byte{2, 4, 5, 0}, []byte{2, 4, 5, 0}},
		"less than may be":       {frame.SYN, []byte{2, 4, 4, 0xff}, []byte{2, 4, 4, 0xff}},
		"zero":                   {frame.SYN, []byte{2, 4, 0, 0}, []byte{2, 4, 0, 0}},
		"not a SYN":              {frame.ACK, []byte{2, 4, 9, 9}, []byte{2, 4, 9, 9}},
		"too short":              {frame.SYN, []byte{2, 3, 9, 1}, []byte{2, 3, 9, 1}},
		"too long":               {frame.SYN, []byte{2, 6, 9, 9, 9, 9, 1, 1}, []byte{2, 6, 9, 9, 9, 9, 1, 1}},
		"length zero":            {frame.SYN, []byte{2, 0, 9, 9}, []byte{2, 0, 9, 9}},
		"length one":             {frame.SYN, []byte{2, 1, 9, 9}, []byte{2, 1, 9, 9}},
		"behind a length of one": {frame.SYN, []byte{4, 1, 2, 4, 9, 9, 1, 1}, []byte{4, 1, 2, 4, 9, 9, 1, 1}},
		"behind the end":         {frame.SYN, []byte{0, 1, 1, 1, 2, 4, 9, 9}, []byte{0, 1, 1, 1, 2, 4, 9, 9}},
		"cut off":                {frame.SYN, []byte{1, 2, 4, 9}, []byte{1, 2, 4, 9}},
		"kind without a length":  {frame.SYN, []byte{1, 1, 1, 2}, []byte{1, 1, 1, 2}},
		"behind one that is cut": {frame.SYN, []byte{8, 10, 1, 1, 2, 4, 9, 9}, []byte{8, 10, 1, 1, 2, 4, 9, 9}},
	} {
		for family, w := range paths {
			b, want := raw(w.in, c.flags, c.list), raw(w.in, c.flags, c.want)
			p := parse(b)
			ClampMSS(b[:p.Data:p.Data], p, &device.VNet{}, most)
			if !bytes.Equal(b, want) {
				t.Errorf("%s, %s: %x, want %x", name, family, b, want)
			}
			u, h := undone(raw(w.in, c.flags, c.list))
			ClampMSS(u, parse(u), &h, most)
			if finish(u, &h); !bytes.Equal(u, want) {
				t.Errorf("%s, %s, left to the device: %x, want %x", name, family, u, want)
			}
		}
	}
}

// Each MSS to each other corner, at an even and at an odd place.
func TestEachMSS(t *testing.T) {
	for _, list := range [][]byte{{2, 4, 0, 0}, {1, 2, 4, 0, 0, 1, 1, 1}} {
		b := raw(path4.in, frame.SYN, list)
		p, at := parse(b), len(b)-2
		if len(list) == 8 {
			at = len(b) - 5
		}
		for mss := range 1 << 16 {
			be.PutUint16(b[at:], uint16(mss))
			resum(b)
			for _, most := range []uint16{1, 536, 1460, 0xff, 0x100, 0xfffe} {
				c := bytes.Clone(b)
				ClampMSS(c, p, &device.VNet{}, most)
				if got := be.Uint16(c[at:]); !sumsOK(c) || got != min(uint16(mss), most) {
					t.Fatalf("%d, most %d: %d", mss, most, got)
				}
			}
		}
	}
}
