package shift

import (
	"bytes"
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip/seqnum"
	"pgregory.net/rapid"

	"penstock/stack/tap/frame"
)

// anyNumber draws where carries are and where sequence numbers wrap.
func anyNumber(t *rapid.T, name string) uint32 {
	return rapid.OneOf(rapid.Uint32(), rapid.SampledFrom([]uint32{0, 1, 1<<32 - 1, 1<<31 - 1, 1 << 31, 0xffff, 0xffff0000})).Draw(t, name)
}

// anyList draws options, with timestamps and SACK blocks at even and odd places.
func anyList(t *rapid.T, val, ecr uint32, blocks []uint32) []byte {
	var list []byte
	pad := func() { list = append(list, bytes.Repeat([]byte{optNop}, rapid.IntRange(0, 3).Draw(t, "pad"))...) }
	if pad(); rapid.Bool().Draw(t, "timestamps") {
		list = be.AppendUint32(be.AppendUint32(append(list, optTS, 10), val), ecr)
	}
	if pad(); len(blocks) > 0 && len(list)+2+4*len(blocks) <= 36 {
		list = append(list, optSACK, byte(2+4*len(blocks)))
		for _, n := range blocks {
			list = be.AppendUint32(list, n)
		}
	}
	for len(list)%4 != 0 {
		list = append(list, optNop)
	}
	return list
}

// segment is a frame with these options.
func segment(f *frame.Flow, h *frame.Header, list []byte, data string) []byte {
	b := frame.AppendTCP(nil, f, h, append(list, data...))
	var p frame.Packet
	p.Parse(b, f.DstMAC)
	b[p.L4+offSize] = byte((headerSize+len(list))/4) << 4
	resum(b, &p)
	return b
}

// resum computes a checksum anew, word by word.
func resum(b []byte, p *frame.Packet) {
	be.PutUint16(b[p.L4+offSum:], 0)
	sum := uint32(frame.Pseudo(&p.Src, &p.Dst, p.End-p.L4))
	for i, c := range b[p.L4:p.End] {
		sum += uint32(c) << (8 * (1 &^ i))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	be.PutUint16(b[p.L4+offSum:], ^uint16(sum))
}

// A conversation is translated and back again: the client sees the numbers it was
// promised, its answers reach netstack with netstack's own, the rest is as it
// was, and each checksum is the one that computing it anew gives.
func TestConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]Flow{four, six}).Draw(t, "flow")
		a := Answer{Flow: f, ISS: anyNumber(t, "netstack's ISS"), Options: frame.Options{TSVal: anyNumber(t, "netstack's TSval")}}
		iss, tsval := anyNumber(t, "cookie"), anyNumber(t, "cookie's TSval")
		tab := New(1, grace, func() {})
		tab.Pend(f)
		if !tab.Set(&a, iss, tsval) {
			t.Fatal("not set")
		}
		dSeq, dTS := iss-a.ISS, tsval-a.Options.TSVal
		for range rapid.IntRange(1, 20).Draw(t, "segments") {
			h := frame.Header{Seq: anyNumber(t, "seq"), Ack: anyNumber(t, "ack"), Window: 9,
				Flags: frame.ACK | rapid.SampledFrom([]uint8{0, frame.PSH, frame.FIN, frame.RST}).Draw(t, "flags")}
			blocks := rapid.SliceOfN(rapid.Uint32(), 0, 4).Draw(t, "SACK")
			blocks = blocks[:len(blocks)&^1]
			data := rapid.SampledFrom([]string{"", "x", "hello"}).Draw(t, "data")
			val := a.Options.TSVal + rapid.Uint32Range(0, 1<<30).Draw(t, "later")
			list := anyList(t, val, anyNumber(t, "TSecr"), blocks)
			b := segment(out(f), &h, list, data)
			was := read(t, b)
			if !send(tab, b) {
				t.Fatalf("not sent: %x", b)
			}
			now := read(t, b)
			want := was
			want.seq += dSeq
			if want.opts.TS {
				want.opts.TSVal += dTS
			}
			same(t, b, now, want)
			anew(t, b)

			// The client answers with what it saw.
			echo := val + dTS
			if echo == 0 {
				echo = 1
			}
			saw := make([]uint32, len(blocks))
			for i := range blocks {
				saw[i] = blocks[i] + dSeq
			}
			list = anyList(t, h.Ack, echo, saw)
			b = segment(in(f), &frame.Header{Seq: h.Ack, Ack: now.seq, Flags: h.Flags}, list, data)
			want = read(t, b)
			want.ack = h.Seq
			want.opts.TSEcr -= dTS
			if !want.opts.TS {
				want.opts.TSEcr = 0
			}
			for i := range want.opts.SACKBlocks {
				s := &want.opts.SACKBlocks[i]
				s.Start, s.End = s.Start-seqnum.Value(dSeq), s.End-seqnum.Value(dSeq)
			}
			var p frame.Packet
			p.Parse(b, own)
			if !tab.In(b, &p, false) || p.Ack != h.Seq {
				t.Fatalf("not injected, or the packet says %d: %x", p.Ack, b)
			}
			same(t, b, read(t, b), want)
			anew(t, b)
		}
	})
}

