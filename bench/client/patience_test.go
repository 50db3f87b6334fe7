package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/bench/arrival"
	"penstock/bench/server"
	"penstock/bench/sock"
	"penstock/bench/tally"
)

// impatient gives up on a server that does not answer, and tells what each of
// its connections saw at their end.
func impatient(t *testing.T, how GiveUp, open bool) (r tally.Client, ends []error) {
	t.Helper()
	const n = 4
	seen := make(chan error, n)
	addr := accepting(t, func(c *net.TCPConn) {
		defer c.Close()
		_, err := io.ReadFull(c, make([]byte, 64))
		if err == nil { // else it was late, and this is the end already
			_, err = c.Read(make([]byte, 1))
		}
		seen <- err
	})
	cfg := Config{
		Target: addr, Work: Short, Flows: n, Request: 64, Response: 64, Total: n, Rate: MostRate,
		Patience: dist(t, "200ms"), GiveUp: how,
	}
	if open {
		cfg.Arrivals = schedule(t, "burst:2@10ms")
	}
	r = mustRun(t, cfg)
	for range r.Begun {
		ends = append(ends, <-seen)
	}
	return r, ends
}

func TestGivingUp(t *testing.T) {
	for how, end := range map[GiveUp]error{
		Close: io.EOF, Reset: syscall.ECONNRESET,
		Silence: syscall.ECONNRESET, // at the end of the run; see TestSilence
	} {
		for _, open := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/open=%v", how, open), func(t *testing.T) {
				t.Parallel()
				r, ends := impatient(t, how, open)
				exactly(t, r, tally.GaveUp, 4)
				if r.Patience.Count() != 4 || r.Patience.Percentile(0) < 199_000 || r.Latency.Count() != 0 {
					t.Errorf("patience of %d, at least %v µs", r.Patience.Count(), r.Patience.Percentile(0))
				}
				for _, err := range ends {
					if !errors.Is(err, end) {
						t.Errorf("the server saw %v, want %v", err, end)
					}
				}
			})
		}
	}
}

// Who has gone silent neither sends nor acknowledges nor ends, until the run
// does, and keeps its place among the flows.
func TestSilence(t *testing.T) {
	t.Parallel()
	conns := make(chan *net.TCPConn, 10)
	addr := accepting(t, func(c *net.TCPConn) {
		asked(c, 64)
		conns <- c
	})
	b := background(t, Config{
		Target: addr, Work: Short, Flows: 2, Request: 64, Response: 64, For: 2 * time.Hour, Drain: time.Hour,
		Arrivals: schedule(t, "burst:2@1h"), // who is due counts, however late that is known
		Patience: dist(t, "200ms"), GiveUp: Silence,
	})
	for range 2 {
		c := <-conns
		defer c.Close()
		c.SetReadDeadline(time.Now().Add(time.Second)) // nothing tells that a client has gone silent
		if n, err := c.Read(make([]byte, 1)); !isTimeout(err) {
			t.Errorf("the server heard %d bytes, %v", n, err)
		}
		answer(c, 0, 64) // nobody takes it
		if unsent := unacknowledged(t, c); unsent != 64 {
			t.Errorf("%d bytes are unacknowledged, of 64", unsent)
		}
	}
	r := b.end()
	exactly(t, r, tally.GaveUp, 2)
	if r.Begun != 2 { // both flows are taken
		t.Errorf("%d begun with room for 2", r.Begun)
	}
}

// In the open model those who are silent take the place of who is due later.
func TestSilenceTakesAFlow(t *testing.T) {
	t.Parallel()
	addr := accepting(t, func(c *net.TCPConn) { asked(c, 64); asked(c, 1); c.Close() })
	r := mustRun(t, Config{
		Target: addr, Work: Short, Flows: 2, Request: 64, Response: 64, Total: 5, Drain: 2 * time.Second,
		Arrivals: schedule(t, "constant:100"), Patience: dist(t, "1ms"), GiveUp: Silence,
	})
	exactly(t, r, tally.GaveUp, 5)
	if r.Begun > 2 || r.Lag.Count() != 5 || r.Patience.Count() != 5 {
		t.Errorf("%d begun, lag of %d, patience of %d", r.Begun, r.Lag.Count(), r.Patience.Count())
	}
}

