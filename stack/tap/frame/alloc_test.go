package frame

import "testing"

var sink Options

func TestNothingIsAllocated(t *testing.T) {
	v4, v6, big := syn(flow4), syn(flow6), data(flow4, make([]byte, 60000))
	arp, ns := request(), solicit(host6, solicitedNodeOf(serv6), serv6, sourceLink)
	out := make([]byte, 0, 2000)
	for name, f := range map[string]func(){
		"parse": func() {
			var p Packet
			for _, b := range [][]byte{v4, v6, big} {
				p.Parse(b, own)
				if !p.ChecksumOK(b) || !p.ChecksumSplit(b[:p.Data], b[p.Data:]) {
					t.Fatal("wrong checksum")
				}
				sink = p.Options(b)
			}
		},
		"ARP": func() {
			if a, ok := ParseARP(arp); ok {
				AppendARPReply(out, &a, own)
			}
		},
		"neighbour": func() {
			if n, ok := ParseNeighbor(ns); ok {
				AppendAdvert(out, &n, own)
			}
		},
		"append": func() {
			o := linux
			AppendTCP(out, &flow4, &Header{Flags: SYN, Options: &o}, nil)
			var p Packet
			p.Parse(v6, own)
			AppendReset(out, &p, own)
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for name, f := range map[string][]byte{"v4": syn(flow4), "v6": syn(flow6)} {
		b.Run(name, func(b *testing.B) {
			var p Packet
			for b.Loop() {
				p.Parse(f, own)
			}
		})
	}
}

func BenchmarkSyn(b *testing.B) {
	f := syn(flow4)
	var p Packet
	for b.Loop() {
		p.Parse(f, own)
		if !p.ChecksumOK(f) {
			b.Fatal()
		}
		sink = p.Options(f)
	}
}

func BenchmarkChecksum(b *testing.B) {
	for name, n := range map[string]int{"1460": 1460, "64K": 65000} {
		b.Run(name, func(b *testing.B) {
			f := data(flow4, make([]byte, n))
			var p Packet
			p.Parse(f, own)
			b.SetBytes(int64(n))
			for b.Loop() {
				p.ChecksumOK(f)
			}
		})
	}
}

func BenchmarkAppendTCP(b *testing.B) {
	out := make([]byte, 0, 200)
	for b.Loop() {
		AppendTCP(out, &flow4, &Header{Flags: SYN, Options: &linux}, nil)
	}
}