// anew sees that the checksum is bit for bit what computing gives.
func anew(t *rapid.T, b []byte) {
	c := bytes.Clone(b)
	var p frame.Packet
	p.Parse(c, frame.MAC(c[:6]))
	if resum(c, &p); !bytes.Equal(b, c) {
		t.Fatalf("%x, with its checksum computed %x", b, c)
	}
}

// A checksum that is left to the device is not touched, a wrong one stays wrong.
func TestPartialAndWrongChecksums(t *testing.T) {
	tab, _ := newTable()
	join(t, tab, four, 5000, 900, 7000, 1)
	b := plain(four, 5001, 901)
	var p frame.Packet
	p.Parse(b, peer)
	sum := frame.Pseudo(&p.Src, &p.Dst, p.End-p.L4)
	be.PutUint16(b[p.L4+offSum:], sum)
	if !tab.Out(&p.Src, &p.Dst, b[p.L4:p.Data], true) || be.Uint16(b[p.L4+offSum:]) != sum || be.Uint32(b[p.L4+offSeq:]) != 7001 {
		t.Errorf("out: %x", b)
	}
	c := frame.AppendTCP(nil, in(four), &frame.Header{Ack: 7002, Flags: frame.ACK}, nil)
	p.Parse(c, own)
	be.PutUint16(c[p.L4+offSum:], sum)
	if !tab.In(c, &p, true) || be.Uint16(c[p.L4+offSum:]) != sum || p.Ack != 5002 {
		t.Errorf("in: %x", c)
	}
	c = frame.AppendTCP(nil, in(four), &frame.Header{Ack: 7002, Flags: frame.ACK}, nil)
	c[len(c)-1]++
	if receive(tab, c); p.Parse(c, own) != frame.TCP || p.ChecksumOK(c) {
		t.Error("a wrong checksum became right")
	}
}

// A TSO frame is changed in its header only, whatever its length.
func TestTSO(t *testing.T) {
	tab, _ := newTable()
	join(t, tab, six, 5000, 900, 7000, 1)
	b := frame.AppendTCP(nil, out(six), &frame.Header{Seq: 5001, Flags: frame.ACK, Options: stamps(905, 3)}, make([]byte, 65000))
	if !send(tab, b) || read(t, b).seq != 7001 || read(t, b).opts.TSVal != 6 {
		t.Error("not translated")
	}
}

