package client

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"penstock/bench/server"
	"penstock/bench/tally"
)

func TestShortCountsEach(t *testing.T) {
	for _, loops := range []int{1, 3} {
		addr, end := serve(t, server.Config{Loops: loops, Request: 10, Response: 1000, Then: server.Close})
		r := mustRun(t, Config{
			Target: addr, Work: Short, Flows: 7, Loops: loops, Request: 10, Response: 1000, Total: 500, Rate: MostRate,
			Source: addrs("127.0.0.2")[0], Sources: 2,
		})
		exactly(t, r, tally.Served, 500)
		seen := end()
		if m := seen.Members[0]; m.Accepted != 500 || m.Open != 0 || m.MaxOpen < 1 || m.MaxOpen > 7 || m.Ghosts != 0 {
			t.Errorf("server %+v", m)
		}
		if seen.Requests != 500 || seen.Sent != 500_000 || r.Received != 500_000 || r.Begun != 500 || seen.Order.Tokens != 500 {
			t.Errorf("server %+v, client received %d bytes on %d connections", seen, r.Received, r.Begun)
		}
		if r.Latency.Count() != 500 || r.Connect.Count() != 500 || r.Connect.Percentile(100) > r.Latency.Percentile(100) {
			t.Errorf("latency of %d, connect of %d", r.Latency.Count(), r.Connect.Count())
		}
	}
}

// Messages that begin with a token and are larger than any buffer: both ends
// stop in the middle and go on.
func TestKeepCountsEach(t *testing.T) {
	const request, response = 9 << 20, 7 << 20
	addr, end := serve(t, server.Config{Request: request, Response: response, Then: server.Stay})
	r := mustRun(t, Config{Target: addr, Work: Keep, Flows: 3, Request: request, Response: response, Total: 20})
	exactly(t, r, tally.Served, 20)
	if seen := end(); seen.Members[0].Accepted != 3 || seen.Requests != 20 || r.Received != 20*response || r.Begun != 3 {
		t.Errorf("server %+v, client received %d bytes", seen, r.Received)
	}
}

// Messages too small for a token are not looked at.
func TestSmallMessages(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {7, 300}, {300, 7}, {8, 8}} {
		addr, end := serve(t, server.Config{Request: size[0], Response: size[1], Then: server.Stay})
		r := mustRun(t, Config{Target: addr, Work: Keep, Flows: 2, Request: size[0], Response: size[1], Total: 50})
		exactly(t, r, tally.Served, 50)
		if seen := end(); seen.Requests != 50 || (seen.Order.Tokens > 0) != (size[0] >= tokenSize) {
			t.Errorf("%v: %+v", size, seen)
		}
	}
}

func TestRequestsPerConnection(t *testing.T) {
	addr, end := serve(t, server.Config{Request: 64, Response: 64, Then: server.Stay})
	r := mustRun(t, Config{
		Target: addr, Work: Keep, Flows: 1, Request: 64, Response: 64, Total: 60, Requests: 5, Think: dist(t, "uniform:0s..2ms"),
	})
	exactly(t, r, tally.Served, 60)
	if seen := end(); seen.Members[0].Accepted != 12 || r.Begun != 12 || seen.Members[0].Ghosts != 0 {
		t.Errorf("%d connections begun; server %+v", r.Begun, seen)
	}
}

// The server answers only after it has seen the client's end.
func TestHalf(t *testing.T) {
	addr := accepting(t, func(c *net.TCPConn) {
		defer c.Close()
		token := asked(c, 64)
		if n, err := c.Read(make([]byte, 1)); n == 0 && err != nil {
			answer(c, token, 100_000)
		}
	})
	r := mustRun(t, Config{Target: addr, Work: Half, Flows: 3, Request: 64, Response: 100_000, Total: 30})
	if exactly(t, r, tally.Served, 30); r.Received != 30*100_000 {
		t.Error(r.Received)
	}
}

func TestBulk(t *testing.T) {
	for direction, then := range map[Direction]server.Then{Down: server.Stream, Up: server.Sink, Both: server.Both} {
		t.Run(string(direction), func(t *testing.T) {
			t.Parallel()
			addr, end := serve(t, server.Config{Request: 64, Then: then})
			r := mustRun(t, Config{
				Target: addr, Work: Bulk, Direction: direction, Flows: 4, Loops: 2, Request: 64, For: time.Second, Watch: []int{os.Getpid()},
			})
			exactly(t, r, tally.Served, 4)
			if (r.Received > 1<<20) != (direction != Up) || (r.Sent > 1<<20) != (direction != Down) {
				t.Errorf("received %d, sent %d", r.Received, r.Sent)
			}
			if r.CPU <= 0 || r.Watched[os.Getpid()] <= 0 || r.Seconds < 0.1 {
				t.Errorf("CPU %v, watched %v, in %v s", r.CPU, r.Watched, r.Seconds)
			}
			if seen := end(); direction != Down && seen.Received < 1<<20 {
				t.Errorf("sent %d, the server received only %d", r.Sent, seen.Received)
			}
		})
	}
}

