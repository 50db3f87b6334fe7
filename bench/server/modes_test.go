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
)

// during waits until a schedule's step has begun.
func (r *rig) during(at time.Duration) {
	r.t.Helper()
	r.until("that far", func() bool { return r.past(at) })
}

// past says whether a time is over, after which the server may do otherwise.
func (r *rig) past(at time.Duration) bool { return r.clock.Now() >= r.began+int64(at) }

// Steps of schedules are long, and a loop may be late to turn, on a machine with
// much to do. Tests of them run side by side.
const (
	lasts  = 1500 * time.Millisecond
	margin = 400 * time.Millisecond
)

// Refusing is a reset in answer to the SYN, on a port that stays the same.
func TestRefuse(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Loops: 2, Request: 8, Response: 8, Does: schedule(t, "serve 1500ms, refuse 1500ms, serve")})
	kept := r.dial(0)
	send(t, kept, request(8, 1))
	response(t, kept, 8, 1)
	r.during(lasts + margin)
	for range 10 {
		if c, err := net.Dial("tcp", r.Addresses()[0].String()); !errors.Is(err, syscall.ECONNREFUSED) && !r.past(2*lasts) {
			t.Fatalf("connected: %v, %v", c, err)
		}
	}
	send(t, kept, request(8, 2)) // is served all the same
	response(t, kept, 8, 2)
	r.until("serving again", func() bool {
		c, err := net.Dial("tcp", r.Addresses()[0].String())
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	for range 10 {
		c := r.dial(0)
		send(t, c, request(8, 3))
		response(t, c, 8, 3)
	}
	r.untilAccepted(12) // with who asked for nothing
	if m := r.end().Members[0]; m.Accepted != 12 || m.Resets != 0 {
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
	t.Parallel()
	r := start(t, Config{Request: 8, Response: 8, Does: schedule(t, "stall 1500ms, refuse")})
	c := r.dial(0)
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	if m := r.end().Members[0]; m.Accepted != 0 {
		t.Errorf("%+v", m)
	}
}

// In a black hole no SYN is answered, and who has connected is served. When it
// is over, the SYN that the client repeats is answered.
func TestBlackHole(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Request: 8, Response: 8, Does: schedule(t, "serve 1500ms, black-hole 1500ms, serve")})
	kept := r.dial(0)
	r.untilOpen(1)
	r.during(lasts + margin)
	if c, err := net.DialTimeout("tcp", r.Addresses()[0].String(), margin); !os.IsTimeout(err) && !r.past(2*lasts) {
		t.Fatalf("connected: %v, %v", c, err)
	}
	if _, accepted := r.Now(); accepted != 1 {
		t.Errorf("%d accepted", accepted)
	}
	send(t, kept, request(8, 2))
	response(t, kept, 8, 2)
	c := r.dial(0) // begun in the hole: takes until after it
	if !r.past(2 * lasts) {
		t.Error("connected in the hole")
	}
	send(t, c, request(8, 3))
	response(t, c, 8, 3)
	if m := r.end().Members[0]; m.Accepted != 2 {
		t.Errorf("%+v", m)
	}
}

// A connection that is made deaf by its listener's filter is made to hear.
func TestHearsWhoIsAcceptedInTheHole(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Request: 8, Response: 8, Does: schedule(t, "stall 1500ms, black-hole")})
	c := r.dial(0) // connected before the hole, accepted in it
	send(t, c, request(8, 3))
	response(t, c, 8, 3)
	r.end()
}

// A server that stalls neither accepts nor answers; afterwards it does.
func TestStall(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Request: 8, Response: 8, Does: schedule(t, "serve 1500ms, stall 1500ms, serve")})
	before := r.dial(0)
	r.untilOpen(1)
	r.during(lasts + margin)
	in := r.dial(0) // the kernel still answers
	soon := time.Now().Add(time.Duration(r.began + int64(2*lasts-margin) - r.clock.Now()))
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
	if _, accepted := r.Now(); accepted != 1 && !r.past(2*lasts) {
		t.Errorf("%d accepted in the stall", accepted)
	}
	for _, c := range []net.Conn{before, in} {
		response(t, c, 8, 2)
	}
	if !r.past(2 * lasts) {
		t.Error("answered in the stall")
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
	t.Parallel()
	r := start(t, Config{Request: 8, Response: 10, ResetAfter: 3, Does: schedule(t, "serve 1500ms, reset")})
	c := r.dial(0)
	for i := range int64(3) {
		send(t, c, request(8, i))
		response(t, c, 10, i)
	}
	r.during(lasts + margin)
	send(t, c, request(8, 1))
	if b, err := io.ReadAll(c); len(b) != 3 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// A server that flaps refuses and serves in turn, each time.
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
