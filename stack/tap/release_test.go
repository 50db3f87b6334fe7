package tap

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// released parks a client, and lets it go on.
func (r *rig) released(c *client) (session uint32) {
	r.t.Helper()
	c.syn()
	r.want("arrived")
	session = r.release(r.only(), r.now)
	r.turn()
	return session
}

// A handshake that is released is answered at once, with all that the client
// offered, and ends as a connection that data goes over, both ways.
func TestRelease(t *testing.T) {
	for _, six := range []bool{false, true} {
		r := newRig(t)
		c := r.client(1)
		if six {
			r.listen(web6, Virtual{Listen: at6})
			c = r.client6(1)
		}
		session := r.released(c)
		o := c.synAck()
		mss, ws := r.Conns().Advertised(six)
		if want := (frame.Options{MSS: mss, WS: ws, SACK: true, TS: true, TSVal: o.TSVal, TSEcr: c.opts.TSVal}); o != want {
			t.Errorf("answered with %+v, want %+v", o, want)
		}
		c.send(frame.ACK, "")
		r.until("connected", func() bool { return r.connected == 1 })
		r.want("connected")
		conn := r.conn()
		if r.conns[conn] != session || r.Conns().Peer(conn) != c.peer() || r.Conns().Local(conn) != c.local() {
			t.Errorf("session %d, peer %v, local %v", r.conns[conn], r.Conns().Peer(conn), r.Conns().Local(conn))
		}
		c.send(frame.ACK|frame.PSH, "ping")
		r.until("data", func() bool { return r.ready[conn]&sys.In != 0 })
		b := make([]byte, 9)
		if n, e := r.Conns().Recv(conn, b); e != 0 || string(b[:n]) != "ping" {
			t.Errorf("%q, %v", b[:n], e)
		}
		c.seq += 4
		r.Conns().Send(conn, []byte("pong"))
		if p := c.data("pong"); p.Ack != c.seq {
			t.Errorf("acknowledged %d, want %d", p.Ack, c.seq)
		}
		if got := r.totals(); got.Released != 1 || got.Accepted != 1 || got.Parked != 0 || got.HandshakeTimeouts != 0 {
			t.Errorf("%+v", got)
		}
	}
}

// Who finds a slot at once never waits, nor does who sends the request with the
// last segment of the handshake.
func TestReleaseAtOnce(t *testing.T) {
	r := newRig(t)
	r.decide = func(uint32) decision { return toRelease }
	c := r.client(1)
	c.syn()
	c.synAck()
	c.send(frame.ACK|frame.PSH, "GET /")
	r.until("connected", func() bool { return r.connected == 1 })
	r.until("data", func() bool { return r.ready[r.conn()]&sys.In != 0 })
	r.want("arrived", "connected")
}

// The answer echoes a timestamp of the time it is sent at, or the client takes
// the wait for the network's round trip; never one of the future.
func TestReleaseAges(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	c.syn()
	c.after(time.Second).syn()
	c.after(time.Second).syn()
	c.after(40 * time.Second)
	r.want("arrived", "left") // silent: it had said nothing for long
	c.syn()
	c.after(time.Second).syn()
	c.after(5 * time.Second)
	r.want("arrived")
	r.release(r.only(), r.now)
	o := c.synAck()
	if behind := int32(c.opts.TSVal - o.TSEcr); behind < 0 || behind > 20 {
		t.Errorf("echoed %d ms before the client's clock", behind)
	}
}

// Options that a client does not offer are not used, and those that it leaves
// out at last neither.
func TestReleaseOptions(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	c.syn()
	c.after(time.Second)
	c.opts = frame.Options{WS: -1, MSS: 1000}
	c.syn()
	r.want("arrived")
	r.release(r.only(), r.now)
	if o := c.synAck(); o.TS || o.SACK || o.WS != -1 {
		t.Errorf("answered with %+v", o)
	}
	c.opts.TSEcr = 0
	c.send(frame.ACK, "")
	r.until("connected", func() bool { return r.connected == 1 })
	conn := r.conn()
	r.Conns().Send(conn, make([]byte, 3000))
	if p, _ := c.next(); p.End-p.Data != 1000 {
		t.Errorf("a segment of %d bytes", p.End-p.Data)
	}
	r.want("connected")
}

