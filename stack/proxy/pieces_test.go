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
			ping := make([]byte, 100)
			var took []time.Duration
			for range 100 {
				begun := time.Now()
				a.Write(ping)
				io.ReadFull(b, ping)
				b.Write(ping)
				if _, err := io.ReadFull(a, ping); err != nil {
					t.Fatal(err)
				}
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			// 40 and 200 ms are the kernel's timers, which each would wait for; a shared
			// machine may be as late as that with some, but not with most.
			t.Logf("p25 %v, p50 %v, p80 %v", took[25], took[50], took[80])
			if took[25] > 30*time.Millisecond {
				t.Errorf("p25 %v", took[25])
			}
		})
	}
}

// The rest of a first request that takes two reads is not held back either,
// until the server acknowledges the first part.
func TestFirstRequestIsNotHeldBack(t *testing.T) {
	const size = 16<<10 + 100
	s := hold(t)
	r := start(t, member(s.addr(), 0))
	var took []time.Duration
	for range 20 {
		c := r.dial()
		up := s.next(t)
		write(t, up, "hello") // from now on its acknowledgements are delayed
		wantBytes(t, c, "hello")
		begun := time.Now()
		write(t, c, string(make([]byte, size)))
		wantBytes(t, up, string(make([]byte, size)))
		took = append(took, time.Since(begun))
		r.each(func(w *worker, _ uint32, c *client) { // whether or not this kernel's server delays
			if on, err := unix.GetsockoptInt(int(w.pairs.At(c.pair).server.FD), unix.IPPROTO_TCP, unix.TCP_NODELAY); on != 1 || err != nil {
				t.Errorf("TCP_NODELAY is %d, %v", on, err)
			}
		})
		leave(t, c, up)
		until(t, func() bool { return r.Clients() == 0 }, "nobody there")
	}
	slices.Sort(took)
	t.Logf("p25 %v, p50 %v", took[5], took[10])
	if took[5] > 30*time.Millisecond { // 40 ms is the kernel's timer
		t.Errorf("most of them took %v and more", took[5])
	}
}
