package term

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip/checksum"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// Nothing is sent that no client caused: no announcement, no solicitation, no
// report of groups.
func TestSilence(t *testing.T) {
	r := newRig(t, Config{})
	if err := r.Listen(1, server6); err != nil {
		t.Fatal(err)
	}
	if err := r.AddAddress(netip.MustParseAddr("fe80::1")); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		r.clock.Advance(time.Second)
	}
	r.none("in a minute")
}

// Pings are answered, for addresses of listeners and for others of ours, to
// where the hops say.
func TestPing(t *testing.T) {
	r := newRig(t, Config{})
	if err := r.Listen(1, server6); err != nil {
		t.Fatal(err)
	}
	own := netip.MustParseAddr("fe80::1")
	if err := r.AddAddress(own); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to netip.Addr }{
		{client4, server4.Addr()}, {client6, server6.Addr()}, {netip.MustParseAddr("fe80::2"), own},
	} {
		r.Inject(ping(c.from, c.to), false)
		b := r.frame()
		var p frame.Packet
		if k := p.Parse(b.b, clientMAC); k != frame.Other || p.Src != c.to.As16() || p.Dst != c.from.As16() ||
			b.b[p.L4] != 0 && b.b[p.L4] != 129 || string(b.b[p.L4+8:p.End]) != "hello" || b.vnet != (device.VNet{}) {
			t.Errorf("%v: %+v %x", c, p, b.b)
		}
	}
	r.Inject(ping(client4, netip.MustParseAddr("198.18.0.99")), false)
	r.none("for an address that is not ours")
}

func ping(from, to netip.Addr) []byte {
	data := []byte("hello")
	b := append(append(append([]byte(nil), serverMAC[:]...), clientMAC[:]...), 0x08, 0x00)
	if from.Is4() {
		ip := header.IPv4(make([]byte, 20))
		src, dst := frame.Addr(from.As16()), frame.Addr(to.As16())
		ip.Encode(&header.IPv4Fields{TotalLength: 33, TTL: 64, Protocol: 1, SrcAddr: address(&src), DstAddr: address(&dst)})
		ip.SetChecksum(^ip.CalculateChecksum())
		icmp := append([]byte{8, 0, 0, 0, 0, 1, 0, 1}, data...)
		binary.BigEndian.PutUint16(icmp[2:], ^checksum.Checksum(icmp, 0))
		return append(append(b, ip...), icmp...)
	}
	b[12], b[13] = 0x86, 0xdd
	src, dst := frame.Addr(from.As16()), frame.Addr(to.As16())
	ip := header.IPv6(make([]byte, 40))
	ip.Encode(&header.IPv6Fields{PayloadLength: 13, HopLimit: 64, TransportProtocol: header.ICMPv6ProtocolNumber,
		SrcAddr: address(&src), DstAddr: address(&dst)})
	icmp := append([]byte{128, 0, 0, 0, 0, 1, 0, 1}, data...)
	sum := header.PseudoHeaderChecksum(header.ICMPv6ProtocolNumber, address(&src), address(&dst), 13)
	binary.BigEndian.PutUint16(icmp[2:], ^checksum.Checksum(icmp, sum))
	return append(append(b, ip...), icmp...)
}

// noHops knows nobody.
type noHops struct{}

func (noHops) To(*frame.Addr) (frame.MAC, bool) { return frame.MAC{}, false }

func TestNoHop(t *testing.T) {
	r := newRig(t, Config{Hops: noHops{}})
	r.client(1).send(frame.SYN)
	r.none("to nowhere")
	if n := r.Stats().NoHop; n != 1 {
		t.Errorf("%d frames to nowhere counted", n)
	}
}

// What does not fit, or is no IP, is dropped.
func TestInjectNonsense(t *testing.T) {
	r := newRig(t, Config{})
	r.InjectRoom(device.MaxFrame, true)
	if r.Stats().Oversize != 1 {
		t.Error("not counted")
	}
	r.Inject(nil, true)
	r.Inject(make([]byte, 14), true)
	r.Inject(make([]byte, 60), false)
	for _, kind := range []byte{0x08, 0x86} {
		for n := range 60 {
			b := make([]byte, 14+n)
			b[12], b[13] = kind, kind>>7*0xdd
			r.Inject(b, false)
		}
	}
	r.none("for nonsense")
	r.client(1).handshake()
}

// The room takes the largest datagram there is, and hands it over as it came.
func TestRoom(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	head, tail := r.Room()
	if n := len(head) + len(tail); n < etherSize+65535 {
		t.Errorf("room for %d bytes", n)
	}
	if len(head) < frame.Head {
		t.Errorf("%d bytes do not hold all headers", len(head))
	}
	for _, size := range []int{1, headSize - 54, headSize - 53, copyMost, copyMost + 1, 65535 - 40} {
		want := noise(size, 3)
		h := frame.Header{Seq: f.seq, Ack: f.ack, Flags: frame.ACK, Window: 1000}
		b := frame.AppendTCP(nil, &f.f, &h, want)
		r.injectRoom(b, false)
		f.seq += uint32(size)
		r.step()
		got := make([]byte, size+1)
		n, e := r.Recv(conn, got)
		if e != 0 {
			t.Error(e)
		}
		same(t, "large", got[:n], want)
	}
}

