package tap

import (
	"encoding/binary"
	"testing"

	"gvisor.dev/gvisor/pkg/tcpip/checksum"

	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// complaint is an ICMP error about the segment in b, from a router to who sent that.
func complaint(b []byte, kind, code uint8, rest uint32) []byte {
	var p frame.Packet
	p.Parse(b, frame.MAC(b[:6]))
	f := frame.Flow{SrcMAC: ether.Router, DstMAC: ether.Own, Src: router.As16(), Dst: p.Src}
	icmp, quoted, sum := uint8(1), 28, uint16(0)
	if p.V6 {
		icmp, quoted, f.Src = 58, 48, at6.Addr().Next().As16()
		sum = frame.PseudoOf(&f.Src, &f.Dst, 8+quoted, icmp)
	}
	all, room := frame.AppendDatagram(nil, &f, 8+quoted, icmp)
	room[0], room[1] = kind, code
	binary.BigEndian.PutUint32(room[4:], rest)
	copy(room[8:], b[linkSize:linkSize+quoted])
	binary.BigEndian.PutUint16(room[2:], ^checksum.Checksum(room, sum))
	return all
}

// tooBig is one that says how long the segment could have been.
func tooBig(b []byte, mtu uint32) []byte {
	var p frame.Packet
	if p.Parse(b, frame.MAC(b[:6])); p.V6 {
		return complaint(b, 2, 0, mtu)
	}
	return complaint(b, 3, 4, mtu)
}

// unsent is a segment with a number that was never on its way, by so much.
func unsent(b []byte, by uint32) []byte {
	var p frame.Packet
	p.Parse(b, frame.MAC(b[:6]))
	b = append([]byte(nil), b...)
	binary.BigEndian.PutUint32(b[p.L4+4:], p.Seq+by)
	return b
}

// A router says what is too long for it, and segments get shorter. Who knows the
// addresses and ports only, and no number that is on its way, is not believed (RFC
// 5927), nor is one that says less than IPv6 has (RFC 8201 4).
func TestForgedTooBig(t *testing.T) {
	for _, six := range []bool{false, true} {
		for _, proven := range []bool{false, true} {
			r := newRig(t)
			c, web := r.client(1), web
			if six {
				r.listen(web6, Virtual{Listen: at6})
				c, web = r.client6(1), web6
			}
			if proven {
				r.Change(web, Virtual{Proof: ProofAlways})
			}
			conn := c.connected(proven)
			longest := func() (b []byte, n int) {
				for {
					p, b := c.next()
					if n = p.End - p.Data; n > 0 {
						c.ack = p.Seq + uint32(n)
						return b, n
					}
				}
			}
			say := func() (b []byte, n int) {
				r.Conns().Send(conn, make([]byte, 1400))
				return longest()
			}
			b, n := say()
			if n != 1400 {
				t.Fatalf("a segment of %d bytes", n)
			}
			for _, x := range [][]byte{tooBig(unsent(b, 1<<20), 1280), tooBig(unsent(b, 1400), 1280), tooBig(unsent(b, 1<<32-1), 1280)} {
				r.dev.Send(x)
				r.settle()
			}
			if six {
				r.dev.Send(tooBig(b, 1279))
				r.settle()
			}
			c.send(frame.ACK, "")
			r.dev.Send(tooBig(b, 1280)) // it is there
			r.settle()
			for r.take(c) != nil {
			}
			if b, n = say(); n != 1400 {
				t.Errorf("six %v, proven %v: %d bytes, for what nobody said who could know", six, proven, n)
			}
			c.ack -= uint32(n)
			r.dev.Send(tooBig(b, 1280))
			r.settle()
			if _, n = longest(); n >= 1280 || n < 1100 {
				t.Errorf("six %v, proven %v: sent again with %d bytes", six, proven, n)
			}
			r.hangup(conn, false, r.now)
		}
	}
}

// connected takes a client all the way.
func (c *client) connected(proven bool) (conn uint32) {
	c.r.t.Helper()
	if !proven {
		c.r.released(c)
		return c.connect()
	}
	c.cookie()
	c.send(frame.ACK, "")
	c.r.release(c.r.only(), c.r.now)
	for {
		p, b := c.next()
		if c.opts.TSEcr = p.Options(b).TSVal; p.Seq == c.ack {
			break
		}
	}
	c.send(frame.ACK, "")
	c.r.until("connected", func() bool { return c.r.Port.counts.accepted.Load() == 1 })
	return c.r.conn()
}

// An error about the answer to a SYN ends nothing, unless it is about that.
func TestForgedUnreachable(t *testing.T) {
	for _, six := range []bool{false, true} {
		r := newRig(t)
		c := r.client(1)
		if six {
			r.listen(web6, Virtual{Listen: at6})
			c = r.client6(1)
		}
		r.released(c)
		p, b := c.next()
		for _, by := range []uint32{1, 1 << 20, 1<<32 - 1} {
			if six {
				r.dev.Send(complaint(unsent(b, by), 1, 4, 0))
			} else {
				r.dev.Send(complaint(unsent(b, by), 3, 3, 0))
			}
		}
		r.settle()
		c.seq, c.ack = p.Ack, p.Seq+1
		c.opts.TSEcr = p.Options(b).TSVal
		c.send(frame.ACK, "")
		r.until("connected", func() bool { return r.connected == 1 })
	}
}

// Netstack finds an error behind options and extension headers, and in pieces that it
// puts together; a ping may come so.
func TestHiddenErrors(t *testing.T) {
	hop, piece := []byte{58, 0, 1, 4, 0, 0, 0, 0}, []byte{58, 0, 0, 1, 0, 0, 0, 1}
	both := append([]byte{44, 0, 1, 4, 0, 0, 0, 0}, piece...)
	later := []byte{58, 0, 0, 8, 0, 0, 0, 1}
	for name, x := range map[string]struct {
		next   uint8 // of IPv6; 0: hop by hop
		before []byte
		shown  bool // whatever it is
	}{
		"plain": {58, nil, false}, "hop by hop": {0, hop, false}, "routing": {43, hop, false}, "destination": {60, hop, false},
		"first piece": {44, piece, false}, "hop by hop, first piece": {0, both, false}, "later piece": {44, later, true},
		"cut off": {0, hop[:4], false}, "TCP": {60, append([]byte{6}, hop[1:]...), true},
	} {
		for kind, shown := range map[byte]bool{1: false, 2: false, 128: true} {
			body := append(append([]byte(nil), x.before...), kind, 0, 0, 0, 0, 0, 0, 0)
			if name == "cut off" {
				body, shown = x.before, false
			}
			f := frame.Flow{SrcMAC: ether.Router, DstMAC: ether.Own, Src: at6.Addr().Next().As16(), Dst: at6.Addr().As16()}
			b, room := frame.AppendDatagram(nil, &f, len(body), x.next)
			copy(room, body)
			var p frame.Packet
			if p.Parse(b, ether.Own) != frame.Other {
				t.Fatalf("%s: %+v", name, p)
			}
			if complains(b, &p) == (shown || x.shown) {
				t.Errorf("%s, type %d: shown %v", name, kind, !shown)
			}
		}
	}
	for name, x := range map[string]struct {
		options, at byte
		shown       bool
	}{"plain": {0, 0, false}, "options": {1, 0, false}, "first piece": {0, 0x20, false}, "later piece": {0, 1, true}} {
		for kind, shown := range map[byte]bool{3: false, 8: true} {
			f := frame.Flow{SrcMAC: ether.Router, DstMAC: ether.Own, Src: router.As16(), Dst: at4.Addr().As16()}
			b, room := frame.AppendDatagram(nil, &f, 12, 1)
			room[4*x.options] = kind
			h := b[linkSize : linkSize+20+4*int(x.options)]
			h[0] += x.options
			if h[6] = x.at; name == "later piece" {
				h[6], h[7] = 0, x.at
			}
			h[10], h[11] = 0, 0
			binary.BigEndian.PutUint16(h[10:], ^checksum.Checksum(h, 0))
			var p frame.Packet
			if p.Parse(b, ether.Own) != frame.Other {
				t.Fatalf("%s: %+v", name, p)
			}
			if complains(b, &p) == (shown || x.shown) {
				t.Errorf("%s, type %d: shown %v", name, kind, !shown)
			}
		}
	}
}
