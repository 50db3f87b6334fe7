package proxy

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/leak"
)

// C51: idle pairs hold two descriptors each, and the pipes stay within their
// bound. Reduced from 1000 pairs.
func TestC51IdlePairsHoldNoPipes(t *testing.T) {
	const pairs, size, mostPipes = 150, 1 << 20, 3
	s := serve(t, func(c *net.TCPConn) {
		io.Copy(c, stream(51, size))
		c.Read(make([]byte, 1))
	})
	r := start(t, member(s.addr(), 0), func(c *Config) { c.MaxPipes = mostPipes })
	before := leak.Descriptors()
	for range pairs {
		c := r.dial()
		wantStream(t, io.LimitReader(c, size), 51, size)
	}
	if used, _ := r.Budget(); used != 2*pairs {
		t.Errorf("%d descriptors used by %d pairs", used, pairs)
	}
	// The test's own ends are two more for each pair.
	if n := leak.Descriptors() - before - 4*pairs; n > 2*2*mostPipes {
		t.Errorf("%d descriptors beside the sockets", n)
	}
}

// C52: after a long transfer, which is spliced, small pieces are not held back.
func TestC52NothingIsHeldBack(t *testing.T) {
	for _, first := range []string{"client", "server"} {
		t.Run(first+" sends first", func(t *testing.T) {
			s := hold(t)
			r := start(t, member(s.addr(), 0))
			a := r.dial()
			b := s.next(t)
			if first == "server" {
				a, b = b, a
			}
			const size = 1 << 20
			go io.Copy(a, stream(52, size))
			wantStream(t, io.LimitReader(b, size), 52, size)
			direct := dialTo(t, s.addr())
			server := s.next(t)
			var took, control []time.Duration
			for range 100 {
				took = append(took, thereAndBack(t, a, b))
				control = append(control, thereAndBack(t, direct, server))
			}
			notHeld(t, took, control)
		})
	}
}

// thereAndBack returns how long that takes a small piece.
func thereAndBack(t *testing.T, a, b *net.TCPConn) time.Duration {
	t.Helper()
	ping := make([]byte, 100)
	begun := time.Now()
	a.Write(ping)
	io.ReadFull(b, ping)
	b.Write(ping)
	if _, err := io.ReadFull(a, ping); err != nil {
		t.Fatal(err)
	}
	return time.Since(begun)
}

// notHeld checks that pieces are not held back by the kernel's timers, for which each
// would wait 40 or 200 ms. A machine that has much else to do may be as late as that
// with most of them, too: then it is with those that go without the proxy, which are
// handed over half as often.
func notHeld(t *testing.T, took, control []time.Duration) {
	t.Helper()
	quarter := func(d []time.Duration) time.Duration {
		slices.Sort(d)
		return d[len(d)/4]
	}
	p25, without := quarter(took), quarter(control)
	t.Logf("p25 %v, without the proxy %v", p25, without)
	if p25 > 30*time.Millisecond+3*without {
		t.Errorf("most of them took %v and more, without the proxy %v", p25, without)
	}
}

// The rest of a first request that takes two reads is not held back either,
// until the server acknowledges the first part.
func TestFirstRequestIsNotHeldBack(t *testing.T) {
	const size = 16<<10 + 100
	s := hold(t)
	r := start(t, member(s.addr(), 0))
	direct := dialTo(t, s.addr())
	server := s.next(t)
	send := func(from, to *net.TCPConn) time.Duration {
		begun := time.Now()
		write(t, from, string(make([]byte, size)))
		wantBytes(t, to, string(make([]byte, size)))
		return time.Since(begun)
	}
	var took, control []time.Duration
	for range 20 {
		c := r.dial()
		up := s.next(t)
		write(t, up, "hello") // from now on its acknowledgements are delayed
		wantBytes(t, c, "hello")
		took = append(took, send(c, up))
		control = append(control, send(direct, server))
		r.each(func(w *worker, _ uint32, c *client) { // whether or not this kernel's server delays
			if on, err := unix.GetsockoptInt(int(w.pairs.At(c.pair).server.FD), unix.IPPROTO_TCP, unix.TCP_NODELAY); on != 1 || err != nil {
				t.Errorf("TCP_NODELAY is %d, %v", on, err)
			}
		})
		leave(t, c, up)
		until(t, func() bool { return r.Clients() == 0 }, "nobody there")
	}
	notHeld(t, took, control)
}
