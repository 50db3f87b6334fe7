package rewrite

import (
	"bytes"
	"testing"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// flowOf is the flow that a frame belongs to.
func flowOf(b []byte, p *frame.Packet) frame.Flow {
	return frame.Flow{SrcMAC: p.From, DstMAC: frame.MAC(b[:6]), Src: p.Src, Dst: p.Dst, SrcPort: p.SrcPort, DstPort: p.DstPort}
}

// otherSide has the flows that a test sends whatever comes to.
func otherSide(p *frame.Packet) *path {
	if p.V6 {
		return &path6
	}
	return &path4
}

// TestSeeds has both fuzz targets look at frames that are malformed in ways known
// beforehand. They are too many for the fuzzer to begin with.
func TestSeeds(t *testing.T) {
	for _, b := range seeds() {
		for _, flag := range []bool{false, true} {
			tryMessage(t, b, 1<<31, flag)
			for _, most := range []uint16{0, 1, 1400, 0xffff} {
				trySegment(t, b, most, flag)
			}
		}
	}
}

// FuzzSegment: whatever the segment, it is right on the other side if it was right
// on this one, and there and back it is what it was; what we say about it is sound.
func FuzzSegment(f *testing.F) {
	for i, b := range sound() {
		if parse(b).Kind == frame.TCP {
			f.Add(b, uint16(1400), i%2 == 0)
		}
	}
	f.Fuzz(trySegment)
}

func trySegment(t *testing.T, b []byte, most uint16, partial bool) {
	b = bytes.Clone(b)[:len(b):len(b)] // reading behind it is a panic
	var p frame.Packet
	if p.Parse(b, own) != frame.TCP || Expired(b, &p) {
		return
	}
	var h device.VNet
	if partial {
		b, h = undone(b)
	}
	judgeErrors(t, b, &p)
	ok, before := p.ChecksumOK(b), p.Options(b)
	ClampMSS(b, &p, &h, most)
	if ok != p.ChecksumOK(b) && !partial {
		t.Fatalf("by its MSS a segment became %v: %x", !ok, b)
	}
	if after := p.Options(b); after.MSS > max(most, 1) || after.MSS != min(before.MSS, most) && most != 0 {
		t.Fatalf("MSS %d, was %d, most %d: %x", after.MSS, before.MSS, most, b)
	}
	was, from, w := bytes.Clone(b), flowOf(b, &p), otherSide(&p)
	Segment(b[:p.Data], &p, &h, &w.out)
	var q frame.Packet
	if q.Parse(b, hop2) != frame.TCP || flowOf(b, &q) != w.out || q.L4 != p.L4 || q.Data != p.Data || q.End != p.End {
		t.Fatalf("%+v became %+v", p, q)
	}
	if finished := bytes.Clone(b); partial {
		finish(finished, &h)
		ok = q.ChecksumOK(finished)
		if !ok {
			t.Fatalf("the device can't make it right: %x", b)
		}
	} else if ok != q.ChecksumOK(b) {
		t.Fatalf("a segment became %v: %x", !ok, b)
	}
	if Expired(b, &q) {
		return
	}
	Segment(b, &q, &h, &from)
	same(t, b, was, &p)
}

// same compares a frame that was there and back.
func same(t *testing.T, b, was []byte, p *frame.Packet) {
	t.Helper()
	b, was = bytes.Clone(b), bytes.Clone(was)
	if p.V6 {
		b[offHops6] += 2
	} else {
		b[offTTL4] += 2
		header4(b)
		header4(was)
	}
	if p.Kind == frame.TCP {
		for _, c := range [][]byte{b, was} {
			if sum := c[p.L4+tcpSum:]; be.Uint16(sum) == 0xffff {
				be.PutUint16(sum, 0) // the other zero
			}
		}
	}
	if !bytes.Equal(b[12:], was[12:]) {
		t.Fatalf("there and back %x\nwas %x", b, was)
	}
}

// judgeErrors has gVisor look at what we say about a segment, and ourselves.
func judgeErrors(t *testing.T, b []byte, p *frame.Packet) {
	from := otherSide(p).in.Dst
	for _, e := range [][]byte{AppendTooBig(nil, b, p, own, from, 1400), AppendTimeExceeded(nil, b[:p.Data], p, own, from)} {
		got, ok := ParseError(e, parse(e))
		if !icmpOK(e) || !ok || got.Src != p.Src || got.Dst != p.Dst || got.SrcPort != p.SrcPort || got.Seq != p.Seq {
			t.Fatalf("%+v %v: %x", got, ok, e)
		}
	}
}

// FuzzError: whatever the message, nothing is read behind it; an error that is
// taken is right on the other side, and there and back it is what it was; a ping
// is answered soundly.
func FuzzError(f *testing.F) {
	for _, b := range sound() {
		if parse(b).Kind == frame.Other {
			f.Add(b, uint32(1<<31), true)
		}
	}
	f.Fuzz(tryMessage)
}

func tryMessage(t *testing.T, b []byte, delta uint32, right bool) {
	b = bytes.Clone(b)[:len(b):len(b)]
	var p frame.Packet
	if p.Parse(b, own) != frame.Other {
		return
	}
	if right && message(b, &p) {
		resumICMP(b) // or the fuzzer would never get behind it
	}
	if a, ok := AppendEcho(nil, b, &p, own); ok && !icmpOK(a) {
		t.Fatalf("%x is answered by %x", b, a)
	}
	e, ok := ParseError(b, &p)
	if !ok || Expired(b, &p) {
		return
	}
	if !icmpOK(b) || e.Src != p.Dst || e.tcp+8 > p.End || e.V6 != p.V6 {
		t.Fatalf("%+v: %x", e, b)
	}
	thereAndBack(t, b, &p, &e, delta)
}

func thereAndBack(t *testing.T, b []byte, p *frame.Packet, e *Error, delta uint32) {
	was, w := bytes.Clone(b[:p.End]), otherSide(p)
	old := frame.Flow{Src: e.Src, Dst: e.Dst, SrcPort: e.SrcPort, DstPort: e.DstPort}
	b = e.Translate(b, p, own, hop1, w.in.Src, &w.in, delta)
	var q frame.Packet
	if q.Parse(b, hop1) != frame.Other || !icmpOK(b) {
		t.Fatalf("%+v: %x", q, b)
	}
	g, ok := ParseError(b, &q)
	mtu, big := e.MTU()
	if gotMTU, gotBig := g.MTU(); !ok || g.Src != w.in.Src || g.Dst != w.in.Dst || g.SrcPort != w.in.SrcPort || g.DstPort != w.in.DstPort ||
		g.Seq != e.Seq+delta || g.Hard() != e.Hard() || gotMTU != mtu || gotBig != big {
		t.Fatalf("%+v became %+v: %x", e, g, b)
	}
	if Expired(b, &q) {
		return
	}
	b = g.Translate(b, &q, own, hop2, p.Dst, &old, -delta)
	// Where it came from is known no more, if an address was changed.
	if from := parse(b).Src; from != p.Src && from != old.Dst {
		t.Fatalf("from %v, was %v", from, p.Src)
	}
	for _, c := range [][]byte{b, was} {
		blank(c, p, e)
	}
	same(t, b, was, p)
}

// blank makes zero what a comparison is not about: the source, the message's sum,
// and quoted sums that are no result of computing.
func blank(c []byte, p *frame.Packet, e *Error) {
	if p.V6 {
		clear(c[offAddrs6 : offAddrs6+16])
	} else {
		clear(c[offAddrs4 : offAddrs4+4])
		other(c[e.ip+10:])
	}
	clear(c[p.L4+2 : p.L4+4])
	if e.tcp+tcpSum+2 <= p.End {
		other(c[e.tcp+tcpSum:])
	}
}

// other makes one zero of both.
func other(sum []byte) {
	if be.Uint16(sum) == 0xffff {
		be.PutUint16(sum, 0)
	}
}
