package tap

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// A client that crashed comes again from the port of a connection that is still
// there for us. It is asked, says that it knows nothing of that, and gets
// through with its next SYN.
func TestCrashedClient(t *testing.T) {
	r := newRig(t)
	r.decide = func(uint32) decision { return toRelease }
	c := r.client(1)
	c.syn()
	conn := c.connect()
	r.want("arrived", "connected")

	c.seq += 1 << 25
	c.after(time.Second).syn()
	p, _ := c.next()
	if p.Flags != frame.ACK {
		t.Fatalf("%+v is no challenge", p)
	}
	c.rst(p.Ack)
	r.until("reset", func() bool { return r.ready[conn]&sys.Err != 0 })
	if e := r.Conns().Error(conn); e != unix.ECONNRESET {
		t.Errorf("broke off by %v", e)
	}
	r.hangup(conn, false, r.now)
	c.after(time.Second).syn()
	c.connect()
	r.want("arrived", "connected")
}

// A client that connects, resets, and connects again from the same port, all
// before we look: its second connection is not taken for the first, nor the
// first for the second. At worst its SYN has to come again.
func TestPortReusedInOneTurn(t *testing.T) {
	for name, x := range map[string]struct {
		ackIsIn, resetIsIn bool // netstack has handled it, and we have not heard
		want               []string
	}{
		"nothing known":         {false, false, []string{"broken", "arrived"}},
		"connected":             {true, false, []string{"broken"}},
		"connected and reset":   {true, true, []string{"broken", "arrived"}},
		"reset before accepted": {false, true, []string{"broken", "arrived"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.decide = func(uint32) decision { return toRelease }
			c := r.client(1)
			c.syn()
			c.synAck()
			r.want("arrived")
			r.step(c.segment(frame.ACK, ""), x.ackIsIn)
			r.step(c.segment(frame.RST, ""), x.resetIsIn)
			c.seq += 1 << 20
			c.syn()
			r.want(x.want...)
			if r.Len() == 0 {
				c.none("its SYN was not taken")
				c.after(time.Second).syn()
				r.want("arrived")
			}
			conn := c.connect()
			r.want("connected")
			r.Conns().Send(conn, []byte("x"))
			c.data("x")
		})
	}
}

// step takes a frame in, and perhaps lets netstack handle it, but hears nothing
// of what comes of it.
func (r *rig) step(b []byte, handle bool) {
	r.dev.Send(b)
	p := r.Port
	head, tail := p.net.Room()
	n, e := p.queue.Read(&p.vnet, head, tail)
	if e != 0 {
		r.t.Fatal(e)
	}
	s := p.segmentIn(n, head, tail)
	p.take(&s, r.now)
	if handle {
		p.net.Events(0, nil)
	}
}

// A handshake is given up, and its client completed it in this moment: it is
// reset, since no session is left for it.
func TestGivenUpTooEarly(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	session := r.released(c)
	c.synAck()
	r.step(c.segment(frame.ACK, ""), true)
	r.giveUp(session, r.now)
	r.want()
	for {
		if p, _ := c.next(); p.Flags&frame.RST != 0 && p.Seq == c.ack {
			break // one that somebody believes who is connected
		}
	}
	r.want()
}

// ACKs out of nowhere are no connections, whether there was a SYN or not, nor
// are those for a handshake that is being completed, with a wrong number.
func TestBlindACK(t *testing.T) {
	r := newRig(t)
	parked, released, unknown := r.client(1), r.client(2), r.client(3)
	parked.syn()
	released.syn()
	r.want("arrived", "arrived")
	for i := range r.records {
		if r.Peer(i) == released.peer() {
			r.release(i, r.now)
		}
	}
	released.synAck()
	for _, c := range []*client{parked, unknown} {
		for k := range uint32(200) {
			c.sendAt(c.seq+1, k<<24, frame.ACK)
			c.sendAt(c.seq+1, k<<24, frame.ACK|frame.PSH)
		}
	}
	for k := range uint32(200) {
		released.sendAt(released.seq, released.ack+1+k<<20, frame.ACK)
	}
	r.settle()
	r.want()
	if n := r.Conns().Stats().Opened; n != 0 {
		t.Errorf("%d connections", n)
	}
	released.send(frame.ACK, "")
	r.until("connected", func() bool { return r.connected == 1 })
	r.want("connected")
}
