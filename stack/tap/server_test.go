package tap

import (
	"net/netip"
	"testing"

	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// The servers' link, what is behind it, and what servers see in place of clients.
var (
	front4  = netip.MustParsePrefix("198.18.5.1/24")
	front6  = netip.MustParsePrefix("2001:db8:5::1/64")
	server4 = netip.MustParseAddrPort("198.18.5.2:8080")
	server6 = netip.MustParseAddrPort("[2001:db8:5::2]:8080")
	snat4   = netip.MustParseAddr("198.18.5.10")
	snat6   = netip.MustParseAddr("2001:db8:5::10")
)

// behindTwo puts servers behind a device of their own.
func behindTwo(c *Config) {
	c.Servers = &Link{Addresses: []netip.Prefix{front4, front6}}
	c.Flows = 1000
}

// newForward makes a Port that forwards to a server, and releases all who come.
func newForward(t testing.TB, v Virtual, options ...setup) *rig {
	r := bareRig(t, 1, append([]setup{behindTwo}, options...)...)
	v.Forward = true
	if !v.Listen.IsValid() {
		v.Listen = at4
	}
	r.listen(web, v)
	r.settle()
	r.dev.Take()
	r.behind.Take()
	r.owner.to = server4
	if v.Listen.Addr().Is6() {
		r.owner.to = server6
	}
	r.decide = func(uint32) decision { return toForward }
	return r
}

// peer is a server's side of a connection, whose segments the test makes.
type peer struct {
	r    *rig
	f    frame.Flow // of what it sends
	seq  uint32     // next to be sent
	ack  uint32     // next to be expected
	opts frame.Options
}

// takeServer returns the next TCP segment for a server. Who is asked where it is, says so.
func (r *rig) takeServer() (p frame.Packet, b []byte) {
	r.unreadServer = append(r.unreadServer, r.behind.Take()...)
	for len(r.unreadServer) > 0 {
		b := r.unreadServer[0]
		r.unreadServer = r.unreadServer[1:]
		switch p.Parse(b, frame.MAC(b[:6])) {
		case frame.TCP:
			return p, b
		case frame.ARP:
			if a, ok := frame.ParseARP(b); ok && a.Op == frame.ARPRequest && a.TargetIP == frame.Addr(server4.Addr().As16()) {
				r.behind.Send(frame.AppendARPReply(nil, &a, ether.Router))
			}
		case frame.Neighbor:
			if n, ok := frame.ParseNeighbor(b); ok && !n.Advert && n.Target == frame.Addr(server6.Addr().As16()) {
				r.behind.Send(frame.AppendAdvert(nil, &n, ether.Router))
			}
		}
	}
	return p, nil
}

// nextServer waits for the next segment for a server. Time goes on meanwhile: an
// address is asked for.
func (r *rig) nextServer() (p frame.Packet, b []byte) {
	r.t.Helper()
	r.until("a segment for a server", func() bool {
		if p, b = r.takeServer(); b == nil {
			r.now += ms
		}
		return b != nil
	})
	return p, b
}

// noneServer sees that nothing was sent to a server.
func (r *rig) noneServer(what string) {
	r.t.Helper()
	r.settle()
	if p, b := r.takeServer(); b != nil {
		r.t.Errorf("%s: the server got %+v", what, p)
	}
}

// drainServer forgets what was sent to servers so far.
func (r *rig) drainServer() {
	r.settle()
	for {
		if _, b := r.takeServer(); b == nil {
			return
		}
	}
}

// serverSyn waits for a SYN at a server, whose side of it is returned.
func (r *rig) serverSyn() (s *peer, o frame.Options) {
	r.t.Helper()
	p, b := r.nextServer()
	if p.Flags != frame.SYN {
		r.t.Fatalf("%+v is no SYN", p)
	}
	s = &peer{r: r, seq: 7_000_000, ack: p.Seq + 1, opts: frame.Options{MSS: 1460, WS: 8, SACK: true, TS: true, TSVal: 99_000}}
	s.f = p.Reply(ether.Router)
	s.f.DstMAC = ether.Own
	o = p.Options(b)
	s.opts.TSEcr = o.TSVal
	return s, o
}

// send sends a segment of the server's.
func (s *peer) send(flags uint8, data string) {
	h := frame.Header{Seq: s.seq, Ack: s.ack, Flags: flags, Window: 60000, Options: &s.opts}
	s.r.behind.Send(frame.AppendTCP(nil, &s.f, &h, []byte(data)))
	s.r.turn()
}

// answer accepts the connection.
func (s *peer) answer() {
	s.send(frame.SYN|frame.ACK, "")
	s.seq++
}

// want waits for a segment with these flags and that data, with the numbers that are
// due.
func (s *peer) want(flags uint8, data string) (p frame.Packet) {
	s.r.t.Helper()
	p, b := s.r.nextServer()
	got := string(b[p.Data:p.End])
	if p.Flags&^frame.PSH != flags || got != data || p.Seq != s.ack || flags&frame.ACK != 0 && p.Ack != s.seq {
		s.r.t.Fatalf("the server got %+v %q, want flags %#x %q at %d of %d", p, got, flags, data, s.ack, s.seq)
	}
	s.ack += p.Len()
	return p
}

// want is the same at a client.
func (c *client) want(flags uint8, data string) (p frame.Packet) {
	c.r.t.Helper()
	p, b := c.next()
	got := string(b[p.Data:p.End])
	if p.Flags&^frame.PSH != flags || got != data || p.Seq != c.ack || flags&frame.ACK != 0 && p.Ack != c.seq {
		c.r.t.Fatalf("the client got %+v %q, want flags %#x %q at %d of %d", p, got, flags, data, c.ack, c.seq)
	}
	c.ack += p.Len()
	return p
}

// say has one side send something, which the other gets.
func (c *client) say(s *peer, data string) {
	c.r.t.Helper()
	c.send(frame.ACK, data)
	c.seq += uint32(len(data))
	s.want(frame.ACK, data)
}

func (s *peer) say(c *client, data string) {
	s.r.t.Helper()
	s.send(frame.ACK, data)
	s.seq += uint32(len(data))
	c.want(frame.ACK, data)
}

// fin has one side say its last, and the other acknowledge that.
func (c *client) fin(s *peer) {
	c.r.t.Helper()
	c.send(frame.FIN|frame.ACK, "")
	c.seq++
	s.want(frame.FIN|frame.ACK, "")
	s.send(frame.ACK, "")
	c.want(frame.ACK, "")
}

func (s *peer) fin(c *client) {
	s.r.t.Helper()
	s.send(frame.FIN|frame.ACK, "")
	s.seq++
	c.want(frame.FIN|frame.ACK, "")
	c.send(frame.ACK, "")
	s.want(frame.ACK, "")
}

// establish connects a client with a server.
func (c *client) establish() *peer {
	c.r.t.Helper()
	s := c.offered()
	c.send(frame.ACK, "")
	s.want(frame.ACK, "")
	return s
}

// offered goes so far that the client has the server's SYN-ACK.
func (c *client) offered() *peer {
	c.r.t.Helper()
	c.syn()
	s, _ := c.r.serverSyn()
	s.answer()
	c.synAck()
	return s
}
