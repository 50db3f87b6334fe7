package proxy

import (
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"penstock/lb/dispatch"
)

// Clients and servers that do everything at random: come, wait, leave, shut
// down, reset, stall. Whatever happens, each session ends once, and in the end
// nothing is in use: the rig looks.
func TestChaos(t *testing.T) {
	for name, options := range map[string][]option{
		"reset":          {loops(4)},
		"close, never":   {loops(3), refuse(Close), pool(func(p *Pool) { p.OnClose = LeaveNever })},
		"503, no queue":  {loops(2), refuse(HTTP503), noQueue},
		"many, one loop": {loops(1), queue(func(p *dispatch.PoolConfig) { p.Limit = 0 })},
	} {
		t.Run(name, func(t *testing.T) { chaos(t, options) })
	}
}

func chaos(t *testing.T, options []option) {
	const clients, each = 40, 25
	s := serve(t, func(c *net.TCPConn) {
		rnd := rand.New(rand.NewPCG(rand.Uint64(), 0))
		c.SetDeadline(time.Now().Add(500 * time.Millisecond))
		misbehave(c, rnd)
	})
	r := start(t, append([]option{
		member(s.addr(), 12), member(s.addr(), 0), member(refuser(t), 0), tries(2),
		idle(100 * time.Millisecond), halfClose(50 * time.Millisecond),
		pool(func(p *Pool) { p.ConnectTimeout = 50 * time.Millisecond }),
		queue(func(p *dispatch.PoolConfig) {
			p.Limit = 24
			p.Depth = 20
			p.QueueTime = dispatch.Tick(100 * time.Millisecond)
		}),
		func(c *Config) { c.MaxDescriptors = 60; c.MaxPipes = 1 },
	}, options...)...)
	var running sync.WaitGroup
	for i := range uint64(clients) {
		running.Go(func() {
			rnd := rand.New(rand.NewPCG(i, 0))
			for range each {
				c, err := net.DialTimeout("tcp", r.addr().String(), patience)
				if err != nil {
					continue // refused
				}
				c.SetDeadline(time.Now().Add(500 * time.Millisecond))
				misbehave(c.(*net.TCPConn), rnd)
				c.Close()
			}
		})
	}
	running.Wait()
	defer func() {
		if t.Failed() {
			r.dump()
		}
	}()
	// Some may wait in the backlog still, whose clients have left.
	until(t, func() bool { return r.VirtualTotals(0).Connections == clients*each }, "all accepted")
	until(t, func() bool { return r.Clients() == 0 && r.inUse() == 0 && r.parked() == 0 }, "idle proxy")
	count := map[Code]int{}
	for range clients * each {
		count[r.end().Code]++
	}
	t.Log(count)
	if n := len(r.ended); n != 0 {
		t.Errorf("%d more sessions ended than there were clients", n)
	}
}

// misbehave does some random things with a connection.
func misbehave(c *net.TCPConn, rnd *rand.Rand) {
	b := make([]byte, 40_000)
	for range rnd.IntN(6) {
		switch rnd.IntN(8) {
		case 0, 1:
			c.Write(b[:rnd.IntN(len(b))])
		case 2, 3:
			c.SetReadDeadline(time.Now().Add(time.Duration(rnd.IntN(5000)) * time.Microsecond))
			c.Read(b)
		case 4:
			c.CloseWrite()
		case 5:
			time.Sleep(time.Duration(rnd.IntN(10_000)) * time.Microsecond)
		case 6:
			if rnd.IntN(4) == 0 {
				io.Copy(io.Discard, c)
			}
		case 7:
			if rnd.IntN(3) == 0 {
				reset(c)
			}
		}
	}
	if rnd.IntN(3) == 0 {
		c.SetLinger(0)
	}
}

// C08 in small: a slot frees just as another client queues, on many loops,
// again and again. Nobody is left behind and the limit holds.
func TestC08ManyLoopsOneSlot(t *testing.T) {
	s := serve(t, func(c *net.TCPConn) { c.Read(make([]byte, 1)) })
	r := start(t, member(s.addr(), 1), loops(4))
	const clients, each = 16, 150
	var took [clients]time.Duration
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() {
			for range each {
				begun := time.Now()
				c, err := net.DialTimeout("tcp", r.addr().String(), patience)
				if err != nil {
					t.Error(err)
					return
				}
				tcp := c.(*net.TCPConn)
				tcp.SetDeadline(time.Now().Add(patience))
				write(t, tcp, "x")
				wantEOF(t, tcp, "")
				tcp.Close()
				took[i] = max(took[i], time.Since(begun))
			}
		})
	}
	running.Wait()
	if n := s.most.Load(); n != 1 {
		t.Errorf("%d at once, limit 1", n)
	}
	if d := slices.Max(took[:]); d > atOnce {
		t.Errorf("somebody took %v", d)
	}
	if n := s.accepted.Load(); n != clients*each {
		t.Errorf("%d reached the server, want %d", n, clients*each)
	}
}

func TestTotals(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), loops(4))
	for range 10 {
		c := r.dial()
		up := s.next(t)
		pass(t, c, up)
		write(t, up, "!")
		up.Close()
		wantEOF(t, c, "!")
		c.Close()
		if e := r.wantEnd(ServerEnd); e.Up != 4 || e.Down != 5 || e.Wait != 0 || e.Connect <= 0 || e.Accepted < e.Connect {
			t.Errorf("%+v", e)
		}
	}
	until(t, func() bool { return r.Clients() == 0 }, "nobody there")
	want := Totals{Connections: 10, BytesUp: 40, BytesDown: 50}
	if got := r.VirtualTotals(0); got != want {
		t.Errorf("virtual server: %+v, want %+v", got, want)
	}
	if got := r.MemberTotals(0); got != want {
		t.Errorf("member: %+v, want %+v", got, want)
	}
}
