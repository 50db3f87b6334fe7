package wire

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"
	"time"

	"penstock/bench/wire/nettest"
)

var (
	client = Flow{0xc6130005, 4321} // 198.19.0.5
	proxy  = netip.MustParseAddrPort("198.18.0.100:80")

	clients = netip.MustParsePrefix("198.19.0.0/24")
)

// What is written is read again, and its checksums are right.
func TestSegments(t *testing.T) {
	s := NewScribe(MAC{2, 1}, MAC{2, 2})
	for _, c := range []struct {
		g       Segment
		payload string
	}{
		{Segment{From: client, To: FlowOf(proxy), Seq: 1 << 31, Flags: SYN, Window: 64240, Stamp: 77}, ""},
		{Segment{From: FlowOf(proxy), To: client, Seq: 5, Ack: 6, Flags: SYN | ACK, Window: 1, Stamp: 1 << 31, Echo: 77}, ""},
		{Segment{From: client, To: FlowOf(proxy), Seq: 1<<32 - 1, Ack: 1<<32 - 1, Flags: ACK | PSH, Window: 0xffff, Stamped: true, Stamp: 9, Echo: 8}, "seventeen bytes.."},
		{Segment{From: client, To: FlowOf(proxy), Seq: 3, Flags: RST}, ""},
	} {
		b := make([]byte, c.g.Size()+len(c.payload))
		copy(b[c.g.Size():], c.payload)
		s.Write(b, &c.g)
		h, ok := Read(b)
		stamped := c.g.Stamped || c.g.Flags&SYN != 0
		if !ok || h.From != c.g.From || h.To != c.g.To || h.Seq != c.g.Seq || h.Ack != c.g.Ack || h.Flags != c.g.Flags ||
			string(h.Payload) != c.payload || h.Length != len(c.payload) || h.Stamped != stamped || h.Stamp != c.g.Stamp && stamped || h.Sender != (MAC{2, 1}) {
			t.Errorf("%+v %v, of %+v", h, ok, c.g)
		}
		if !Sound(b) {
			t.Errorf("checksum of %+v", c.g)
		}
		b[len(b)-1]++
		if Sound(b) {
			t.Errorf("a wrong checksum of %+v is not found", c.g)
		}
	}
}

// Odd frames are not read, and never past their end.
func TestReadOdd(t *testing.T) {
	g := Segment{From: client, To: FlowOf(proxy), Flags: SYN}
	b := make([]byte, SYNSize)
	NewScribe(MAC{}, MAC{}).Write(b, &g)
	for n := range SYNSize {
		if h, ok := Read(b[:n]); ok {
			t.Errorf("%d bytes: %+v", n, h)
		}
	}
	for at := range SYNSize {
		for _, to := range []byte{0, 1, 0xff} {
			odd := append([]byte(nil), b...)
			odd[at] = to
			Read(odd)
		}
	}
}

func TestFlow(t *testing.T) {
	if f := FlowOf(proxy); f.AddrPort() != proxy || f != (Flow{0xc6120064, 80}) {
		t.Error(f)
	}
}