// The answer was lost, and the client's SYN comes again: netstack answers once
// more, when it does so by itself.
func TestReleasedSYNAgain(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	r.released(c)
	first, _ := c.next()
	c.after(time.Second).syn()
	r.want()
	for {
		again, _ := c.next()
		if again.Flags == frame.ACK { // nothing for somebody in SYN-SENT
			continue
		}
		if again.Seq != first.Seq || again.Flags != frame.SYN|frame.ACK {
			t.Errorf("%+v, then %+v", first, again)
		}
		c.seq, c.ack = again.Ack, again.Seq+1
		break
	}
	c.send(frame.ACK, "")
	r.until("connected", func() bool { return r.connected == 1 })
	r.want("connected")
}

// A reset ends a handshake that is being completed, with the number that the
// client has by then; and a late ACK is no connection.
func TestReleasedClientResets(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	r.released(c)
	isn := c.seq
	c.synAck()
	for _, seq := range []uint32{isn, isn - 1, isn + 1<<20} {
		c.rst(seq)
		r.want()
	}
	if got := r.totals(); got.ResetsIgnored != 3 {
		t.Errorf("%d ignored", got.ResetsIgnored)
	}
	c.rst(c.seq)
	r.want("broken")
	c.send(frame.ACK, "")
	if p, _ := c.next(); p.Flags&frame.RST == 0 {
		t.Errorf("%+v, want a reset", p)
	}
	r.want()
	if n := r.connected; n != 0 {
		t.Errorf("%d connected", n)
	}
}

// A client that begins anew while it is being answered: one handshake fails, and
// the next one is as any.
func TestReleasedNewISN(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	r.released(c)
	c.next()
	c.seq += 1 << 20
	c.syn()
	r.want("broken", "arrived")
	c.none("parked again")
	r.release(r.only(), r.now)
	c.connect()
	r.want("connected")
}

// A client that does not complete is given up, is told, and is let in if it
// comes again.
func TestGiveUp(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	session := r.released(c)
	c.next() // lost
	r.pass(3 * time.Second)
	r.giveUp(session, r.now)
	c.wantReset()
	r.want()
	if got := r.totals(); got.HandshakeTimeouts != 1 || got.Parked != 0 {
		t.Errorf("%+v", got)
	}
	if n := r.Conns().Stats().Connections; n != 0 {
		t.Errorf("netstack has %d connections", n)
	}
	c.after(time.Second)
	r.released(c)
	c.connect()
	r.want("connected")
}

// The same client comes again from the same port, at once: after a reset by
// either side, and while we remember its last connection, with any numbers.
func TestPortReused(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	connect := func() uint32 {
		t.Helper()
		r.released(c)
		conn := c.connect()
		r.want("connected")
		return conn
	}
	for range 3 {
		r.hangup(connect(), false, r.now)
		if p, _ := c.next(); !p.Has(frame.RST) {
			t.Fatalf("%+v is no reset", p)
		}
	}
	conn := connect()
	c.rst(c.seq)
	r.until("reset", func() bool { return r.ready[conn]&sys.Err != 0 })
	if e := r.Conns().Error(conn); e != unix.ECONNRESET {
		t.Errorf("broke off by %v", e)
	}
	r.hangup(conn, false, r.now)
	for range 3 {
		r.hangup(connect(), true, r.now)
		p, _ := c.next()
		if !p.Has(frame.FIN) {
			t.Fatalf("%+v is no FIN", p)
		}
		c.ack = p.Seq + 1
		c.send(frame.FIN|frame.ACK, "")
		if p, _ = c.next(); p.Flags != frame.ACK {
			t.Fatalf("%+v, want an ACK", p)
		}
		c.seq -= 1 << 20 // which netstack would not take by itself
	}
}

// An answer that was lost comes again with the client's next SYN: the same one, but
// for the timestamp that it echoes. Then the handshake is completed as any.
func TestLostAnswer(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	r.released(c)
	first, _ := c.next() // lost
	for range 2 {
		c.after(300 * time.Millisecond).syn()
		again, b := c.next()
		if again.Flags != frame.SYN|frame.ACK || again.Seq != first.Seq || again.Ack != first.Ack || again.Window != first.Window {
			t.Fatalf("answered with %+v, at first with %+v", again, first)
		}
		if o := again.Options(b); o.TSEcr != c.opts.TSVal {
			t.Errorf("echoes %d of %d", o.TSEcr, c.opts.TSVal)
		}
	}
	c.syn()
	c.synAck()
	c.send(frame.ACK, "")
	r.until("connected", func() bool { return r.connected == 1 })
	if n := len(r.answers); n != 0 {
		t.Errorf("%d answers are kept", n)
	}
}
