package term

import (
	"encoding/binary"
	"io"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// isnLink remembers the number that a SYN-ACK begins with, and counts frames.
type isnLink struct {
	atOnce
	isn    uint32
	frames int
}

func (l *isnLink) SendParts(_ *device.VNet, frags [][]byte) {
	l.frames++
	tcp := frags[1][20:]
	if tcp[13] == frame.SYN|frame.ACK {
		l.isn = binary.BigEndian.Uint32(tcp[4:])
	}
}

// BenchmarkConnection is what a short connection takes without a device: SYN,
// ACK, a request that is read, an answer, FIN both ways. The client is frames.
func BenchmarkConnection(b *testing.B) {
	l := &isnLink{}
	s, err := New(Config{Link: l, Hops: oneHop{clientMAC}, MAC: serverMAC, Wake: func() {}, Knobs: Knobs{TimeWait: 1}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Free()
	if err := s.Listen(1, server4); err != nil {
		b.Fatal(err)
	}
	var out []byte
	request, answer, buf := make([]byte, 100), make([]byte, 1000), make([]byte, 1000)
	f := frame.Flow{SrcMAC: clientMAC, DstMAC: serverMAC, Src: client4.As16(), Dst: server4.Addr().As16(), DstPort: 80}
	send := func(h frame.Header, payload []byte) {
		h.Window = 0xffff
		out = frame.AppendTCP(out[:0], &f, &h, payload)
		s.Inject(out, true)
	}
	done := 0
	event := func(e Event) {
		if n, _ := s.Recv(e.Conn, buf); n > 0 {
			s.Send(e.Conn, answer)
			s.Close(e.Conn)
			done++
		}
	}
	b.ReportAllocs()
	for i := range b.N {
		f.SrcPort = uint16(1 + i%60000)
		seq := uint32(i) * 100000
		send(frame.Header{Seq: seq, Flags: frame.SYN, Options: &frame.Options{MSS: 1460, WS: 7, SACK: true}}, nil)
		s.Events(10, event)
		ack := l.isn + 1
		send(frame.Header{Seq: seq + 1, Ack: ack, Flags: frame.ACK}, nil)
		send(frame.Header{Seq: seq + 1, Ack: ack, Flags: frame.ACK | frame.PSH}, request)
		s.Events(10, event)
		ack += 1001
		send(frame.Header{Seq: seq + 101, Ack: ack, Flags: frame.ACK | frame.FIN}, nil)
		s.Events(10, event)
	}
	b.StopTimer()
	if done != b.N {
		b.Errorf("%d of %d connections answered", done, b.N)
	}
	b.ReportMetric(float64(l.frames)/float64(b.N), "frames/op")
}

// BenchmarkIn is how much a client can send to a kernel socket in large frames,
// with its acknowledgements. The client is frames.
func BenchmarkIn(b *testing.B) {
	const size = 60000
	l := &isnLink{}
	s, err := New(Config{Link: l, Hops: oneHop{clientMAC}, MAC: serverMAC, Wake: func() {}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Free()
	s.Listen(1, server4)
	f := frame.Flow{SrcMAC: clientMAC, DstMAC: serverMAC, Src: client4.As16(), Dst: server4.Addr().As16(), SrcPort: 1, DstPort: 80}
	h := frame.Header{Flags: frame.SYN, Options: &frame.Options{MSS: 1460, WS: 7, SACK: true}, Window: 0xffff}
	s.Inject(frame.AppendTCP(nil, &f, &h, nil), true)
	s.Events(1, nil)
	h = frame.Header{Seq: 1, Ack: l.isn + 1, Flags: frame.ACK, Window: 0xffff}
	s.Inject(frame.AppendTCP(nil, &f, &h, nil), true)
	var conn uint32
	s.Events(1, func(e Event) { conn = e.Conn })
	null, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer sys.Close(null[0])
	defer sys.Close(null[1])
	payload := make([]byte, size)
	out := frame.AppendTCP(nil, &f, &h, payload)
	drop := make([]byte, 1)
	b.SetBytes(size)
	b.ReportAllocs()
	for range b.N {
		binary.BigEndian.PutUint32(out[14+20+4:], h.Seq)
		h.Seq += size
		head, tail := s.Room()
		copy(tail, out[copy(head, out):])
		s.InjectRoom(len(out), true)
		s.Events(10, func(Event) {})
		if n, own, to := s.ReadTo(conn, null[0], size); n != size {
			b.Fatal(n, own, to)
		}
		sys.Recv(null[1], drop)
	}
}

// BenchmarkBulk is one connection from the server to a netstack client in the
// same process, through a link in memory that copies.
func BenchmarkBulk(b *testing.B) {
	p := newPair(b, setup{})
	at := netip.AddrPortFrom(server4.Addr(), 80)
	p.listen(at)
	piece := make([]byte, 64<<10)
	p.server.do(func() {
		p.server.event = func(e Event) {
			for e.Ready&sys.Out != 0 {
				if n, _ := p.server.Send(e.Conn, piece); n == 0 {
					return
				}
			}
		}
	})
	c := p.mustDial(at)
	buf := make([]byte, 1<<20)
	b.SetBytes(1 << 20)
	b.ResetTimer()
	for range b.N {
		if _, err := io.ReadFull(c, buf); err != nil {
			b.Fatal(err)
		}
	}
}
