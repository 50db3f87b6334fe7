package tap

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/checksum"

	"penstock/stack/tap/device"
	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// router is who complains about frames.
var router = netip.MustParseAddr("198.18.5.77")

// quoting is an ICMP error, from a router to who sent b: the port is unreachable.
func quoting(b []byte) []byte {
	var p frame.Packet
	p.Parse(b, frame.MAC(b[:6]))
	if p.V6 || p.Kind != frame.TCP {
		return nil
	}
	const icmp, unreachable, port, quoted = 1, 3, 3, 28
	f := frame.Flow{SrcMAC: ether.Router, DstMAC: ether.Own, Src: router.As16(), Dst: p.Src}
	all, room := frame.AppendDatagram(nil, &f, 8+quoted, icmp)
	room[0], room[1] = unreachable, port
	copy(room[8:], b[linkSize:linkSize+quoted])
	binary.BigEndian.PutUint16(room[2:], ^checksum.Checksum(room, 0))
	return all
}

// An ICMP error in answer to a SYN is as a reset. Later it is passed on, in the
// client's terms, and ends nothing; and one about a number that nobody sent is
// nobody's.
func TestForwardErrors(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	c.syn()
	_, b := r.nextServer()
	wrong := bytes.Clone(b)
	wrong[34+4]++ // its sequence number
	r.behind.Send(quoting(wrong))
	r.settle()
	r.dev.Send(quoting(b)) // by a client, who would have its server be avoided
	r.settle()
	r.want("arrived")
	r.behind.Send(quoting(b))
	r.settle()
	r.want("refused")
	r.forward(r.only(), r.now)
	s, _ := r.serverSyn()
	s.answer()
	c.synAck()
	c.send(frame.ACK, "data")
	_, b = r.nextServer()
	r.dev.Take()
	r.behind.Send(quoting(b))
	r.settle()
	var found bool
	for _, b := range r.dev.Take() {
		var p frame.Packet
		if p.Parse(b, frame.MAC(b[:6])) == frame.Other && p.Dst == c.f.Src {
			q := b[p.L4+8:]
			found = bytes.Equal(q[12:16], c.f.Src[12:]) && bytes.Equal(q[16:20], c.f.Dst[12:]) &&
				binary.BigEndian.Uint16(q[20:]) == c.f.SrcPort && binary.BigEndian.Uint16(q[22:]) == c.f.DstPort
		}
	}
	if !found {
		t.Error("the client was not told")
	}
	if got := r.totals(); got.Refusals != 1 || got.ICMPTranslated != 1 || len(r.flows) != 1 {
		t.Errorf("%+v", got)
	}
	// And the other way: about what the server sent.
	s.ack += 4
	c.seq += 4
	s.send(frame.ACK, "answer")
	_, b = c.next()
	r.drainServer()
	e := quoting(b)
	r.dev.Send(e)
	r.settle()
	if got := r.totals(); got.ICMPTranslated != 2 {
		t.Errorf("%+v", got)
	}
}

// Servers' link: who asks where we are is told, and who pings is answered; a packet
// that has gone through too many routers, or does not fit, is complained about.
func TestServersLink(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	for _, a := range []netip.Addr{front4.Addr(), snat4} {
		r.behind.Send(frame.AppendARPRequest(nil, ether.Router, frame.Broadcast, ptr(frame.Addr(server4.Addr().As16())), ptr(frame.Addr(a.As16()))))
		r.settle()
		list := r.behind.Take()
		if len(list) != 1 {
			t.Fatalf("%d answers", len(list))
		}
		if m, ok := frame.ParseARP(list[0]); !ok || m.Op != frame.ARPReply || m.SenderIP != a.As16() {
			t.Errorf("%+v", m)
		}
	}
	c := r.client(1)
	s := c.establish()
	b := frame.AppendTCP(nil, &s.f, &frame.Header{Seq: s.seq, Ack: s.ack, Flags: frame.ACK, Window: 100, Options: &s.opts}, []byte("x"))
	b[linkSize+8] = 1
	binary.BigEndian.PutUint16(b[linkSize+10:], 0)
	binary.BigEndian.PutUint16(b[linkSize+10:], ^checksum.Checksum(b[linkSize:linkSize+20], 0))
	r.behind.Send(b)
	r.settle()
	c.none("its time is over")
	s.send(frame.ACK, string(make([]byte, 1460))) // 12 bytes of options make it too long
	c.none("too long")
	got := r.totals()
	if got.TTLDrops != 1 || got.TooBig != 1 {
		t.Errorf("%+v", got)
	}
	icmp := 0
	for _, b := range r.behind.Take() {
		var p frame.Packet
		if p.Parse(b, frame.MAC(b[:6])) == frame.Other && p.Dst == s.f.Src && p.Src == frame.Addr(front4.Addr().As16()) {
			icmp++
		}
	}
	if icmp != 2 {
		t.Errorf("%d complaints", icmp)
	}
}

