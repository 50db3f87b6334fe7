package proxy

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"

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
			// 40 and 200 ms are the kernel's timers; a shared machine may lose some
			// milliseconds now and then.
			if took[90] > 10*time.Millisecond || took[98] > 35*time.Millisecond {
				t.Errorf("p90 %v, p98 %v", took[90], took[98])
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
		c.Close()
		up.Close()
	}
	slices.Sort(took)
	if took[10] > 20*time.Millisecond {
		t.Errorf("half of them took %v and more", took[10])
	}
}