// A client that echoes the cookie's timestamp has not taken all the time it
// waited to answer netstack.
func TestEchoOfTheCookie(t *testing.T) {
	tab, _ := newTable()
	join(t, tab, four, 5000, 900, 7000, 61000) // waited 60 s
	echo := func(ecr uint32) uint32 {
		b := frame.AppendTCP(nil, in(four), &frame.Header{Ack: 7001, Flags: frame.ACK, Options: stamps(5, ecr)}, nil)
		receive(tab, b)
		return read(t, b).opts.TSEcr
	}
	for _, c := range []struct{ ecr, want uint32 }{
		{1000, 900}, {60999, 900}, {0, 0}, {61000, 900}, {61001, 901},
		{61000 + 1<<31 + 5, 900 + 1<<31 + 5}, // 24 days later
	} {
		if got := echo(c.ecr); got != c.want {
			t.Errorf("an echo of %d becomes %d, want %d", c.ecr, got, c.want)
		}
	}
}

// A segment without ACK has nothing of ours in it.
func TestNoAck(t *testing.T) {
	tab, _ := newTable()
	join(t, tab, four, 5000, 900, 7000, 1)
	b := frame.AppendTCP(nil, in(four), &frame.Header{Seq: 3, Ack: 4, Flags: frame.RST, Options: stamps(1, 2)}, nil)
	was := bytes.Clone(b)
	if !receive(tab, b) || !bytes.Equal(b, was) {
		t.Errorf("%x became %x", was, b)
	}
}

// Headers that are none, and lists that end behind the header.
func TestMalformed(t *testing.T) {
	tab, _ := newTable()
	join(t, tab, four, 5000, 900, 7000, 1)
	h := plain(four, 5001, 1)[34:66]
	for n := range h {
		c := bytes.Clone(h[:n:n])
		if !tab.Out(&four.Virtual, &four.Client, c, false) || !bytes.Equal(c, h[:n]) {
			t.Errorf("%d bytes of a header were taken for one", n)
		}
	}
	for _, list := range [][]byte{{8, 10, 0, 0}, {1, 1, 1, 8}, {5, 0, 1, 1}, {5, 1, 1, 1}, {8, 4, 9, 9}, {0, 8, 10, 0}, {5, 40, 0, 0}, {5, 2, 5, 3}} {
		b := segment(in(four), &frame.Header{Ack: 7001, Flags: frame.ACK}, list, "0123456789")
		receive(tab, b)
		if got := read(t, b); got.ack != 5001 || !bytes.Equal(b[54:58], list) || got.data != "0123456789" {
			t.Errorf("% x became %+v", list, got)
		}
	}
}

// FuzzSegment: whatever a header says, In and Out stay inside it and never make a
// right checksum wrong.
func FuzzSegment(f *testing.F) {
	f.Add(plain(four, 1, 2)[34:], true)
	f.Add(synAck(four, 5000, 2)[34:], true)
	f.Add(segment(in(four), &frame.Header{Flags: frame.ACK}, []byte{1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1}, "abc")[34:], false)
	f.Fuzz(func(t *testing.T, seg []byte, outward bool) {
		if len(seg) < headerSize || len(seg) > 2000 {
			return
		}
		tab := New(1, grace, func() {})
		way := in(four)
		if outward {
			way = out(four)
		}
		b := frame.AppendTCP(nil, way, &frame.Header{}, seg[headerSize:])
		copy(b[38:], seg[4:headerSize])
		var p frame.Packet
		if p.Parse(b, way.DstMAC) != frame.TCP {
			return
		}
		resum(b, &p)
		tab.Pend(four)
		tab.Set(&Answer{Flow: four, ISS: 5000}, 77777, 123456)
		behind := bytes.Clone(b[p.Data:])
		if outward {
			tab.Out(&p.Src, &p.Dst, b[p.L4:p.Data:p.Data], false)
		} else {
			tab.In(b, &p, false)
		}
		var q frame.Packet
		if q.Parse(b, way.DstMAC) != frame.TCP || !q.ChecksumOK(b) || !bytes.Equal(b[p.Data:], behind) {
			t.Fatalf("%x", b)
		}
	})
}