// What came before a busy loop got round to a deadline was in time.
func TestLateLoopDoesNotGiveUp(t *testing.T) {
	there := make(chan bool)
	addr := accepting(t, func(c *net.TCPConn) {
		defer c.Close()
		answer(c, asked(c, 64), 64)
		close(there)
		c.Read(make([]byte, 1))
	})
	cfg := Config{Target: addr, Work: Hold, Flows: 1, Request: 64, Response: 64, Patience: dist(t, "1h")}
	cfg.complete()
	r := &run{cfg: cfg, clock: sock.NewClock()}
	r.opened.left.Store(2) // never told that often
	l, err := newLoop(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	l.prepare()
	l.begin(0, l.now())
	<-there
	if n, err := unix.Poll([]unix.PollFd{{Fd: l.flows[0].fd, Events: unix.POLLIN}}, 60_000); n != 1 {
		t.Fatal("the response has not come: ", err)
	}
	if l.tire(0, never); l.flows[0].state != holding {
		t.Errorf("state %d", l.flows[0].state)
	}
	l.stop()
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// unacknowledged is what a connection has sent and its peer has not taken.
func unacknowledged(t *testing.T, c *net.TCPConn) (n int) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The first byte ends the patience: what follows may take longer.
func TestPatienceIsForTheFirstByte(t *testing.T) {
	t.Parallel()
	addr := accepting(t, func(c *net.TCPConn) {
		defer c.Close()
		token := asked(c, 64)
		answer(c, token, 8)
		time.Sleep(2500 * time.Millisecond)
		c.Write(make([]byte, 56))
	})
	r := mustRun(t, Config{Target: addr, Work: Short, Flows: 2, Request: 64, Response: 64, Total: 2, Patience: dist(t, "2s")})
	exactly(t, r, tally.Served, 2)
}

// Those who give up without having been connected, too.
func TestPatienceWhileConnecting(t *testing.T) {
	for _, how := range []GiveUp{Close, Reset, Silence} {
		r := mustRun(t, Config{
			Target: deaf(t), Work: Short, Flows: 3, Request: 64, Response: 64, Total: 3, Patience: dist(t, "20ms"), GiveUp: how, Rate: MostRate,
		})
		exactly(t, r, tally.GaveUp, 3)
	}
}

// Who is due while no flow is free has patience too, and leaves without having
// connected.
func TestPatienceWithoutAFlow(t *testing.T) {
	addr := accepting(t, func(c *net.TCPConn) { asked(c, 64); asked(c, 1); c.Close() })
	r := mustRun(t, Config{
		Target: addr, Work: Short, Flows: 1, Request: 64, Response: 64, Total: 5,
		Arrivals: schedule(t, "burst:5@1h"), Patience: dist(t, "200ms"), Drain: time.Hour,
	})
	exactly(t, r, tally.GaveUp, 5)
	if r.Begun != 1 {
		t.Errorf("%d begun", r.Begun)
	}
}

// Some give up and some are served, and every attempt is counted once.
func TestEachIsCountedOnce(t *testing.T) {
	for _, how := range []GiveUp{Close, Reset, Silence} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			eachIsCountedOnce(t, how)
		})
	}
}

func eachIsCountedOnce(t *testing.T, how GiveUp) {
	addr, _ := serve(t, server.Config{Request: 64, Response: 64, Then: server.Close, Delay: dist(t, "uniform:0s..40ms")})
	cfg := Config{
		Target: addr, Work: Short, Request: 64, Response: 64, Total: 400, Loops: 2,
		Arrivals: schedule(t, "poisson:4000/50ms,poisson:200"), Patience: dist(t, "uniform:0s..40ms"), GiveUp: how, Drain: time.Hour,
	}
	r := mustRun(t, cfg)
	if o := r.Outcomes; o[tally.Served]+o[tally.GaveUp] != 400 || o.Sum() != 400 || o[tally.Served] == 0 || o[tally.GaveUp] == 0 {
		t.Errorf("%s: %v", how, o)
	}
	if int64(r.Outcomes[tally.GaveUp]) != r.Patience.Count() || int64(r.Outcomes[tally.Served]) != r.Latency.Count() {
		t.Errorf("%s: %v, patience of %d, latency of %d", how, r.Outcomes, r.Patience.Count(), r.Latency.Count())
	}
	if how == Silence {
		return
	}
	closed := cfg
	closed.Arrivals, closed.Flows = arrival.Schedule{}, 20
	if r := mustRun(t, closed); r.Outcomes.Sum() != 400 || r.Outcomes[tally.Served]+r.Outcomes[tally.GaveUp] != 400 {
		t.Errorf("closed, %s: %v", how, r.Outcomes)
	}
}
