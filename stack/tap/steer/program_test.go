package steer

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cilium/ebpf"

	"penstock/stack/tap/frame"
)

func program(t testing.TB, h *Hash, rule Rule) *ebpf.Program {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to load a program")
	}
	p, err := h.Program(rule)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// run asks the program for a frame's queue. The kernel takes what it is given for
// a frame and skips its Ethernet header, unlike a TAP.
func run(t testing.TB, p *ebpf.Program, b []byte) int {
	t.Helper()
	in := append([]byte{12: 0x88, 13: 0xb5}, b...)
	n, err := p.Run(&ebpf.RunOptions{Data: in})
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

func flow(r *rand.Rand, v6 bool) frame.Flow {
	f := frame.Flow{SrcPort: uint16(r.Uint32()), DstPort: uint16(r.Uint32()), SrcMAC: frame.MAC{2}, DstMAC: frame.MAC{2, 1}}
	if v6 {
		f.Src, f.Dst = addr6(r), addr6(r)
	} else {
		f.Src, f.Dst = addr4(r.Uint32()), addr4(r.Uint32())
	}
	return f
}

func tcp(f *frame.Flow) []byte {
	return frame.AppendTCP(nil, f, &frame.Header{Flags: frame.ACK}, nil)
}

// The program and Queue agree, for all rules and numbers of queues.
func TestProgramAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, queues := range []int{1, 2, 3, 16, 255} {
		h := New(r.Uint64(), queues)
		for _, rule := range rules {
			p := program(t, h, rule)
			for i := range 200 {
				f := flow(r, i%2 == 1)
				want := h.Queue(rule, h.Endpoint(&f.Src, f.SrcPort), h.Endpoint(&f.Dst, f.DstPort))
				if got := run(t, p, tcp(&f)); got != want {
					t.Fatalf("%d queues, rule %d: %+v comes to queue %d, want %d", queues, rule, f, got, want)
				}
			}
		}
	}
}

// All that is not plain TCP comes to queue 0.
func TestOthersComeToTheFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	h := New(5, 64)
	p := program(t, h, Both)
	at := func(v6 bool, change func(b []byte) []byte) (first, n int) {
		for range 50 {
			f := flow(r, v6)
			if run(t, p, change(tcp(&f))) == 0 {
				first++
			}
			n++
		}
		return first, n
	}
	set := func(i int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[i] = v; return b }
	}
	for _, c := range []struct {
		name   string
		v6     bool
		first  bool
		change func(b []byte) []byte
	}{
		{"plain", false, false, func(b []byte) []byte { return b }},
		{"plain", true, false, func(b []byte) []byte { return b }},
		{"with padding", false, false, func(b []byte) []byte { return append(b, 0, 0, 0, 0, 0, 0) }},
		{"don't fragment", false, false, set(20, 0x40)},
		{"evil bit", false, false, set(20, 0x80)},
		{"class and label", true, false, set(15, 0xff)},
		{"type of service", false, false, set(15, 0xff)},
		{"ARP", false, true, set(13, 0x06)},
		{"VLAN", false, true, func(b []byte) []byte { b[12], b[13] = 0x81, 0; return b }},
		{"ICMP", false, true, set(23, 1)},
		{"UDP", false, true, set(23, 17)},
		{"options", false, true, set(14, 0x46)},
		{"first fragment", false, true, set(20, 0x20)},
		{"a fragment", false, true, set(21, 1)},
		{"last fragment", false, true, set(20, 0x1f)},
		{"ICMPv6", true, true, set(20, 58)},
		{"fragment", true, true, set(20, 44)},
		{"hop-by-hop", true, true, set(20, 0)},
		{"cut short", false, true, func(b []byte) []byte { return b[:37] }},
		{"cut short", true, true, func(b []byte) []byte { return b[:57] }},
		{"nothing", true, true, func(b []byte) []byte { return b[:14] }},
	} {
		first, n := at(c.v6, c.change)
		if c.first && first != n || !c.first && first > n/4 {
			t.Errorf("%s, IPv6 %v: %d of %d come to queue 0", c.name, c.v6, first, n)
		}
	}
}

// Whatever the frame, there is an answer.
func TestAnyFrame(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	h := New(9, 4)
	p := program(t, h, Source)
	for range 3000 {
		f := flow(r, r.IntN(2) == 0)
		b := tcp(&f)
		for range r.IntN(4) {
			b[12+r.IntN(len(b)-12)] = byte(r.Uint32())
		}
		if q := run(t, p, b[:14+r.IntN(len(b)-13)]); q < 0 || q >= 4 {
			t.Fatalf("queue %d for %x", q, b)
		}
	}
}

func TestNoQueue(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to load a program")
	}
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := New(1, 2).Attach(int(f.Fd()), Source); err == nil || errors.Is(err, ErrRights) {
		t.Error(err)
	}
	if err := Detach(int(f.Fd())); err == nil {
		t.Error("no error")
	}
}

// What a frame costs in the kernel.
func BenchmarkProgram(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, v6 := range map[string]bool{"v4": false, "v6": true} {
		for rule, word := range []string{"source", "destination", "both"} {
			b.Run(name+"/"+word, func(b *testing.B) {
				p := program(b, New(1, 4), Rule(rule))
				f := flow(r, v6)
				in := append([]byte{12: 0x88, 13: 0xb5}, tcp(&f)...)
				var n int
				var took float64
				for b.Loop() {
					_, d, err := p.Benchmark(in, 1000, nil)
					if err != nil {
						b.Fatal(err)
					}
					n++
					took += float64(d.Nanoseconds())
				}
				b.ReportMetric(took/float64(n), "ns/frame")
			})
		}
	}
}
