package rewrite

import (
	"testing"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

func TestNothingIsAllocated(t *testing.T) {
	for name, w := range paths {
		b, s := data(w.in, []byte("hello")), syn(w.in)
		p, ps := parse(b), parse(s)
		e := w.unreachable().message(quote(segment(w.out, 1), 20))
		pe := parse(e)
		ask, _ := ping(&w, []byte("ping"))
		pa := parse(ask)
		out := make([]byte, 0, 2000)
		for what, f := range map[string]func(){
			"segment": func() { Segment(b, p, &device.VNet{}, &w.out) },
			"MSS":     func() { ClampMSS(s, ps, &device.VNet{}, 1000) },
			"expired": func() { Expired(b, p) },
			"error": func() {
				if e2, ok := ParseError(e, pe); ok {
					e2.Translate(e, pe, own, hop2, w.out.Src, &w.out, 1)
				}
			},
			"echo":          func() { AppendEcho(out, ask, pa, own) },
			"too big":       func() { AppendTooBig(out, b, p, own, w.in.Dst, 1400) },
			"time exceeded": func() { AppendTimeExceeded(out, b, p, own, w.in.Dst) },
		} {
			if n := testing.AllocsPerRun(100, f); n != 0 {
				t.Errorf("%s, %s: %v allocations", name, what, n)
			}
		}
	}
}

// Segments of many frames one after the other, as they come, so that none waits
// for what the one before has just written.
func BenchmarkSegment(b *testing.B) {
	for _, name := range []string{"v4", "v6"} {
		w := paths[name]
		for _, kind := range []string{"whole", "undone"} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				const frames = 64
				var fs [frames][]byte
				var ps [frames]*frame.Packet
				var hs [frames]device.VNet
				for i := range fs {
					if fs[i] = data(w.in, make([]byte, 100)); kind == "undone" {
						fs[i], hs[i] = undone(fs[i])
					}
					ps[i] = parse(fs[i])
				}
				i := 0
				for b.Loop() {
					Segment(fs[i], ps[i], &hs[i], &w.out)
					i = (i + 1) % frames
				}
			})
		}
	}
}

func BenchmarkClampMSS(b *testing.B) {
	f := syn(path4.in)
	p, h := parse(f), device.VNet{}
	for b.Loop() {
		be.PutUint16(f[p.L4+tcpSize+2:], 1460)
		ClampMSS(f, p, &h, 1400)
	}
}

func BenchmarkError(b *testing.B) {
	for _, name := range []string{"v4", "v6"} {
		w := paths[name]
		b.Run(name, func(b *testing.B) {
			f := w.unreachable().message(quote(segment(w.out, 1), 27))
			p := parse(f)
			for b.Loop() {
				if e, ok := ParseError(f, p); ok {
					e.Translate(f, p, own, hop1, w.out.Src, &w.out, 0)
				}
			}
		})
	}
}
