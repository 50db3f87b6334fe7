package tap

import (
	"net/netip"
	"time"

	"penstock/stack/sys"
	"penstock/stack/tap/device"
	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// client is somebody whose segments the test makes, one by one.
type client struct {
	r    *rig
	f    frame.Flow
	seq  uint32 // next to be sent
	ack  uint32 // next to be expected
	opts frame.Options
}

// linux is what a Linux client's SYN says.
var linux = frame.Options{MSS: 1460, WS: 7, SACK: true, TS: true, TSVal: 1 << 20}

// client returns the n-th client of the IPv4 virtual server.
func (r *rig) client(n uint16) *client {
	return r.from(netip.AddrFrom4([4]byte{198, 18, 7, 9}), 20000+n, at4)
}

// client6 is one of the IPv6 one.
func (r *rig) client6(n uint16) *client {
	return r.from(netip.MustParseAddr("2001:db8::7:9"), 20000+n, at6)
}

func (r *rig) from(a netip.Addr, port uint16, to netip.AddrPort) *client {
	return &client{
		r: r, seq: 1000 * uint32(port), opts: linux,
		f: frame.Flow{SrcMAC: ether.Router, DstMAC: ether.Own, Src: a.As16(), Dst: to.Addr().As16(), SrcPort: port, DstPort: to.Port()},
	}
}

func (c *client) peer() sys.Peer  { return sys.Peer{Addr: c.f.Src, Port: c.f.SrcPort} }
func (c *client) local() sys.Peer { return sys.Peer{Addr: c.f.Dst, Port: c.f.DstPort} }

// segment is a frame of the client's, with the numbers that are due.
func (c *client) segment(flags uint8, data string) []byte {
	h := frame.Header{Seq: c.seq, Flags: flags, Window: 65000, Options: &c.opts}
	if flags&frame.ACK != 0 {
		h.Ack = c.ack
	}
	return frame.AppendTCP(nil, &c.f, &h, []byte(data))
}

// send sends a segment, and the loop has its turn. The client's own numbers
// stay as they are.
func (c *client) send(flags uint8, data string) {
	c.r.dev.Send(c.segment(flags, data))
	c.r.turn()
}

// sendAt sends one with other numbers.
func (c *client) sendAt(seq, ack uint32, flags uint8) {
	d := *c
	d.seq, d.ack = seq, ack
	d.send(flags, "")
}

// syn sends a SYN, again and again the same one, but for the time.
func (c *client) syn() { c.send(frame.SYN, "") }

// rst sends what a client sends that is not there any more.
func (c *client) rst(seq uint32) { c.sendAt(seq, 0, frame.RST) }

// after lets the client's clock go on, and ours.
func (c *client) after(d time.Duration) *client {
	c.opts.TSVal += uint32(d / time.Millisecond)
	c.r.pass(d)
	return c
}

// next waits for the next segment for the client.
func (c *client) next() (p frame.Packet, b []byte) {
	c.r.t.Helper()
	c.r.until("an answer", func() bool {
		b = c.r.take(c)
		return b != nil
	})
	p.Parse(b, frame.MAC(b[:6]))
	return p, b
}

// data waits for the next segment that has some, and wants that.
func (c *client) data(want string) (p frame.Packet) {
	c.r.t.Helper()
	for {
		p, b := c.next()
		if p.End == p.Data {
			continue
		}
		if got := string(b[p.Data:p.End]); got != want || p.Seq != c.ack {
			c.r.t.Errorf("%q at %d, want %q at %d", got, p.Seq, want, c.ack)
		}
		c.ack = p.Seq + uint32(p.End-p.Data)
		return p
	}
}

// none sees that nothing was sent to the client.
func (c *client) none(what string) {
	c.r.t.Helper()
	c.r.settle()
	if b := c.r.take(c); b != nil {
		var p frame.Packet
		p.Parse(b, frame.MAC(b[:6]))
		c.r.t.Errorf("%s: sent %+v", what, p)
	}
}

// take returns the next frame that was sent to a client; nil: none was.
func (r *rig) take(c *client) []byte {
	r.unread = append(r.unread, r.dev.Take()...)
	for i, b := range r.unread {
		var p frame.Packet
		if p.Parse(b, frame.MAC(b[:6])) == frame.TCP && p.Dst == c.f.Src && p.DstPort == c.f.SrcPort && p.Src == c.f.Dst && p.SrcPort == c.f.DstPort {
			r.unread = append(r.unread[:i:i], r.unread[i+1:]...)
			return b
		}
	}
	return nil
}

// wantReset waits for a reset that somebody in SYN-SENT believes.
func (c *client) wantReset() {
	c.r.t.Helper()
	if p, _ := c.next(); p.Flags != frame.RST|frame.ACK || p.Ack != c.seq+1 {
		c.r.t.Errorf("%+v is no reset for a SYN of %d", p, c.seq)
	}
}

// synAck waits for the answer to the SYN, and goes on from there. Who is in
// SYN-SENT passes over a reset that acknowledges nothing: it is about a
// connection from before.
func (c *client) synAck() (o frame.Options) {
	c.r.t.Helper()
	p, b := c.next()
	for p.Flags == frame.RST {
		p, b = c.next()
	}
	if p.Flags != frame.SYN|frame.ACK || p.Ack != c.seq+1 {
		c.r.t.Fatalf("%+v is no answer to a SYN of %d", p, c.seq)
	}
	c.seq, c.ack = p.Ack, p.Seq+1
	o = p.Options(b)
	c.opts.TSEcr = o.TSVal
	return o
}

// connect completes a handshake that was released; the connection is returned.
func (c *client) connect() (conn uint32) {
	c.r.t.Helper()
	c.synAck()
	had := c.r.connected
	c.send(frame.ACK, "")
	c.r.until("connected", func() bool { return c.r.connected > had })
	for n := range c.r.conns {
		if c.r.Conns().Peer(n) == c.peer() {
			return n
		}
	}
	c.r.t.Fatal("another client was connected")
	return 0
}

// marked sends a segment as a device does that leaves the checksum to others.
func (c *client) marked(b []byte, flags uint8) {
	c.r.dev.SendMarked(b, device.VNet{Flags: flags})
	c.r.turn()
}