func ptr[T any](v T) *T { return &v }

// Large frames go whole, with what is left undone.
func TestForwardTSO(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.establish()
	data := bytes.Repeat([]byte("0123456789"), 3000)
	b := c.segment(frame.ACK|frame.PSH, string(data))
	var p frame.Packet
	p.Parse(b, ether.Own)
	src, dst := c.f.Src, c.f.Dst
	binary.BigEndian.PutUint16(b[p.L4+16:], frame.Pseudo(&src, &dst, p.End-p.L4))
	r.dev.SendMarked(b, device.VNet{
		Flags: device.NeedsCsum, GSO: device.GSOTCP4, HdrLen: uint16(p.Data), GSOSize: 1400, CsumStart: uint16(p.L4), CsumOffset: 16,
	})
	r.turn()
	var got []byte
	for len(got) < len(data) {
		p, b := r.nextServer()
		if p.Seq != s.ack+uint32(len(got)) {
			t.Fatalf("%+v, want %d", p, s.ack+uint32(len(got)))
		}
		got = append(got, b[p.Data:p.End]...)
	}
	if !bytes.Equal(got, data) || r.carried[0] != len(data) {
		t.Errorf("%d bytes came, %d counted", len(got), r.carried[0])
	}
}

// seqQuoted is the number of the segment that a server was last told about.
func seqQuoted(r *rig) (seq uint32) {
	for _, b := range r.behind.Take() {
		var p frame.Packet
		if p.Parse(b, frame.MAC(b[:6])) == frame.Other {
			seq = binary.BigEndian.Uint32(b[p.L4+8+20+4:])
		}
	}
	return seq
}

// A client that has proven itself is connected already, by numbers of ours: they are
// translated, from what is sent first to the last.
func TestForwardProven(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}, Proof: ProofAlways})
	r.decide = nil
	c := r.client(1)
	c.cookie()
	c.send(frame.ACK, "")
	r.want("arrived")
	c.after(2 * time.Second)
	r.forward(r.only(), r.now)
	s, _ := r.serverSyn()
	s.answer()
	r.want("answered")
	if p, _ := c.next(); p.Seq != c.ack-1 { // something old, that has to be acknowledged
		t.Errorf("the client got %+v", p)
	}
	p, _ := c.next()
	if p.Seq != c.ack || p.Window == 0 {
		t.Errorf("the client got %+v", p)
	}
	c.send(frame.ACK, "")
	s.want(frame.ACK, "")
	c.say(s, "request")
	s.send(frame.ACK, "response")
	_, b := c.next()
	r.drainServer()
	r.dev.Send(quoting(b)) // a router on the way
	r.settle()
	if got := seqQuoted(r); got != s.seq {
		t.Errorf("the server was told about %d, want %d", got, s.seq)
	}
	s.seq += 8
	c.ack += 8
	c.fin(s)
	s.fin(c)
	r.want("over")
	if n := r.Len(); n != 0 {
		t.Errorf("%d records", n)
	}
	// One that a server does not answer is parked again, and one that is refused
	// is told so by its own numbers.
	c = r.client(2)
	c.cookie()
	c.send(frame.ACK, "")
	r.forward(r.only(), r.now)
	s, _ = r.serverSyn()
	s.seq = 0
	s.send(frame.RST|frame.ACK, "")
	r.want("arrived", "refused")
	r.owner.refuse(r.only())
	if p, _ := c.next(); !p.Has(frame.RST) || p.Seq != c.ack {
		t.Errorf("the client got %+v", p)
	}
}
