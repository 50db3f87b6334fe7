package shift

import (
	"testing"

	"penstock/stack/tap/frame"
)

func TestNothingIsAllocated(t *testing.T) {
	empty, _ := newTable()
	tab, _ := newTable()
	join(t, tab, four, 5000, 900, 7000, 1)
	o := plain(four, 5001, 901)
	i := segment(in(four), &frame.Header{Ack: 7001, Flags: frame.ACK}, []byte{1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1}, "")
	var po, pi frame.Packet
	po.Parse(o, peer)
	pi.Parse(i, own)
	if n := testing.AllocsPerRun(100, func() {
		for _, x := range []*Table{empty, tab} {
			x.Out(&po.Src, &po.Dst, o[po.L4:po.Data], false)
			x.In(i, &pi, false)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkOut(b *testing.B) {
	for name, flows := range map[string]int{"empty": 0, "one": 1, "100k": 100_000} {
		b.Run(name, func(b *testing.B) {
			tab := New(100_000, grace, func() {})
			for i := range flows {
				f := four
				f.ClientPort, f.VirtualPort = uint16(i), uint16(80+i>>16)
				tab.Pend(f)
				tab.Set(&Answer{Flow: f}, 5, 5)
			}
			f := four
			f.ClientPort = 0
			s := plain(f, 1, 1)
			var p frame.Packet
			p.Parse(s, peer)
			for b.Loop() {
				tab.Out(&p.Src, &p.Dst, s[p.L4:p.Data], false)
			}
		})
	}
}
