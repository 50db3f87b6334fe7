package term

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
	"penstock/stack/tap/frame"
)

// A silent client is asked whether it is there, and given up if it does not say.
func TestKeepAlive(t *testing.T) {
	r := newRig(t, Config{})
	f := r.client(1)
	conn := f.handshake()
	r.SetOptions(conn, Options{KeepAlive: 30 * time.Second})
	r.clock.Advance(29 * time.Second)
	r.none("early")
	for range 2 { // it is there
		r.clock.Advance(2 * time.Second)
		if p, _ := r.next(); p.Flags != frame.ACK || p.Seq != f.ack-1 {
			t.Fatalf("%+v is no probe", p)
		}
		f.send(frame.ACK)
		r.step()
		r.clock.Advance(28 * time.Second)
		r.none("early")
	}
	r.clock.Advance(2 * time.Second)
	for range keepProbes {
		r.next()
		r.clock.Advance(keepInterval)
	}
	if list := r.events(); list[len(list)-1].Ready&sys.Err == 0 {
		t.Errorf("events %+v", list)
	}
	if e := r.Error(conn); e != unix.ETIMEDOUT {
		t.Errorf("error %v", e)
	}
	if _, e := r.Recv(conn, make([]byte, 1)); e != unix.ETIMEDOUT {
		t.Errorf("received %v", e)
	}
	r.Close(conn)
}

// A client that acknowledges nothing is given up after the user timeout.
func TestUserTimeout(t *testing.T) {
	r := newRig(t, Config{})
	conn := r.client(1).handshake()
	r.SetOptions(conn, Options{UserTimeout: 10 * time.Second})
	r.Send(conn, []byte("data"))
	for i := range 15 {
		if e := r.Error(conn); e != 0 {
			if i < 9 || e != unix.ETIMEDOUT {
				t.Errorf("%v after %d s", e, i)
			}
			break
		}
		r.clock.Advance(time.Second)
	}
	if e := r.Error(conn); e != unix.ETIMEDOUT {
		t.Errorf("error %v after 15 s", e)
	}
	if _, e := r.Send(conn, []byte("x")); e != unix.ETIMEDOUT {
		t.Errorf("sent %v", e)
	}
	r.Reset(conn)
}