func TestHoldKeeps(t *testing.T) {
	for _, ask := range []int{0, 10} {
		srv, end := serving(t, server.Config{Request: 10, Response: 20, Then: server.Stay})
		b := background(t, Config{Target: srv.Addresses()[0], Work: Hold, Flows: 300, Loops: 2, Request: ask, Response: 20, Rate: MostRate})
		if n := <-b.standing; n != 300 {
			t.Errorf("%d stand", n)
		}
		<-b.counting
		for open, _ := srv.Now(); open < 300; open, _ = srv.Now() {
			time.Sleep(time.Millisecond)
		}
		exactly(t, b.end(), tally.Served, 300)
		if seen := end(); seen.Members[0].MaxOpen != 300 || ask == 0 && seen.Requests != 0 {
			t.Errorf("%+v", seen)
		}
	}
}

// A request that nobody answers stands once it is sent; at the end it is taken
// back by a reset.
func TestHoldUnanswered(t *testing.T) {
	for _, response := range []int{0, 64} {
		ends := make(chan error, 5)
		addr := accepting(t, func(c *net.TCPConn) {
			asked(c, 64)
			_, err := c.Read(make([]byte, 1))
			ends <- err
			c.Close()
		})
		b := background(t, Config{Target: addr, Work: Hold, Flows: 5, Request: 64, Response: response, Rate: MostRate, Drain: time.Nanosecond})
		if n := <-b.standing; n != 5 {
			t.Errorf("%d stand", n)
		}
		exactly(t, b.end(), tally.Served, 5)
		for range 5 {
			if err := <-ends; !errors.Is(err, syscall.ECONNRESET) && err != io.EOF { // EOF: it was reset before it was accepted
				t.Errorf("the server saw %v", err)
			}
		}
	}
}

func TestHoldSeesTheEnd(t *testing.T) {
	left := make(chan bool, 5)
	addr := accepting(t, func(c *net.TCPConn) {
		c.CloseWrite()
		c.Read(make([]byte, 1)) // until the client has seen it, and closed
		left <- true
		c.Close()
	})
	b := background(t, Config{Target: addr, Work: Hold, Flows: 5, Rate: MostRate})
	for range 5 {
		<-left
	}
	exactly(t, b.end(), tally.Empty, 5)
}

// A slow reader takes what its rate allows, counted by what it received, and
// the server feels it.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	const rate = 1 << 20
	addr, end := serve(t, server.Config{Request: 64, Then: server.Stream})
	r := mustRun(t, Config{Target: addr, Work: Bulk, Flows: 2, Request: 64, For: time.Second, ReadRate: rate})
	exactly(t, r, tally.Served, 2)
	if most := 2 * (rate*r.Seconds + 3*rate/sips); float64(r.Received) > most || r.Received == 0 {
		t.Errorf("received %d in %v s, at most %.0f", r.Received, r.Seconds, most)
	}
	if seen := end(); seen.Sent > 64<<20 {
		t.Errorf("the server sent %d: nothing held it", seen.Sent)
	}
}

// The time is at least what the rate makes of the size, and everything comes.
func TestSlowReaderOfResponses(t *testing.T) {
	addr, _ := serve(t, server.Config{Request: 64, Response: 5000, Then: server.Close})
	r := mustRun(t, Config{Target: addr, Work: Short, Flows: 3, Request: 64, Response: 5000, Total: 6, ReadRate: 50_000, Rate: MostRate})
	exactly(t, r, tally.Served, 6)
	if r.Received != 6*5000 || r.Latency.Percentile(0) < 60_000 { // 5 sips of 1000 bytes, 20 ms each, of which the first is early
		t.Errorf("received %d, the fastest in %v µs", r.Received, r.Latency.Percentile(0))
	}
}

func TestOpenIsSampled(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, server.Config{Request: 64, Response: 64, Then: server.Stay})
	r := mustRun(t, Config{Target: addr, Work: Keep, Flows: 6, Loops: 2, Request: 64, Response: 64, For: time.Second, Rate: MostRate})
	seen := int64(0)
	for _, n := range r.Open.Values {
		seen = max(seen, n)
	}
	if len(r.Open.Values) < 3 || seen != 6 {
		t.Errorf("%+v", r.Open)
	}
}

func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip(err)
	}
	l.Close()
	addr, _ := serve(t, server.Config{Listen: []netip.AddrPort{netip.MustParseAddrPort("[::1]:0")}, Request: 9, Response: 9, Then: server.Close})
	exactly(t, mustRun(t, Config{Target: addr, Work: Short, Flows: 1, Request: 9, Response: 9, Total: 5}), tally.Served, 5)
}

// No request may allocate: the collector's work would show in the figures.
func TestNoAllocations(t *testing.T) {
	addr, _ := serve(t, server.Config{Request: 8, Response: 8, Then: server.Close})
	cfg := Config{Target: addr, Work: Short, Flows: 1, Request: 8, Response: 8, Total: 1, Patience: dist(t, "1h")}
	for _, open := range []bool{false, true} {
		if open {
			cfg.Arrivals = schedule(t, "poisson:10000")
		}
		cfg.Total = 1
		few := testing.AllocsPerRun(2, func() { mustRun(t, cfg) })
		cfg.Total = 500
		if many := testing.AllocsPerRun(2, func() { mustRun(t, cfg) }); many > few+50 {
			t.Errorf("open %v: %v allocations for 500 connections, %v for 1", open, many, few)
		}
	}
}