// A listener's MSS, and what the Stack sends, fit the MTU; what is larger is
// marked to be cut.
func TestOffload(t *testing.T) {
	r := newRig(t, Config{Knobs: Knobs{MSS: 1000}})
	f := r.client(1)
	f.send(frame.SYN)
	p, b := r.next()
	if o := p.Options(b.b); o.MSS != 1000 {
		t.Errorf("MSS %d", o.MSS)
	}
	if !p.ChecksumOK(b.b) || b.vnet != (device.VNet{}) {
		t.Errorf("SYN-ACK is not complete: %+v", b.vnet)
	}
	f.ack = p.Seq + 1
	f.send(frame.ACK)
	conn := r.events()[0].Conn
	r.Send(conn, make([]byte, 100))
	p, b = r.next()
	if b.vnet != (device.VNet{Flags: device.NeedsCsum, CsumStart: 34, CsumOffset: 16}) {
		t.Errorf("small: %+v", b.vnet)
	}
	if sum := binary.BigEndian.Uint16(b.b[p.L4+16:]); sum != frame.Pseudo(&p.Src, &p.Dst, p.End-p.L4) {
		t.Errorf("sum %x is not the pseudo header's", sum)
	}
	r.Send(conn, make([]byte, 10000))
	// Netstack always leaves room for the SACK blocks that there might be.
	_, b = r.next()
	if b.vnet != (device.VNet{Flags: device.NeedsCsum, GSO: device.GSOTCP4, HdrLen: 54, GSOSize: 1460 - 36, CsumStart: 34, CsumOffset: 16}) ||
		len(b.b) != 10054 {
		t.Errorf("large: %d bytes, %+v", len(b.b), b.vnet)
	}
}

// Many small writes become few frames of few pieces.
func TestManyPieces(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	h := frame.Header{Seq: f.seq, Ack: f.ack, Flags: frame.ACK} // window shut
	r.Inject(frame.AppendTCP(nil, &f.f, &h, nil), true)
	want := noise(30000, 5)
	r.none("with the window shut")
	for i := range want {
		if n, e := r.Send(conn, want[i:i+1]); n != 1 || e != 0 {
			t.Fatal(n, e)
		}
	}
	var got []byte
	for len(got) < len(want) {
		f.send(frame.ACK) // window open
		p, b := r.next()
		if p.Seq != f.ack {
			continue // a probe
		}
		got = append(got, b.b[p.Data:p.End]...)
		f.ack = p.Seq + p.Len()
	}
	same(t, "pieces", got, want)
}

// sinkLink counts frames, and looks at no byte.
type sinkLink struct {
	atOnce
	frames, most int
}

func (l *sinkLink) SendParts(_ *device.VNet, frags [][]byte) {
	l.frames++
	l.most = max(l.most, len(frags))
}

// Writing a frame allocates nothing, and hands over a bounded number of pieces.
func TestWriteAllocates(t *testing.T) {
	to := &sinkLink{}
	l := &link{to: to, hops: oneHop{clientMAC}, mac: serverMAC, outbound: func(*Segment) bool { return false }}
	for _, pieces := range []int{0, 1, 14, 15, 100} {
		pkt := stack.NewPacketBuffer(stack.PacketBufferOptions{ReserveHeaderBytes: 60})
		for range pieces {
			pkt.Data().AppendView(buffer.NewViewWithData(make([]byte, 500)))
		}
		header.TCP(pkt.TransportHeader().Push(20)).Encode(&header.TCPFields{DataOffset: 20})
		pkt.TransportProtocolNumber = header.TCPProtocolNumber
		header.IPv4(pkt.NetworkHeader().Push(20)).Encode(&header.IPv4Fields{})
		pkt.NetworkProtocolNumber = header.IPv4ProtocolNumber
		l.write(pkt)
		if n := testing.AllocsPerRun(100, func() { l.write(pkt) }); n > 0 && !raceEnabled {
			t.Errorf("%v allocations for %d pieces", n, pieces)
		}
		pkt.DecRef()
	}
	if to.most > mostFrags {
		t.Errorf("%d pieces", to.most)
	}
}

// Outbound sees each TCP segment, and may change or drop it.
func TestOutbound(t *testing.T) {
	var seen []Segment
	var drop bool
	r := newRig(t, Config{Outbound: func(s *Segment) bool {
		c := *s
		c.Header = append([]byte(nil), s.Header...)
		seen = append(seen, c)
		header.TCP(s.Header).SetUrgentPointer(77)
		return drop
	}})
	f := r.client(9)
	f.send(frame.SYN)
	p, b := r.next()
	if binary.BigEndian.Uint16(b.b[p.L4+18:]) != 77 {
		t.Error("not changed")
	}
	s := &seen[0]
	if s.Src != server4.Addr().As16() || s.Dst != client4.As16() || s.SrcPort != 80 || s.DstPort != 9 || s.Partial ||
		s.Payload != 0 || header.TCP(s.Header).Flags() != header.TCPFlagSyn|header.TCPFlagAck || len(s.Header) != p.Data-p.L4 {
		t.Errorf("saw %+v", s)
	}
	f.ack = p.Seq + 1
	f.send(frame.ACK)
	conn := r.events()[0].Conn
	drop = true
	r.Send(conn, make([]byte, 5000))
	r.none("dropped")
	if s := &seen[len(seen)-1]; !s.Partial || s.Payload != 5000 {
		t.Errorf("saw %+v", s)
	}
}
