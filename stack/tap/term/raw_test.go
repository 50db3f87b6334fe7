package term

import (
	"net/netip"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/faketime"

	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// rig is a Stack whose client is the test itself, segment by segment, and whose
// loop is the test's goroutine. Its time stands still, but for Advance. So all
// that happens, happens in a step.
type rig struct {
	*Stack
	t     testing.TB
	clock *faketime.ManualClock
	at    time.Duration // of a real rig
	out   chan packet   // frames that the Stack sent
	wakes int
	freed bool
	hold  bool // frames, until flush
	held  []packet
}

// SendParts implements Link.
func (r *rig) SendParts(h *device.VNet, frags [][]byte) {
	p := packet{vnet: *h}
	for _, f := range frags {
		p.b = append(p.b, f...)
	}
	if r.hold {
		r.held = append(r.held, p)
		return
	}
	r.out <- p
}

// Last implements Link.
func (r *rig) Last() (*device.VNet, []byte) {
	if len(r.held) == 0 {
		return nil, nil
	}
	p := &r.held[len(r.held)-1]
	return &p.vnet, p.b
}

// flush sends what was held back.
func (r *rig) flush() {
	for _, p := range r.held {
		r.out <- p
	}
	r.held = nil
}

func newRig(t testing.TB, c Config) *rig {
	r := &rig{
		t: t, clock: faketime.NewManualClock(),
		out: make(chan packet, 1<<17),
	}
	c.clock = r.clock
	r.start(c)
	return r
}

// newRealRig returns one with the clock that loops have, which stands still, but
// for pass.
func newRealRig(t testing.TB) *rig {
	r := &rig{t: t, out: make(chan packet, 1<<17), at: time.Second}
	r.start(Config{Time: func() time.Duration { return r.at }})
	return r
}

func (r *rig) pass(d time.Duration) {
	r.at += d
	r.step()
}

func (r *rig) start(c Config) {
	c.Link, c.MAC = r, serverMAC
	if c.Hops == nil {
		c.Hops = oneHop{clientMAC}
	}
	c.Wake = func() { r.wakes++ }
	s, err := New(c)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Stack = s
	r.t.Cleanup(func() {
		if !r.freed {
			s.Free()
		}
	})
	if err := s.Listen(1, server4); err != nil {
		r.t.Fatal(err)
	}
}

// step has netstack do all that it has to do.
func (r *rig) step() { r.Events(0, nil) }

// frame returns the next frame that the Stack sends.
func (r *rig) frame() packet {
	r.t.Helper()
	r.step()
	select {
	case b := <-r.out:
		return b
	default:
		r.t.Fatal("nothing was sent")
		panic("not reached")
	}
}

// next returns the next segment that the Stack sends.
func (r *rig) next() (p frame.Packet, b packet) {
	r.t.Helper()
	b = r.frame()
	if k := p.Parse(b.b, clientMAC); k != frame.TCP {
		r.t.Fatalf("sent something that is %v: %x", k, b.b)
	}
	return p, b
}

// none fails if the Stack has something to send.
func (r *rig) none(what string) {
	r.t.Helper()
	r.step()
	for len(r.out) > 0 {
		var p frame.Packet
		p.Parse((<-r.out).b, clientMAC)
		r.t.Errorf("%s: sent %+v", what, p)
	}
}

// events returns the events that there are, at least one.
func (r *rig) events() (list []Event) {
	r.t.Helper()
	for r.Events(100, func(e Event) { list = append(list, e) }) {
	}
	if len(list) == 0 {
		r.t.Fatal("no event")
	}
	return list
}

// flow is one of the test's connections to the Stack.
type flow struct {
	r        *rig
	f        frame.Flow
	seq, ack uint32 // of what is sent next
	ts       uint32 // 0: no timestamps
}

// client returns a flow from a port of the client's.
func (r *rig) client(port uint16) *flow { return r.from(client4, port, server4) }

func (r *rig) from(client netip.Addr, port uint16, to netip.AddrPort) *flow {
	return &flow{r: r, seq: 1000, f: frame.Flow{
		SrcMAC: clientMAC, DstMAC: serverMAC, Src: client.As16(), Dst: to.Addr().As16(),
		SrcPort: port, DstPort: to.Port(),
	}}
}

func (f *flow) peer() sys.Peer  { return sys.Peer{Addr: f.f.Src, Port: f.f.SrcPort} }
func (f *flow) local() sys.Peer { return sys.Peer{Addr: f.f.Dst, Port: f.f.DstPort} }

// send sends a segment from where the client is.
func (f *flow) send(flags uint8, payload ...byte) {
	f.sendAt(f.seq, f.ack, flags, payload)
	f.seq += uint32(len(payload))
	if flags&(frame.SYN|frame.FIN) != 0 {
		f.seq++
	}
}

func (f *flow) sendAt(seq, ack uint32, flags uint8, payload []byte) {
	h := frame.Header{Seq: seq, Ack: ack, Flags: flags, Window: 0xffff}
	if flags&frame.SYN != 0 {
		h.Options = &frame.Options{MSS: 1460, WS: 7, SACK: true}
	}
	f.r.Inject(frame.AppendTCP(nil, &f.f, &h, payload), false)
}

// handshake connects, and returns the connection.
func (f *flow) handshake() (conn uint32) {
	f.r.t.Helper()
	f.synAck()
	f.send(frame.ACK)
	for {
		for _, e := range f.r.events() {
			if e.Kind == Accepted {
				return e.Conn
			}
		}
	}
}

// synAck goes as far as the SYN-ACK.
func (f *flow) synAck() {
	f.r.t.Helper()
	f.send(frame.SYN)
	p, _ := f.r.next()
	if !p.Has(frame.SYN|frame.ACK) || p.Ack != f.seq {
		f.r.t.Fatalf("%+v is no SYN-ACK", p)
	}
	f.ack = p.Seq + 1
}

// want takes the next segment, which has to have these flags, and acknowledges
// it in what is sent from now on.
func (f *flow) want(flags uint8) (p frame.Packet, payload []byte) {
	f.r.t.Helper()
	p, b := f.r.next()
	if p.Flags&^frame.PSH != flags {
		f.r.t.Fatalf("sent %+v, want flags %x", p, flags)
	}
	f.ack = p.Seq + p.Len()
	return p, b.b[p.Data:p.End]
}
