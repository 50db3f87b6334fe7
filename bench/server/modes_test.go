package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"penstock/bench/sock"
)

// Refusing is a reset in answer to the SYN, on a port that stays the same.
func TestRefuse(t *testing.T) {
	r := start(t, Config{Loops: 2, Request: 8, Response: 8, Does: schedule(t, "serve 1h, refuse 1h, serve")})
	kept := r.dial(0)
	send(t, kept, request(8, 1))
	response(t, kept, 8, 1)
	r.forward(time.Hour)
	for range 10 {
		if c, err := net.Dial("tcp", r.Addresses()[0].String()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("connected: %v, %v", c, err)
		}
	}
	send(t, kept, request(8, 2)) // is served all the same
	response(t, kept, 8, 2)
	r.forward(2 * time.Hour)
	for range 10 {
		c := r.dial(0)
		send(t, c, request(8, 3))
		response(t, c, 8, 3)
	}
	if m := r.end().Members[0]; m.Accepted != 11 || m.Resets != 0 {
		t.Errorf("%+v", m)
	}
}

// What is scheduled from the beginning holds from Listen on.
func TestRefuseFromTheBeginning(t *testing.T) {
	srv, err := Listen(Config{Listen: []netip.AddrPort{anyPort}, Request: 8, Response: 8, Does: schedule(t, "refuse")})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.close()
	if _, err := net.Dial("tcp", srv.Addresses()[0].String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
}

// Who has connected and was not accepted is reset when refusing begins.
func TestRefuseResetsTheBacklog(t *testing.T) {
	r := start(t, Config{Request: 8, Response: 8, Does: schedule(t, "stall 1h, refuse")})
	c := r.dial(0)
	r.forward(time.Hour)
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	if m := r.end().Members[0]; m.Accepted != 0 {
		t.Errorf("%+v", m)
	}
}

// nothing is how long is looked for what does not come.
const nothing = 400 * time.Millisecond

// In a black hole no SYN is answered, and who has connected is served. When it
// is over, the SYN that the client repeats is answered.
func TestBlackHole(t *testing.T) {
	r := start(t, Config{Request: 8, Response: 8, Does: schedule(t, "serve 1h, black-hole 1h, serve")})
	kept := r.dial(0)
	r.untilOpen(1)
	r.forward(time.Hour)
	if c, err := net.DialTimeout("tcp", r.Addresses()[0].String(), nothing); !os.IsTimeout(err) {
		t.Fatalf("connected: %v, %v", c, err)
	}
	if _, accepted := r.Now(); accepted != 1 {
		t.Errorf("%d accepted", accepted)
	}
	send(t, kept, request(8, 2))
	response(t, kept, 8, 2)
	p := newProber(t, r)
	fd := p.begin(nil) // in the hole: takes until after it
	if ev := p.poll.WaitFor(nothing); len(ev) > 0 {
		t.Errorf("connected in the hole: %+v", ev)
	}
	r.forward(2 * time.Hour)
	p.connected()
	sock.Shut(fd)
	r.untilAccepted(2)
	r.untilOpen(1)
}

// A connection that is made deaf by its listener's filter is made to hear.
func TestHearsWhoIsAcceptedInTheHole(t *testing.T) {
	r := start(t, Config{Request: 8, Response: 8, Does: schedule(t, "stall 1h, black-hole")})
	c := r.dial(0) // connected before the hole, accepted in it
	r.forward(time.Hour)
	send(t, c, request(8, 3))
	response(t, c, 8, 3)
	r.end()
}

// A server that stalls neither accepts nor answers; afterwards it does.
func TestStall(t *testing.T) {
	r := start(t, Config{Request: 8, Response: 8, Does: schedule(t, "serve 1h, stall 1h, serve")})
	before := r.dial(0)
	r.untilOpen(1)
	r.forward(time.Hour)
	in := r.dial(0) // the kernel still answers
	soon := time.Now().Add(nothing)
	for _, c := range []net.Conn{before, in} {
		send(t, c, request(8, 2))
		c.SetReadDeadline(soon)
	}
	for _, c := range []net.Conn{before, in} {
		if n, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d bytes, %v", n, err)
		}
		c.SetReadDeadline(time.Time{})
	}
	if _, accepted := r.Now(); accepted != 1 {
		t.Errorf("%d accepted in the stall", accepted)
	}
	r.forward(2 * time.Hour)
	for _, c := range []net.Conn{before, in} {
		response(t, c, 8, 2)
	}
}

// A stalling server still ends, and heeds count.
func TestStallEnds(t *testing.T) {
	r := start(t, Config{Request: 8, Response: 8, Does: schedule(t, "stall")})
	r.dial(0)
	r.Count()
	if sum := r.end(); sum.Members[0].Accepted != 0 {
		t.Errorf("%+v", sum)
	}
}

// A reset comes after exactly so many bytes of each response.
func TestReset(t *testing.T) {
	for _, then := range []Then{Stay, Close, Stream, Both} {
		for _, after := range []int{0, 1, 8, 9, 5000, 10_000} {
			r := start(t, Config{Request: 8, Response: 10_000, Then: then, ResetAfter: after, Does: schedule(t, "reset")})
			c := r.dial(0)
			send(t, c, request(8, 0x0102030405060708))
			b, err := io.ReadAll(c)
			if len(b) != after || !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%s after %d: %d bytes, %v", then, after, len(b), err)
			}
			for i := range min(len(b), tokenSize) {
				if b[i] != byte(i+1) {
					t.Errorf("%s after %d: begins with %v", then, after, b[:min(len(b), tokenSize)])
				}
			}
			r.untilOpen(0)
			if sum := r.end(); sum.Sent != int64(after) || sum.Members[0].Resets != 0 {
				t.Errorf("%s after %d: %+v", then, after, sum)
			}
		}
	}
}

// The reset that begins inside a response comes at once, if it has had its
// bytes; and each response has its own.
func TestResetBetweenResponses(t *testing.T) {
	r := start(t, Config{Request: 8, Response: 10, ResetAfter: 3, Does: schedule(t, "serve 1h, reset")})
	c := r.dial(0)
	for i := range int64(3) {
		send(t, c, request(8, i))
		response(t, c, 10, i)
	}
	r.forward(time.Hour)
	send(t, c, request(8, 1))
	if b, err := io.ReadAll(c); len(b) != 3 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// A server that flaps refuses and serves in turn, each time, by its own clock.
func TestFlap(t *testing.T) {
	r := start(t, Config{Limit: 5, Request: 8, Response: 8, Then: Close, Does: schedule(t, "serve 60ms, refuse 40ms")})
	served, refused, turns := 0, 0, 0
	for was := true; turns < 6; {
		c, err := net.Dial("tcp", r.Addresses()[0].String())
		if is := err == nil; is != was {
			was = is
			turns++
		}
		if err == nil {
			if _, err := c.Write(request(8, 1)); err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
				t.Fatal(err) // a reset is of who came as it began to refuse
			}
			c.Close()
			served++
		} else if refused++; !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
	}
	r.untilOpen(0)
	if m := r.end().Members[0]; served == 0 || refused == 0 || m.Accepted > int64(served) {
		t.Errorf("%d served, %d refused, %+v", served, refused, m)
	}
}
