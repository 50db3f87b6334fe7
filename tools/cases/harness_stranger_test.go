package cases

import (
	"net/netip"
	"testing"
	"time"

	"penstock/bench/wire"
)

// stranger is on a proxy's link with an Ethernet address of its own, and writes
// its frames itself: the kernel takes no notice of what is said to it. It hears
// all TCP that comes from the virtual server, to whomever.
type stranger struct {
	t      testing.TB
	p      *proxy
	to     wire.Flow // the virtual server
	scribe *wire.Scribe
	send   *wire.Sender
	hear   *wire.Receiver
}

func newStranger(t testing.TB, p *proxy) *stranger {
	t.Helper()
	return newStrangerOn(t, p, p.link.dev)
}

// newStrangerOn is newStranger for another device that leads to the proxy.
func newStrangerOn(t testing.TB, p *proxy, device string) *stranger {
	t.Helper()
	at := netip.MustParseAddrPort(p.addr)
	port, err := wire.Find(device)
	if err != nil {
		t.Fatal(err)
	}
	its, err := wire.Resolve(port, p.link.at(200), at.Addr(), patience)
	if err != nil {
		t.Fatal(err)
	}
	s := &stranger{t: t, p: p, to: wire.FlowOf(at), scribe: wire.NewScribe(wire.MAC{2, 0, 0, 0, 0, 200}, its)}
	if s.send, err = wire.NewSender(port); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.send.Close)
	if s.hear, err = wire.NewReceiver(port, wire.FromTCP(at, netip.MustParsePrefix("0.0.0.0/0")), 1<<12); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.hear.Close)
	return s
}

// from is where a stranger's segments come from: one of 50 addresses that
// nobody has, and a port.
func (s *stranger) from(n int) wire.Flow {
	return wire.FlowOf(netip.AddrPortFrom(s.p.link.at(byte(200+n%50)), uint16(1024+n/50)))
}

// write returns the frame of a segment.
func (s *stranger) write(g wire.Segment, payload string) []byte {
	b := make([]byte, g.Size()+len(payload))
	copy(b[g.Size():], payload)
	g.To = s.to
	s.scribe.Write(b, &g)
	return b
}

// say sends a segment to the virtual server.
func (s *stranger) say(g wire.Segment) { s.t.Helper(); s.put(s.write(g, "")) }

// put sends a frame.
func (s *stranger) put(frame []byte) {
	s.t.Helper()
	copy(s.send.Next(len(frame)), frame)
	await(s.t, patience, "room for a frame", func() bool { return s.send.Flush() == nil })
}

// syn is a SYN whose sequence number is told by where it comes from.
func syn(from wire.Flow) wire.Segment {
	return wire.Segment{From: from, Seq: from.IP*7919 + uint32(from.Port), Flags: wire.SYN, Window: 64240, Stamp: uint32(time.Now().UnixMilli())}
}

// heard returns the next segment that comes to an address within a time.
func (s *stranger) heard(to wire.Flow, within time.Duration) (h wire.Heard, ok bool) {
	for end := time.Now().Add(within); ; s.hear.Wait(time.Until(end)) {
		for {
			b, _, more := s.hear.Next()
			if !more {
				break
			}
			if h, ok = wire.Read(b); ok && h.To == to {
				return h, true
			}
		}
		if !time.Now().Before(end) {
			return h, false
		}
	}
}

// answered returns the SYN-ACK that must come for a SYN.
func (s *stranger) answered(g wire.Segment) wire.Heard {
	s.t.Helper()
	h, ok := s.heard(g.From, patience)
	if !ok || h.Flags&^wire.PSH != wire.SYN|wire.ACK || h.Ack != g.Seq+1 {
		s.t.Fatalf("a SYN is answered by %+v", h)
	}
	return h
}

// silence says that nothing comes to an address within a time.
func (s *stranger) silence(to wire.Flow, span time.Duration) {
	s.t.Helper()
	if h, ok := s.heard(to, span); ok {
		s.t.Errorf("heard %+v", h)
	}
}
