package tap

import (
	"testing"
	"time"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// prover makes a Port whose clients must all prove themselves.
func prover(t testing.TB) *rig {
	r := newRig(t)
	r.Change(web, Virtual{Proof: ProofAlways})
	return r
}

// cookie takes a client up to the segment that echoes its cookie.
func (c *client) cookie() {
	c.r.t.Helper()
	c.syn()
	p, b := c.next()
	if p.Flags != frame.SYN|frame.ACK || p.Ack != c.seq+1 || p.Window != 0 {
		c.r.t.Fatalf("%+v is no cookie", p)
	}
	c.seq, c.ack = p.Ack, p.Seq+1
	c.opts.TSEcr = p.Options(b).TSVal
}

// Who echoes a cookie is parked as proven; a SYN alone leaves nothing behind.
func TestProven(t *testing.T) {
	r := prover(t)
	c := r.client(1)
	c.cookie()
	r.want()
	if n := r.Len(); n != 0 {
		t.Errorf("%d records of a SYN", n)
	}
	c.send(frame.ACK, "")
	r.want("arrived")
	if got := r.totals(); got.CookiesSent != 1 || got.CookiesProven != 1 || got.Proven != 1 {
		t.Errorf("%+v", got)
	}
	c.none("proven, and parked")
	r.pass(10 * time.Minute) // it says nothing unless asked
	r.want()
}

// Wrong echoes are no proof, and get a reset.
func TestWrongEcho(t *testing.T) {
	r := prover(t)
	c := r.client(1)
	c.cookie()
	for _, x := range [][2]uint32{{1, 0}, {1 << 20, 0}, {0, 1}, {0, 8}, {0, 1 << 31}} {
		c.sendAt(c.seq+x[0], c.ack+x[1], frame.ACK)
		if p, _ := c.next(); !p.Has(frame.RST) {
			t.Errorf("%v: %+v, want a reset", x, p)
		}
	}
	r.pass(3 * time.Minute)
	c.send(frame.ACK, "")
	if p, _ := c.next(); !p.Has(frame.RST) {
		t.Errorf("too late: %+v, want a reset", p)
	}
	r.want()
}

// A proven client that asks for room is told that there is none, however long it
// has waited: its cookie is no more then.
func TestProbe(t *testing.T) {
	r := prover(t)
	c := r.client(1)
	c.cookie()
	c.send(frame.ACK, "")
	for range 3 {
		c.sendAt(c.seq-1, c.ack, frame.ACK)
		p, _ := c.next()
		if p.Flags != frame.ACK || p.Window != 0 || p.Seq != c.ack || p.Ack != c.seq {
			t.Errorf("answered with %+v", p)
		}
		r.pass(3 * time.Minute)
	}
	r.want("arrived")
}

// A proven client leaves by a FIN or a reset with the numbers that are its own;
// others change nothing.
func TestProvenLeaves(t *testing.T) {
	for name, flags := range map[string]uint8{"FIN": frame.FIN | frame.ACK, "reset": frame.RST} {
		t.Run(name, func(t *testing.T) {
			r := prover(t)
			c := r.client(1)
			c.cookie()
			c.send(frame.ACK, "")
			r.want("arrived")
			c.sendAt(c.seq+5, c.ack, flags)
			c.sendAt(c.seq-1000, c.ack, flags)
			if flags&frame.FIN != 0 {
				c.sendAt(c.seq, c.ack+5, flags)
			}
			r.want()
			c.send(flags, "")
			r.want("left")
		})
	}
	r := prover(t)
	r.stays = true
	c := r.client(1)
	c.cookie()
	c.send(frame.ACK, "")
	c.send(frame.FIN|frame.ACK, "")
	r.want("arrived")
}

// A SYN with other numbers does not take a proven client's place from it, but
// asks it whether it is there.
func TestProvenAndSYN(t *testing.T) {
	r := prover(t)
	c := r.client(1)
	c.cookie()
	c.send(frame.ACK, "")
	r.want("arrived")
	c.sendAt(c.seq+1<<20, 0, frame.SYN)
	r.want()
	p, _ := c.next()
	if p.Flags != frame.ACK || p.Ack != c.seq {
		t.Fatalf("%+v is no challenge", p)
	}
	c.rst(p.Ack) // it began anew
	r.want("left")
}

// A proven client that is released is connected with netstack's numbers behind
// its cookie's, both ways.
func TestProvenReleased(t *testing.T) {
	for _, options := range []frame.Options{linux, {MSS: 1460, WS: -1}} {
		r := prover(t)
		c := r.client(1)
		c.opts = options
		c.cookie()
		c.send(frame.ACK, "")
		r.want("arrived")
		c.after(20 * time.Second)
		r.release(r.only(), r.now)
		for {
			p, b := c.next()
			c.opts.TSEcr = p.Options(b).TSVal
			if p.Seq == c.ack {
				if p.Window == 0 {
					t.Error("no window")
				}
				break
			}
		}
		c.send(frame.ACK, "")
		r.until("connected", func() bool { return r.connected == 1 })
		r.want("connected")
		conn := r.conn()
		c.send(frame.ACK|frame.PSH, "ping")
		c.seq += 4
		r.until("data", func() bool { return r.ready[conn]&sys.In != 0 })
		b := make([]byte, 9)
		if n, e := r.Conns().Recv(conn, b); e != 0 || string(b[:n]) != "ping" {
			t.Errorf("%q, %v", b[:n], e)
		}
		r.Conns().Send(conn, []byte("pong"))
		if p := c.data("pong"); p.Ack != c.seq {
			t.Errorf("acknowledged %d, want %d", p.Ack, c.seq)
		}
		c.send(frame.FIN|frame.ACK, "")
		r.until("FIN", func() bool { return r.ready[conn]&sys.Fin != 0 })
		if r.Conns().Unacked(conn) {
			t.Error("the ACK of what we sent did not arrive")
		}
	}
}

// A proven client that vanished frees its slot when it is given up, and one that
// is refused gets a reset that it believes.
func TestProvenEnds(t *testing.T) {
	for _, refuse := range []bool{true, false} {
		r := prover(t)
		c := r.client(1)
		c.cookie()
		c.send(frame.ACK, "")
		r.want("arrived")
		if refuse {
			r.refuse(r.only())
		} else {
			s := r.release(r.only(), r.now)
			r.settle()
			r.giveUp(s, r.now)
		}
		for {
			if p, _ := c.next(); p.Has(frame.RST) {
				if p.Seq != c.ack {
					t.Errorf("reset with %d, want %d", p.Seq, c.ack)
				}
				break
			}
		}
	}
}

// The port of a connection in TIME-WAIT can be used with a cookie, too.
func TestProvenAfterTimeWait(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	r.released(c)
	r.hangup(c.connect(), true, r.now)
	p, _ := c.next()
	c.ack = p.Seq + 1
	c.send(frame.FIN|frame.ACK, "")
	if p, _ = c.next(); p.Flags != frame.ACK {
		t.Fatalf("%+v, want an ACK", p)
	}
	r.want("connected")
	r.Change(web, Virtual{Proof: ProofAlways})
	c.seq += 1 << 20
	c.cookie()
	c.send(frame.ACK, "")
	r.want("arrived")
}

// Unproven clients may fill half the queue, and a prefix its share; from then on
// proof is asked for. Where it is off, nobody is asked.
func TestProofAuto(t *testing.T) {
	for _, x := range []struct {
		v    Virtual
		most int64
		in   int
	}{
		{Virtual{Proof: ProofAuto}, 100, 50}, {Virtual{Proof: ProofAuto}, 4, 16}, {Virtual{Proof: ProofOff}, 100, 90},
		{Virtual{Proof: ProofAuto, Share: 20}, 100, 20}, {Virtual{Proof: ProofOff, Share: 20}, 100, 20},
	} {
		r := newRig(t)
		r.most = x.most
		r.Change(web, x.v)
		for n := range uint16(90) {
			r.client(n).syn()
		}
		cookies := uint64(90 - x.in)
		got := r.totals()
		if x.v.Proof == ProofOff {
			cookies = 0
		}
		if r.Len() != x.in || got.CookiesSent != cookies || got.CookiesSent+got.SynDropsShare != uint64(90-x.in) {
			t.Errorf("%+v: %d parked, %d cookies, %d dropped", x, r.Len(), got.CookiesSent, got.SynDropsShare)
		}
		r.audit()
		c := r.client(0)
		r.empty(r.now)
		if n := r.shares.Held(&c.f.Src); n != 0 {
			t.Errorf("%d shares are left", n)
		}
	}
}

// Many that give up at once are a flood, for a while.
func TestSuspicion(t *testing.T) {
	r := newRig(t)
	for n := range uint16(12) {
		r.client(n).syn()
	}
	r.pass(8 * time.Second)
	if r.now >= r.suspectUntil {
		t.Error("not suspected")
	}
	c := r.client(50)
	c.cookie()
	r.told = nil
	r.pass(40 * time.Second)
	if r.now < r.suspectUntil {
		t.Error("still suspected")
	}
	r.client(51).syn()
	r.want("arrived")
}