func find(t *testing.T, name string) Port {
	t.Helper()
	p, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sender(t *testing.T, name string) *Sender {
	t.Helper()
	s, err := NewSender(find(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func receiver(t *testing.T, name string, frames int) *Receiver {
	t.Helper()
	r, err := NewReceiver(find(t, name), FromTCP(proxy, clients), frames)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// queue queues a segment of the proxy's.
func queue(s *Sender, from netip.AddrPort, seq uint32) {
	g := Segment{From: FlowOf(from), To: client, Seq: seq, Ack: 1, Flags: SYN | ACK}
	NewScribe(MAC{2, 9}, MAC{2, 8}).Write(s.Next(SYNSize), &g)
}

// What is sent at one end comes at the other, in order and timed, and nothing
// else does.
func TestSendAndReceive(t *testing.T) {
	nettest.Enter(t)
	nettest.Veth(t, "one", "other")
	s, r := sender(t, "one"), receiver(t, "other", 256)
	const n = 1000
	begun, next := Now(), uint32(0)
	take := func() {
		for b, at, ok := r.Next(); ok; b, at, ok = r.Next() {
			h, ok := Read(b)
			if !ok || h.Seq != next || h.From != FlowOf(proxy) || h.Sender != (MAC{2, 9}) {
				t.Fatalf("%+v, want number %d", h, next)
			}
			if at < begun || at > Now() {
				t.Fatalf("timed %d, which is not from %d to %d", at, begun, Now())
			}
			next++
		}
	}
	come := func(to uint32) {
		for deadline := time.Now().Add(time.Minute); next < to && time.Now().Before(deadline); take() {
			r.Wait(10 * time.Millisecond)
		}
	}
	for i := range uint32(n) {
		if !s.Room() {
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
			come(i) // there is not room for all
		}
		queue(s, proxy, i)
		if i%10 == 0 && s.Room() {
			queue(s, netip.AddrPortFrom(proxy.Addr(), 81), i) // is not let through
		}
		if i%7 == 0 && s.Room() {
			g := Segment{From: FlowOf(proxy), To: Flow{client.IP + 256, 1}, Flags: SYN} // nor is this
			NewScribe(MAC{2, 9}, MAC{2, 8}).Write(s.Next(SYNSize), &g)
		}
	}
	if err := s.Flush(); err != nil || s.Queued() != 0 {
		t.Fatal(err, s.Queued())
	}
	if come(n); next != n || r.Missed() != 0 {
		t.Errorf("%d came, %d missed, want %d", next, r.Missed(), n)
	}
}

// A server on raw frames hears who asks for it, and TCP that is for it.
func TestToTCP(t *testing.T) {
	nettest.Enter(t)
	nettest.Veth(t, "one", "other")
	s, own := sender(t, "one"), find(t, "other")
	r, err := NewReceiver(own, ToTCP(proxy.Addr()), 16)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, to := range []netip.Addr{clients.Addr(), proxy.Addr()} {
		g := Segment{From: client, To: FlowOf(netip.AddrPortFrom(to, 9)), Flags: SYN}
		NewScribe(MAC{2, 9}, own.MAC).Write(s.Next(SYNSize), &g)
	}
	from := client.AddrPort().Addr()
	copy(s.Next(arpSize), arpRequest(find(t, "one").MAC, from, proxy.Addr()))
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	next := func() []byte {
		for {
			if b, _, ok := r.Next(); ok {
				return b
			}
			r.Wait(time.Second)
		}
	}
	if h, ok := Read(next()); !ok || h.To.AddrPort().Addr() != proxy.Addr() || r.Partial() {
		t.Errorf("%+v", h)
	}
	q, ok := ReadARP(next())
	if !ok || q != (ARP{find(t, "one").MAC, from, proxy.Addr()}) {
		t.Errorf("%+v", q)
	}
	answer := make([]byte, ReplySize)
	q.Reply(answer, own.MAC)
	if _, again := ReadARP(answer); again || MAC(answer) != q.Sender || MAC(answer[6:]) != own.MAC {
		t.Errorf("%x", answer)
	}
}

// Who reads too slowly is told how much was missed.
func TestMissed(t *testing.T) {
	nettest.Enter(t)
	nettest.Veth(t, "one", "other")
	s, r := sender(t, "one"), receiver(t, "other", 16)
	for i := range uint32(Batch) {
		queue(s, proxy, i)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	var came, missed uint64
	deadline := time.Now().Add(time.Minute)
	for ; missed == 0 && time.Now().Before(deadline); missed = r.Missed() { // else it might be fast enough
		time.Sleep(time.Millisecond)
	}
	for ; came+missed < Batch && time.Now().Before(deadline); missed += r.Missed() {
		if _, _, ok := r.Next(); ok {
			came++
		}
	}
	if came < 16 || missed == 0 || came+missed != Batch {
		t.Errorf("%d came and %d were missed of %d", came, missed, Batch)
	}
}

// A device whose reader does not read takes as much as its queue holds; the
// next frame can be tried again, or left out.
func TestFull(t *testing.T) {
	nettest.Enter(t)
	nettest.Tap(t, "tap0")
	nettest.IP(t, "link set tap0 txqueuelen 100")
	f := attach(t, "tap0")
	s := sender(t, "tap0")
	taken := 0
	for i := range uint32(1000) {
		queue(s, proxy, i)
		if err := s.Flush(); errors.Is(err, ErrFull) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		taken++
	}
	if taken < 50 || taken > 300 || s.Queued() != 1 {
		t.Fatalf("%d were taken, %d wait", taken, s.Queued())
	}
	if err := s.Flush(); !errors.Is(err, ErrFull) {
		t.Error("again: ", err)
	}
	for range taken / 2 { // its queue makes room in batches
		f.Read(make([]byte, Most))
	}
	if err := s.Flush(); err != nil || s.Queued() != 0 {
		t.Error("with room: ", err)
	}
	queue(s, proxy, 0)
	if s.Flush(); s.Queued() == 1 {
		s.Drop()
	}
	if err := s.Flush(); err != nil {
		t.Error("nothing is left: ", err)
	}
}

func TestResolve(t *testing.T) {
	nettest.Enter(t)
	nettest.Veth(t, "one", "other")
	nettest.IP(t, "addr add 198.18.0.100/15 dev other")
	from := netip.MustParseAddr("198.19.0.1")
	mac, err := Resolve(find(t, "one"), from, proxy.Addr(), time.Minute)
	if other := find(t, "other").MAC; err != nil || mac != other {
		t.Errorf("%v %v, want %v", mac, err, other)
	}
	if mac, err := Resolve(find(t, "one"), from, netip.MustParseAddr("198.18.0.99"), time.Millisecond); !errors.Is(err, ErrSilent) {
		t.Errorf("%v %v", mac, err)
	}
}

func TestNoSuchDevice(t *testing.T) {
	if _, err := Find("no-such"); err == nil {
		t.Error("found")
	}
	if p, err := Find("lo"); err == nil {
		if p.MAC != (MAC{}) {
			t.Errorf("%+v", p)
		}
	}
}

// A frame costs no memory.
func TestAllocations(t *testing.T) {
	g := Segment{From: client, To: FlowOf(proxy), Flags: SYN, Stamp: 1}
	s, b := NewScribe(MAC{}, MAC{}), make([]byte, SYNSize)
	if n := testing.AllocsPerRun(100, func() { s.Write(b, &g); Read(b) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkWrite(b *testing.B) {
	g := Segment{From: client, To: FlowOf(proxy), Flags: SYN, Stamp: 1}
	s, frame := NewScribe(MAC{}, MAC{}), make([]byte, SYNSize)
	for i := range b.N {
		g.Seq = uint32(i)
		s.Write(frame, &g)
	}
	if binary.BigEndian.Uint16(frame[12:]) != typeIPv4 {
		b.Fatal("not written")
	}
}
