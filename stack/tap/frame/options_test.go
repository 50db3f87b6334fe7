package frame

import (
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip/header"
	"pgregory.net/rapid"
)

func options(b []byte) Options {
	var p Packet
	if k := p.Parse(b, own); k != TCP {
		panic(k)
	}
	return p.Options(b)
}

func TestOptionsAsLinuxReadsThem(t *testing.T) {
	none := Options{WS: -1}
	for name, c := range map[string]struct {
		flags uint8
		list  []byte
		want  Options
	}{
		"none":                        {SYN, nil, none},
		"Linux":                       {SYN, lists[1], linux},
		"Windows":                     {SYN, lists[2], Options{MSS: 1460, WS: 8, SACK: true}},
		"macOS":                       {SYN, lists[3], Options{MSS: 1460, WS: 6, SACK: true, TS: true, TSVal: 0x01020304}},
		"not a SYN":                   {ACK, lists[1], Options{WS: -1, TS: true, TSVal: 0x01020304}},
		"SYN-ACK":                     {SYN | ACK, lists[1], linux},
		"timestamps at an odd place":  {ACK, lists[6], Options{WS: -1, TS: true, TSVal: 0x01020304, TSEcr: 0x05060708}},
		"shift of 255":                {SYN, []byte{3, 3, 255, 1}, Options{WS: 14}},
		"shift of 0":                  {SYN, []byte{3, 3, 0, 1}, Options{WS: 0}},
		"MSS of 0":                    {SYN, []byte{2, 4, 0, 0}, none},
		"the last of two":             {SYN, []byte{2, 4, 1, 1, 2, 4, 2, 2}, Options{MSS: 0x202, WS: -1}},
		"wrong length is passed over": {SYN, []byte{2, 5, 1, 1, 1, 3, 3, 7}, Options{WS: 7}},
		"length zero ends":            {SYN, []byte{3, 3, 7, 2, 0, 4, 2, 0}, Options{WS: 7}},
		"length one ends":             {SYN, []byte{4, 2, 9, 1, 3, 3, 7, 0}, Options{WS: -1, SACK: true}},
		"too long ends":               {SYN, []byte{4, 2, 8, 10, 1, 2, 3, 4}, Options{WS: -1, SACK: true}},
		"kind without a length":       {SYN, []byte{4, 2, 1, 2}, Options{WS: -1, SACK: true}},
		"behind the end":              {SYN, []byte{1, 1, 0, 4, 2, 1, 1, 1}, none},
		"unknown ones":                {SYN, []byte{254, 4, 9, 9, 34, 2, 4, 2}, Options{WS: -1, SACK: true}},
	} {
		for _, f := range []Flow{flow4, flow6} {
			if got := options(raw(f, c.flags, c.list)); got != c.want {
				t.Errorf("%s: %+v, want %+v", name, got, c.want)
			}
		}
	}
}

// What lies behind the header is not read as options.
func TestOptionsEndWithTheHeader(t *testing.T) {
	b := AppendTCP(nil, &flow4, &Header{Flags: SYN}, []byte{2, 4, 5, 0xb4, 3, 3, 7, 0})
	if got := options(b); got != (Options{WS: -1}) {
		t.Errorf("the payload was read as %+v", got)
	}
	b = raw(flow4, SYN, []byte{1, 1, 8, 10})
	b = append(b, 1, 2, 3, 4, 5, 6, 7, 8)
	if got := options(b); got.TS {
		t.Errorf("padding was read as %+v", got)
	}
}

// anyOptions draws what can be written.
func anyOptions(t *rapid.T) Options {
	return Options{
		MSS: rapid.Uint16().Draw(t, "mss"), WS: rapid.Int8Range(-1, mostWS).Draw(t, "ws"),
		SACK: rapid.Bool().Draw(t, "sack"), TS: rapid.Bool().Draw(t, "ts"),
	}
}

// What is written is read back, by us and by gVisor.
func TestOptionsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions(t)
		if o.TS {
			o.TSVal, o.TSEcr = rapid.Uint32().Draw(t, "val"), rapid.Uint32().Draw(t, "ecr")
		}
		f := rapid.SampledFrom([]Flow{flow4, flow6}).Draw(t, "flow")
		b := AppendTCP(nil, &f, &Header{Flags: SYN | ACK, Options: &o}, nil)
		if got := options(b); got != o {
			t.Fatalf("%+v became %+v", o, got)
		}
		var p Packet
		p.Parse(b, own)
		g := header.ParseSynOptions(b[p.L4+tcpSize:p.Data], true)
		want := header.TCPSynOptions{MSS: max(o.MSS, header.TCPMinimumSendMSS), WS: int(o.WS), TS: o.TS,
			TSVal: o.TSVal, TSEcr: o.TSEcr, SACKPermitted: o.SACK}
		if o.MSS == 0 {
			want.MSS = header.TCPDefaultMSS
		}
		if g != want {
			t.Fatalf("gVisor reads %+v, want %+v", g, want)
		}
		b = AppendTCP(nil, &f, &Header{Flags: ACK, Options: &o}, nil)
		if got := options(b); got != (Options{WS: -1, TS: o.TS, TSVal: o.TSVal, TSEcr: o.TSEcr}) {
			t.Fatalf("without SYN %+v became %+v", o, got)
		}
	})
}

// A Linux SYN has 20 bytes of options, in this order.
func TestSynIsLikeLinux(t *testing.T) {
	b := syn(flow4)
	if got := b[etherSize+ip4Size+tcpSize:]; string(got) != string(lists[1]) {
		t.Errorf("% x", got)
	}
}
