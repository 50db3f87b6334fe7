package term

import (
	"io"
	"net/netip"
	"testing"

	"penstock/stack/tap/frame"
)

// Several ports share an address, which is ours for as long as somebody uses it.
func TestAddresses(t *testing.T) {
	r := newRig(t, Config{})
	at := func(a netip.Addr) *frame.Addr { b := frame.Addr(a.As16()); return &b }
	other := netip.AddrPortFrom(server4.Addr(), 81)
	if !r.Answers(at(server4.Addr())) || r.Answers(at(server6.Addr())) || r.Answers(at(client4)) {
		t.Error("wrong addresses answered for")
	}
	if err := r.Listen(2, other); err != nil {
		t.Fatal(err)
	}
	if err := r.Listen(3, server4); err == nil {
		t.Error("a port can be opened twice")
	}
	if err := r.AddAddress(server6.Addr()); err != nil || !r.Answers(at(server6.Addr())) {
		t.Error("own address:", err)
	}
	f := r.from(client4, 1, other)
	conn := f.handshake()
	r.Unlisten(server4)
	r.Unlisten(server4)
	r.Unlisten(other)
	if !r.Answers(at(server4.Addr())) {
		t.Error("a connection's address is not answered for")
	}
	g := r.from(client4, 2, other)
	g.send(frame.SYN)
	if p, _ := r.next(); !p.Has(frame.RST) {
		t.Errorf("%+v, want a reset from a closed port", p)
	}
	// The connection goes on, and the port can be opened again beside it.
	f.send(frame.ACK, 'x')
	f.want(frame.ACK)
	if n, e := r.Recv(conn, make([]byte, 10)); n != 1 || e != 0 {
		t.Errorf("received %d, %v", n, e)
	}
	if err := r.Listen(4, other); err != nil {
		t.Error(err)
	}
	r.from(client4, 3, other).handshake()
	r.Unlisten(other)
	r.Reset(conn)
	r.next()
	if !r.Answers(at(server4.Addr())) {
		t.Error("the other connection's address is not answered for")
	}
	r.Reset(2)
	if r.Answers(at(server4.Addr())) {
		t.Error("an address that nobody uses is answered for")
	}
	if !r.Answers(at(server6.Addr())) {
		t.Error("own address is forgotten")
	}
}

// Handshakes that nobody accepted end with their listener.
func TestUnlistenResets(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	f.synAck()
	f.send(frame.ACK)
	r.step()
	if r.wakes != 0 {
		t.Error("woken for what the loop did itself")
	}
	r.Unlisten(server4)
	if p, _ := r.next(); !p.Has(frame.RST) {
		t.Errorf("%+v, want a reset", p)
	}
	if r.Events(10, func(e Event) { t.Errorf("event %+v", e) }) {
		t.Error("more events")
	}
}

func TestWrongConfig(t *testing.T) {
	for _, c := range []Config{
		{MTU: 500}, {MTU: 70000},
		{Knobs: Knobs{Congestion: "bbr"}},
		{Knobs: Knobs{MSS: 10}},
		{Knobs: Knobs{Receive: Range{First: 2 << 20, Most: 1 << 20}}},
		{Knobs: Knobs{Send: Range{First: 1, Most: 2}}},
	} {
		if s, err := New(c); err == nil {
			t.Errorf("%+v is taken", c)
			s.Free()
		}
	}
	s, err := New(Config{MTU: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Free()
	if err := s.Listen(1, server6); err == nil {
		t.Error("IPv6 with an MTU of 1000")
	}
	if err := s.Listen(1, server4); err != nil {
		t.Error(err)
	}
}

// All ways to find losses and to control congestion get the data through.
func TestKnobs(t *testing.T) {
	for _, k := range []Knobs{{RACK: true}, {Congestion: "reno"}, {MSS: 600}, {Receive: Range{First: 4096}, Send: Range{Most: 8192}}} {
		p := newPair(t, setup{strict: true, knobs: k})
		p.listen(server4)
		accepted, _ := p.accepts()
		c := p.mustDial(server4)
		p.exchange(await(t, accepted).Conn, c, 256<<10)
	}
}

// Free ends all there is, in any state, and leaves nobody waiting.
func TestFree(t *testing.T) {
	p := newPair(t, setup{})
	p.listen(server4)
	accepted, _ := p.accepts()
	c := p.mustDial(server4)
	await(t, accepted)
	p.server.do(func() {
		p.server.Unlisten(server4)
		p.server.Listen(1, server4)
	})
	go p.server.do(func() { close(p.server.quit) })
	if b, err := io.ReadAll(c); err == nil {
		t.Errorf("read %d bytes to a clean end", len(b))
	}
	p.server.done.Wait()
	p.server.quit = make(chan struct{})
}
