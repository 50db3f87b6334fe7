package server

import (
	"net/netip"
	"testing"
	"time"
	"unsafe"

	"penstock/bench/sock"
	"penstock/bench/span"
)

func TestConnIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(conn{}); size > 96 {
		t.Errorf("a connection takes %d bytes", size)
	}
}

// A connection allocates nothing, whether it waits or not. The loop runs in
// the test's own goroutine.
func TestConnAllocatesNothing(t *testing.T) {
	for _, delay := range []string{"0s", "1us"} {
		d, err := span.Parse(delay)
		if err != nil {
			t.Fatal(err)
		}
		srv, err := Listen(Config{Listen: []netip.AddrPort{anyPort}, Limit: 1, Request: 8, Response: 8, Then: Close, Delay: d})
		if err != nil {
			t.Fatal(err)
		}
		defer srv.close()
		srv.Count()
		l := srv.loops[0]
		l.roll.seats = make([]seat, 0, 1<<12) // the roll grows, and so it should
		p := newProber(t, &rig{Server: srv, t: t})
		ask, answer := request(8, 1), make([]byte, 8)
		round := func() {
			fd := p.connect(nil)
			sock.Send(fd, ask)
			for requests := l.requests; l.requests == requests || l.open > 0; {
				if err := l.serve(srv.clock.Now()); err != nil {
					t.Fatal(err)
				}
			}
			n, err := sock.Receive(fd, answer)
			for ; err == sock.ErrAgain; n, err = sock.Receive(fd, answer) {
				p.poll.WaitFor(time.Second) // it is sent, and may be under way
			}
			if n != 8 || err != nil {
				t.Fatal(n, err)
			}
			sock.Cut(fd)
		}
		round()
		if n := testing.AllocsPerRun(500, round); n > 0 {
			t.Errorf("delay %s: %v allocations", delay, n)
		}
	}
}
