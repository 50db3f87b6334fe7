package term

import (
	"io"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// The client's FIN is the end behind the last byte; the other direction stays
// open until it is closed, too.
func TestHalfClose(t *testing.T) {
	p := newPair(t, setup{})
	p.listen(server4)
	accepted, ready := p.accepts()
	c := p.mustDial(server4)
	conn := await(t, accepted).Conn
	if _, err := c.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	c.CloseWrite()
	for await(t, ready).Ready&sys.Fin == 0 {
	}
	p.server.do(func() {
		s := p.server.Stack
		b := make([]byte, 100)
		if n, e := s.Peek(conn, b); string(b[:n]) != "last words" || e != 0 {
			t.Errorf("peeked %q, %v", b[:n], e)
		}
		if n, e := s.Recv(conn, b[:4]); string(b[:n]) != "last" || e != 0 {
			t.Errorf("received %q, %v", b[:n], e)
		}
		if n, e := s.Recv(conn, b); string(b[:n]) != " words" || e != 0 {
			t.Errorf("received %q, %v", b[:n], e)
		}
		for range 2 {
			if n, e := s.Recv(conn, b); n != 0 || e != 0 {
				t.Errorf("%d, %v at the end", n, e)
			}
		}
		if r := s.Poll(conn); r != sys.In|sys.Out|sys.Fin {
			t.Errorf("ready for %b", r)
		}
		if n, e := s.Send(conn, []byte("answer")); n != 6 || e != 0 {
			t.Errorf("sent %d, %v", n, e)
		}
		if e := s.ShutdownWrite(conn); e != 0 {
			t.Error(e)
		}
		if _, e := s.Send(conn, []byte("more")); e != unix.EPIPE {
			t.Errorf("%v behind FIN", e)
		}
		if e := s.Error(conn); e != 0 {
			t.Errorf("error %v", e)
		}
	})
	b, err := io.ReadAll(c)
	if string(b) != "answer" || err != nil {
		t.Errorf("client received %q, %v", b, err)
	}
	p.server.do(func() { p.server.Close(conn) })
	until(t, "nothing is left", func() bool { return p.server.Stats().Connections == 0 })
}

// A reset is an error behind all that came before, and it stays one.
func TestClientResets(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	f.send(frame.ACK|frame.PSH, []byte("data")...)
	f.want(frame.ACK)
	f.send(frame.RST)
	if list := r.events(); len(list) != 1 || list[0].Ready != sys.In|sys.Out|sys.Fin|sys.Err {
		t.Errorf("events %+v", list)
	}
	b := make([]byte, 10)
	if n, e := r.Recv(conn, b); string(b[:n]) != "data" || e != 0 {
		t.Errorf("received %q, %v", b[:n], e)
	}
	for range 2 {
		if _, e := r.Recv(conn, b); e != unix.ECONNRESET {
			t.Errorf("received %v", e)
		}
		if _, e := r.Send(conn, b); e != unix.ECONNRESET {
			t.Errorf("sent %v", e)
		}
		if e := r.Error(conn); e != unix.ECONNRESET {
			t.Errorf("error %v", e)
		}
		if n, own, to := r.ReadTo(conn, -1, 10); n != 0 || own != unix.ECONNRESET || to != 0 {
			t.Errorf("ReadTo %v, %v, %v", n, own, to)
		}
	}
	r.Close(conn)
	r.none("after a reset")
	if n := r.Stats().Connections; n != 0 {
		t.Errorf("%d connections", n)
	}
}

// A reset with another number than the next one ends nothing (RFC 5961).
func TestForgedReset(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	f.sendAt(f.seq+1, 0, frame.RST, nil)
	if p, _ := f.want(frame.ACK); p.Ack != f.seq {
		t.Errorf("challenge %+v", p)
	}
	f.sendAt(f.seq-1, 0, frame.RST, nil)
	r.none("for a reset outside of the window")
	if _, e := r.Recv(conn, make([]byte, 1)); e != unix.EAGAIN {
		t.Errorf("received %v", e)
	}
}

// A reset behind the client's FIN is one that the reader may well miss.
func TestResetBehindFin(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	f.send(frame.ACK|frame.FIN, 'x')
	f.want(frame.ACK)
	f.send(frame.RST)
	r.events()
	if p := r.Poll(conn); p&sys.Err == 0 {
		t.Errorf("ready for %b", p)
	}
	if e := r.Error(conn); e != unix.EPIPE {
		t.Errorf("error %v", e)
	}
	if n, e := r.Recv(conn, make([]byte, 10)); n != 1 || e != 0 {
		t.Errorf("received %d, %v", n, e)
	}
	if _, e := r.Recv(conn, make([]byte, 10)); e != unix.EPIPE {
		t.Errorf("received %v", e)
	}
	if _, e := r.Send(conn, []byte("x")); e != unix.EPIPE {
		t.Errorf("sent %v", e)
	}
	r.Reset(conn)
	r.none("after a reset")
}

// Reset is a reset for the client, in whatever state the connection is.
func TestReset(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	if n, e := r.Send(conn, []byte("data")); n != 4 || e != 0 {
		t.Fatal(n, e)
	}
	f.want(frame.ACK)
	r.Reset(conn)
	if p, _ := r.next(); !p.Has(frame.RST) || p.Seq != f.ack {
		t.Errorf("%+v is no reset", p)
	}

	f = r.client(2)
	conn = f.handshake()
	f.send(frame.ACK | frame.FIN)
	f.want(frame.ACK)
	r.Reset(conn)
	if p, _ := r.next(); !p.Has(frame.RST) {
		t.Errorf("%+v is no reset, behind FIN", p)
	}
	if n := r.Stats().Connections; n != 0 {
		t.Errorf("%d connections", n)
	}
}

// Close with something unread is a reset: the client must not believe that it
// was heard.
func TestCloseUnread(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	f.send(frame.ACK, 'x')
	f.want(frame.ACK)
	r.Close(conn)
	if p, _ := r.next(); !p.Has(frame.RST) {
		t.Errorf("%+v is no reset", p)
	}

	f = r.client(2)
	conn = f.handshake()
	r.Close(conn)
	f.want(frame.ACK | frame.FIN)
	f.send(frame.ACK, 'x') // nobody will ever read it
	if p, _ := r.next(); !p.Has(frame.RST) {
		t.Errorf("%+v is no reset", p)
	}
}

// What was written before Close is delivered, and FIN behind it. A client that
// acknowledges nothing, or keeps its window shut, is given up after Orphan; one
// that does not send FIN as well.
func TestOrphans(t *testing.T) {
	for _, c := range []struct {
		name   string
		client func(f *flow)
	}{
		{"dead", func(f *flow) {}},
		{"window shut", func(f *flow) {
			h := frame.Header{Seq: f.seq, Ack: f.ack, Flags: frame.ACK}
			f.r.Inject(frame.AppendTCP(nil, &f.f, &h, nil), true)
		}},
		{"no FIN", func(f *flow) { f.ack++; f.send(frame.ACK) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, Config{Knobs: Knobs{Orphan: 20 * time.Second}})
			f := r.client(1)
			conn := f.handshake()
			r.Send(conn, []byte("data"))
			f.want(frame.ACK)
			r.Send(conn, make([]byte, 1<<20)) // more than fits into the client's window
			r.Close(conn)
			for len(r.out) > 0 {
				f.want(frame.ACK)
			}
			left := func() uint64 {
				for len(r.out) > 0 {
					p, _ := r.next()
					f.ack = p.Seq + p.Len()
				}
				return r.Stats().Connections
			}
			c.client(f)
			for i := range 40 {
				if c.name == "no FIN" && left() == 1 && i < 10 {
					f.send(frame.ACK)
				} else if c.name == "window shut" {
					c.client(f)
				}
				r.step()
				if i < 15 && left() != 1 {
					t.Fatalf("given up after %d s", i)
				}
				r.clock.Advance(time.Second)
			}
			if left() != 0 {
				t.Errorf("still there after 40 s")
			}
		})
	}
}
