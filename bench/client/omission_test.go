package client

import (
	"net"
	"testing"
	"time"

	"penstock/bench/sock"
	"penstock/bench/tally"
)

// Coordinated omission: a server that stalls for a second must show up with
// all who came in that second, and not with the one who was just asking.

// stalled is a server that works through requests one by one and stalls once.
// It says when a request that came then is answered.
type stalled struct {
	takes    int64 // each request, ns
	from, to int64 // the stall
	busy     int64 // until then
}

func (s *stalled) answer(came int64) int64 {
	begin := max(came, s.busy)
	if begin >= s.from && begin < s.to {
		begin = s.to
	}
	s.busy = begin + s.takes
	return s.busy
}

// slower is how many in a histogram took longer than that.
func slower(g *tally.Histogram, than time.Duration) (n int64) {
	for _, bar := range g.Bars() {
		if bar.Micros > float64(than/time.Microsecond) {
			n += bar.Count
		}
	}
	return n
}

// A simulation in discrete time, with the schedule and the histogram of the
// client: 1000 a second for 10 s, a server that takes nothing for a request and
// stalls from 4 s to 5 s.
func TestStallInDiscreteTime(t *testing.T) {
	const second = int64(time.Second)
	open, closed := tally.NewHistogram(), tally.NewHistogram()

	server := stalled{from: 4 * second, to: 5 * second}
	for a := schedule(t, "constant:1000/10s").Arrivals(1, 0, 1); ; {
		due, ok := a.Next()
		if !ok {
			break
		}
		open.Record(server.answer(due) - due)
	}
	// The closed model, at the same rate as long as the server answers: the
	// next request is sent a millisecond after the last, or when it is answered.
	server = stalled{from: 4 * second, to: 5 * second}
	for now := int64(0); now < 10*second; {
		end := server.answer(now)
		closed.Record(end - now)
		now = max(now+second/1000, end)
	}
	// Who was due k ms into the stall waited for 1000-k ms.
	for _, test := range []struct {
		than         time.Duration
		open, closed int64
	}{
		{500 * time.Microsecond, 1000, 1},
		{99500 * time.Microsecond, 901, 1},
		{500500 * time.Microsecond, 500, 1},
		{899500 * time.Microsecond, 101, 1},
		{990500 * time.Microsecond, 10, 1},
		{1001 * time.Millisecond, 0, 0},
	} {
		if n := slower(open, test.than); n != test.open {
			t.Errorf("open model: %d took longer than %v, want %d", n, test.than, test.open)
		}
		if n := slower(closed, test.than); n != test.closed {
			t.Errorf("closed model: %d took longer than %v, want %d", n, test.than, test.closed)
		}
	}
	if open.Count() != 10_000 || closed.Count() != 9001 {
		t.Errorf("%d and %d in all", open.Count(), closed.Count())
	}
	if p := open.Percentile(99); p < 899_000 || p > 901_000 { // of 10,000, 100 waited longer
		t.Errorf("open model: p99 %v µs", p)
	}
	if p := closed.Percentile(99.9); p > 1 {
		t.Errorf("closed model: p99.9 %v µs, though it was not to be seen", p)
	}
}

// The same over sockets: a server that answers nobody until the last has come,
// and then all. It knows from the tokens when each was due, so what they must
// at least have waited is known exactly.
func TestStallOverSockets(t *testing.T) {
	const n = 200
	clock := sock.NewClock()
	tokens, release := make(chan int64, n), make(chan bool)
	addr := accepting(t, func(c *net.TCPConn) {
		token := asked(c, 64)
		tokens <- int64(token)
		<-release
		answer(c, token, 64)
		c.Close()
	})
	b := background(t, Config{
		Target: addr, Work: Short, Request: 64, Response: 64, Loops: 2, Total: n, Arrivals: schedule(t, "constant:1000"), Drain: time.Hour,
	})
	var due []int64
	for range n {
		due = append(due, <-tokens)
	}
	ended := clock.Now()
	close(release)
	r := <-b.result
	exactly(t, r, tally.Served, n)
	for _, than := range []time.Duration{10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 190 * time.Millisecond} {
		least := int64(0)
		for _, at := range due {
			if ended-at > int64(than) {
				least++
			}
		}
		// The first of 200 was due 199 ms before the last, and so on.
		if sure := int64(n - than/time.Millisecond - 1); least < sure {
			t.Fatalf("%d were due %v before the end, want %d: the tokens are not the schedule", least, than, sure)
		}
		// Bars are a thousandth wide.
		if got := slower(r.Latency, than-than/500); got < least {
			t.Errorf("%d took longer than %v, but %d were due earlier than that", got, than, least)
		}
	}
}

// The closed model beside it, one flow with the same server: it sees the stall
// once, however many would have come meanwhile.
func TestClosedModelHidesAStall(t *testing.T) {
	stall := make(chan bool, 1)
	stall <- true
	addr := accepting(t, func(c *net.TCPConn) {
		defer c.Close()
		token := asked(c, 64)
		select {
		case <-stall:
			time.Sleep(500 * time.Millisecond)
		default:
		}
		answer(c, token, 64)
	})
	r := mustRun(t, Config{Target: addr, Work: Short, Flows: 1, Request: 64, Response: 64, Total: 200})
	exactly(t, r, tally.Served, 200)
	// One saw the stall. A machine that stands still may add a few of its own;
	// at the rate of the others all would have come in that time.
	if n := slower(r.Latency, 499*time.Millisecond); n < 1 || n > 5 {
		t.Errorf("%d saw the stall, want 1 of 200", n)
	}
	if p := r.Latency.Percentile(95); p >= 499_000 {
		t.Errorf("p95 %v µs", p)
	}
}
