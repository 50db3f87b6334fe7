package cases

import (
	"net/netip"
	"testing"
	"time"

	"penstock/bench/wire"
)

// liar writes segments in the name of others onto a device, with the Ethernet
// address of the kernel there.
type liar struct {
	t        testing.TB
	scribe   *wire.Scribe
	send     *wire.Sender
	from, to wire.Flow
}

// newLiar lies to penstock, on a device where it has an address.
func newLiar(t testing.TB, device string, its netip.Addr, from, to netip.AddrPort) *liar {
	t.Helper()
	port, err := wire.Find(device)
	if err != nil {
		t.Fatal(err)
	}
	mac, err := wire.Resolve(port, from.Addr(), its, patience)
	if err != nil {
		t.Fatal(err)
	}
	s := &liar{t: t, scribe: wire.NewScribe(port.MAC, mac), from: wire.FlowOf(from), to: wire.FlowOf(to)}
	if s.send, err = wire.NewSender(port); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.send.Close)
	return s
}

func (s *liar) say(seq, ack uint32, flags byte) {
	s.t.Helper()
	g := wire.Segment{From: s.from, To: s.to, Seq: seq, Ack: ack, Flags: flags, Window: 500}
	b := s.send.Next(g.Size())
	s.scribe.Write(b, &g)
	await(s.t, patience, "room for a frame", func() bool { return s.send.Flush() == nil })
}

// farAway are numbers that are in nobody's window.
var farAway = []uint32{1 << 30, 1 << 31, 3 << 30, 0xf0000000, 0x10000000}

// Segments that are out of window end nothing and begin nothing, whoever they
// pretend to be from: the connection goes on, is counted, and each byte of it is.
func TestForwardSpoofed(t *testing.T) {
	forwardOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	l := newLink(t)
	l.reach()
	e := l.hear(a.addr)
	p := setup{members: []string{a.limit(1)}, link: l}.start(t)
	c := p.connect()
	k := &talk{T: t, c: c, v: a.next(patience)}
	k.answer(1000)
	c.connected(patience)
	k.tell(100)
	h, _, ok := e.next(wire.PSH, patience)
	if !ok {
		t.Fatal("no data is heard")
	}
	seq, ack := h.Seq+uint32(h.Length), h.Ack // what each side says next
	client, server := addrPort(c.LocalAddr()), netip.MustParseAddrPort(a.addr)
	asClient := newLiar(t, l.dev, l.virtual(false), client, netip.MustParseAddrPort(p.addr))
	asServer := newLiar(t, l.serversDevice(), l.stand(false, 0), server, h.From.AddrPort())
	for _, off := range farAway {
		for _, flags := range []byte{wire.RST, wire.RST | wire.ACK, wire.FIN | wire.ACK, wire.SYN, wire.SYN | wire.ACK, wire.ACK} {
			asClient.say(seq+off, ack+off, flags)
			asServer.say(ack+off, seq+off, flags)
		}
	}
	// In the window, but not the next number: the server asks whether it was
	// meant, and is told that it was not.
	for _, off := range []uint32{1, 100, 10_000} {
		asClient.say(seq+off, ack, wire.RST)
	}
	never(t, 500*time.Millisecond, "it is over", func() bool { return p.inUse() != 1 })
	k.tell(50_000)
	k.answer(50_000)
	if n := p.inUse(); n != 1 {
		t.Errorf("in use %d; want 1", n)
	}
	c.CloseWrite()
	k.over("", byFIN)
	await(t, atOnce, "in use 0", func() bool { return p.inUse() == 0 })
	line := p.awaitLog(1)[0]
	if line["code"] != "--" || line["up"] != itoa(k.up) || line["down"] != itoa(k.down) {
		t.Errorf("%v; want %d up, %d down", line, k.up, k.down)
	}
}

// A reset in a client's name that is in the window is for the server to judge: it
// has its connection, and the proxy its slot, until the server lets go.
func TestForwardResetIsConfirmed(t *testing.T) {
	forwardOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	l := newLink(t)
	l.reach()
	e := l.hear(a.addr)
	p := setup{members: []string{a.limit(1)}, link: l}.start(t)
	c := p.connect()
	v := a.next(patience)
	c.connected(patience)
	c.say("x")
	h, _, ok := e.next(wire.PSH, patience)
	if !ok {
		t.Fatal("no data is heard")
	}
	waiter := p.connect()
	p.awaitDepth(1)
	liar := newLiar(t, l.dev, l.virtual(false), addrPort(c.LocalAddr()), netip.MustParseAddrPort(p.addr))
	for off := range uint32(20) {
		liar.say(h.Seq+uint32(h.Length)+1+off*97, h.Ack, wire.RST)
	}
	a.nobody(time.Second) // or two are connected, and one is allowed
	if v.greet(); c.greeting(patience) != "A" {
		t.Error("the connection is gone")
	}
	liar.say(h.Seq+uint32(h.Length), h.Ack, wire.RST) // and this is the one that counts
	w := a.next(atOnce)
	w.end()
	v.end()
	c.Close()
	waiter.Close()
	if got := codes(p.awaitLog(1)); got["CR"] != 1 {
		t.Errorf("codes %v; want CR", got)
	}
}
