package term

import (
	"io"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// Thousands of short connections, many at once, are all answered, and nothing is
// left of them. Each event says all that there is to know.
func TestShortConnections(t *testing.T) {
	total, clients := 4000, 16
	if testing.Short() || raceEnabled {
		total = 1000
	}
	p := newPair(t, setup{})
	p.listen(server4)
	p.server.do(func() { p.server.event = answer(p.server) })
	var failed atomic.Int64
	var done sync.WaitGroup
	for i := range clients {
		done.Go(func() {
			for j := range total / clients {
				// The kernel's way to choose ports, so that none is chosen again
				// while netstack remembers it.
				from := netip.AddrPortFrom(client4, uint16(10000+i*3000+j))
				c, err := p.dialFrom(from, server4)
				if err != nil {
					failed.Add(1)
					t.Error(err)
					return
				}
				c.Write([]byte("ping"))
				if b, err := io.ReadAll(c); string(b) != "ping" || err != nil {
					failed.Add(1)
					t.Errorf("%q, %v", b, err)
				}
				c.Close()
			}
		})
	}
	done.Wait()
	if n := failed.Load(); n > 0 {
		t.Errorf("%d connections failed", n)
	}
	until(t, "nothing is left but TIME-WAIT", func() bool {
		var open int
		p.server.do(func() { open = len(p.server.conns) - 1 - len(p.server.free) })
		return open == 0
	})
	s := p.server.Stats()
	if s.Opened != uint64(total/clients*clients) || s.NoHop+s.Oversize+s.BadChecksum > 0 {
		t.Errorf("%+v", s)
	}
	t.Logf("%d wakes for %d connections", p.server.wakes.Load(), total)
}

// answer sends back the first piece that comes, and closes.
func answer(h *host) func(Event) {
	b := make([]byte, 1000)
	return func(e Event) {
		if e.Ready&sys.In == 0 {
			return
		}
		n, err := h.Recv(e.Conn, b)
		switch {
		case err == unix.EAGAIN:
		case err != 0:
			h.t.Errorf("received: %v", err)
			h.Reset(e.Conn)
		case n > 0:
			if m, err := h.Send(e.Conn, b[:n]); m != n || err != 0 {
				h.t.Errorf("sent %d, %v", m, err)
			}
			h.Close(e.Conn)
		}
	}
}

// On a link that loses frames every byte arrives all the same.
func TestLoss(t *testing.T) {
	for _, k := range []Knobs{{}, {RACK: true}, {Congestion: "reno"}} {
		var mu sync.Mutex
		r := rand.New(rand.NewPCG(1, 2))
		first := true
		p := newPair(t, setup{strict: true, knobs: k, lose: func(x packet) bool {
			mu.Lock()
			defer mu.Unlock()
			if first && len(x.b) > 1000 { // chance might only take acknowledgements
				first = false
				return true
			}
			return r.IntN(100) == 0
		}})
		p.listen(server6)
		accepted, _ := p.accepts()
		var done sync.WaitGroup
		for range 4 {
			c := p.mustDial(server6)
			e := await(t, accepted)
			done.Go(func() { p.exchange(e.Conn, c, size(800<<10)) })
		}
		done.Wait()
		s, c := p.server.Stats(), p.client.Stats()
		if lost := p.up.lost.Load() + p.down.lost.Load(); s.Retransmits+c.Retransmits == 0 || lost == 0 || s.BadChecksum > 0 {
			t.Errorf("%d lost, server %+v, client %+v", lost, s, c)
		}
	}
}
