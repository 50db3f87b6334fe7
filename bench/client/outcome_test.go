package client

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/bench/server"
	"penstock/bench/sock"
	"penstock/bench/tally"
)

func TestOutcomesAreToldApart(t *testing.T) {
	reply := func(n int) func(*net.TCPConn) {
		return func(c *net.TCPConn) {
			answer(c, asked(c, 10), n)
			c.Close()
		}
	}
	reset := func(n int) func(*net.TCPConn) {
		return func(c *net.TCPConn) {
			answer(c, asked(c, 10), n)
			c.SetLinger(0)
			c.Close()
		}
	}
	wrong := func(c *net.TCPConn) {
		answer(c, asked(c, 10)+1, 20)
		c.Close()
	}
	for name, test := range map[string]struct {
		want  tally.Outcome
		serve func(*net.TCPConn)
	}{
		"nothing":              {tally.Empty, reply(0)},
		"one byte":             {tally.Truncated, reply(1)},
		"all but one":          {tally.Truncated, reply(19)},
		"all":                  {tally.Served, reply(20)},
		"one too many":         {tally.Excess, reply(21)},
		"reset for a response": {tally.Reset, reset(0)},
		"reset in the middle":  {tally.Reset, reset(10)},
		"another's response":   {tally.Wrong, wrong},
	} {
		for _, work := range []Work{Short, Half} {
			cfg := Config{Target: accepting(t, test.serve), Work: work, Flows: 2, Request: 10, Response: 20, Total: 6}
			t.Run(name+"/"+string(work), func(t *testing.T) { exactly(t, mustRun(t, cfg), test.want, 6) })
			cfg.Arrivals = schedule(t, "burst:3@10ms")
			t.Run(name+"/open/"+string(work), func(t *testing.T) { exactly(t, mustRun(t, cfg), test.want, 6) })
		}
	}
}

// The token may come in pieces, and the end apart from the rest.
func TestPieces(t *testing.T) {
	addr := accepting(t, func(c *net.TCPConn) {
		defer c.Close()
		c.SetNoDelay(true)
		token := asked(c, 64)
		for shift := 56; shift >= 0; shift -= 8 {
			c.Write([]byte{byte(token >> shift)})
			time.Sleep(time.Millisecond)
		}
		c.Write(make([]byte, 12))
		time.Sleep(time.Millisecond)
	})
	exactly(t, mustRun(t, Config{Target: addr, Work: Short, Flows: 4, Request: 64, Response: 20, Total: 8}), tally.Served, 8)
}

// A kept connection that the server ends between two requests is an empty one.
func TestKeptConnectionEnds(t *testing.T) {
	for _, think := range []string{"0s", "5ms"} {
		addr := accepting(t, func(c *net.TCPConn) {
			answer(c, asked(c, 64), 64)
			token := asked(c, 64)
			if think != "0s" {
				cork(t, c) // the end comes with the answer, not when this has a processor again
			}
			answer(c, token, 64)
			c.Close()
		})
		r := mustRun(t, Config{
			Target: addr, Work: Keep, Flows: 1, Request: 64, Response: 64, Total: 10, Requests: 3,
			Arrivals: schedule(t, "constant:1000"), Think: dist(t, think),
		})
		lost := r.Outcomes[tally.Empty] + r.Outcomes[tally.Reset] // the third request may meet a socket that is gone
		if r.Outcomes[tally.Served] != 20 || lost != 10 || r.Outcomes.Sum() != 30 || think != "0s" && r.Outcomes[tally.Reset] > 0 {
			t.Errorf("think %s: %v", think, r.Outcomes)
		}
	}
}

// cork has what is sent leave with the end.
func cork(t *testing.T, c *net.TCPConn) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err == nil {
		raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_CORK, 1) })
	}
	if err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	cfg := Config{Target: nobody(t), Work: Short, Flows: 1, Request: 1, Response: 1, Total: 3}
	exactly(t, mustRun(t, cfg), tally.Refused, 3)
	cfg.Arrivals = schedule(t, "constant:1000")
	exactly(t, mustRun(t, cfg), tally.Refused, 3)
	b := background(t, Config{Target: cfg.Target, Work: Hold, Flows: 3})
	if n := <-b.standing; n != 0 {
		t.Error(n, "stand")
	}
	exactly(t, b.end(), tally.Refused, 3)
}

// A deaf listener leaves a SYN unanswered.
func TestConnectTimeout(t *testing.T) {
	addr := deaf(t)
	cfg := Config{Target: addr, Work: Short, Flows: 2, Request: 1, Response: 1, Total: 2, ConnectTimeout: 50 * time.Millisecond}
	r := mustRun(t, cfg)
	exactly(t, r, tally.Timeout, 2)
	if r.Connect.Count() != 0 || r.Begun != 2 {
		t.Errorf("%d connected, %d begun", r.Connect.Count(), r.Begun)
	}
	cfg.Arrivals = schedule(t, "burst:2@1s")
	exactly(t, mustRun(t, cfg), tally.Timeout, 2)
}

// deaf is the address of a listener that answers no SYN.
func deaf(t *testing.T) (addr netip.AddrPort) {
	t.Helper()
	fd, err := sock.Listen(anyPort)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sock.Shut(fd) })
	addr, err = sock.Local(fd)
	if err := errors.Join(err, sock.Deafen(fd)); err != nil {
		t.Fatal(err)
	}
	return addr
}

func TestLocalFailureSaysWhy(t *testing.T) {
	addr, _ := serve(t, server.Config{Request: 1, Response: 1, Then: server.Close})
	r := mustRun(t, Config{
		Target: addr, Work: Short, Flows: 1, Request: 1, Response: 1, Total: 2,
		Source: addrs("192.0.2.1")[0], Sources: 1, // nobody's
	})
	if exactly(t, r, tally.Local, 2); r.Cause != unix.EADDRNOTAVAIL.Error() || r.Begun != 0 {
		t.Errorf("cause %q, %d begun", r.Cause, r.Begun)
	}
}

// At the end of the closed model what is unanswered counts as overdue if it has
// been for the time given, and else not.
func TestOverdueAtTheEnd(t *testing.T) {
	addr := accepting(t, func(*net.TCPConn) {})
	cfg := Config{Target: addr, Work: Short, Flows: 2, Request: 1, Response: 1, For: 500 * time.Millisecond, Drain: time.Hour}
	exactly(t, mustRun(t, cfg), tally.Overdue, 0)
	cfg.Drain = 10 * time.Millisecond
	exactly(t, mustRun(t, cfg), tally.Overdue, 2)
}

// Who is cancelled gets what there is.
func TestEndedEarly(t *testing.T) {
	addr := accepting(t, func(*net.TCPConn) {})
	for _, arrivals := range []string{"", "constant:1000"} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		cfg := Config{Target: addr, Work: Short, Flows: 1, Request: 1, Response: 1, Total: 1, Drain: time.Hour}
		if arrivals != "" {
			cfg.Arrivals = schedule(t, arrivals)
			cfg.Total, cfg.For = 0, time.Hour
		}
		r, err := Run(ctx, cfg, Events{})
		if cancel(); err != nil {
			t.Fatal(err)
		}
		exactly(t, r, tally.Served, 0)
	}
}
