package client

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"penstock/bench/server"
	"penstock/bench/tally"
)

// dueIn is how many a schedule has from a time on and before another.
func dueIn(t *testing.T, text string, seed uint64, from, to time.Duration) (n uint64) {
	t.Helper()
	for a := schedule(t, text).Arrivals(seed, 0, 1); ; n++ {
		at, ok := a.Next()
		if !ok || at >= int64(to) {
			return n
		}
		if at < int64(from) {
			n--
		}
	}
}

// What is counted is exactly what was due in the measured time, over any
// number of loops, by any schedule.
func TestOpenCountsWhatIsDue(t *testing.T) {
	addr, _ := serve(t, server.Config{Request: 64, Response: 64, Then: server.Close})
	const warm, length = 50 * time.Millisecond, 100 * time.Millisecond
	for _, text := range []string{
		"constant:2000", "poisson:2000", "burst:50@20ms", "ramp:0..3000/1s", "constant:100/20ms,poisson:3000/100ms,burst:7@3ms", "burst:100@10s",
	} {
		for loops := 1; loops < 4; loops += 2 {
			for flows := 0; flows <= loops; flows += 3 {
				r := mustRun(t, Config{
					Target: addr, Work: Short, Request: 64, Response: 64, Loops: loops, Flows: flows,
					Arrivals: schedule(t, text), Warm: warm, For: length, Seed: 7,
				})
				want := dueIn(t, text, 7, warm, warm+length)
				exactly(t, r, tally.Served, want)
				if all := dueIn(t, text, 7, 0, warm+length); r.Begun != all || uint64(r.Lag.Count()) != want || r.Received != 64*want {
					t.Errorf("%s: begun %d of %d, lag of %d and %d bytes for %d", text, r.Begun, all, r.Lag.Count(), r.Received, want)
				}
			}
		}
	}
}

// Nobody is answered: all who were due are overdue, those too who never found a
// flow.
func TestOpenOverdue(t *testing.T) {
	addr := accepting(t, func(*net.TCPConn) {})
	const text = "poisson:1000"
	for _, flows := range []int{0, 5} {
		r := mustRun(t, Config{
			Target: addr, Work: Short, Request: 64, Response: 64, Loops: 2, Flows: flows,
			Arrivals: schedule(t, text), Warm: 20 * time.Millisecond, For: 100 * time.Millisecond, Drain: 50 * time.Millisecond,
		})
		exactly(t, r, tally.Overdue, dueIn(t, text, 0, 20*time.Millisecond, 120*time.Millisecond))
	}
	r := mustRun(t, Config{
		Target: addr, Work: Short, Request: 64, Response: 64, Loops: 2, Flows: 2,
		Arrivals: schedule(t, "constant:1000"), Total: 500, Drain: 30 * time.Millisecond,
	})
	exactly(t, r, tally.Overdue, 500)
}

// The drain waits for an answer that comes after the measured time.
func TestOpenDrains(t *testing.T) {
	release := make(chan bool)
	addr := accepting(t, func(c *net.TCPConn) {
		token := asked(c, 64)
		<-release
		answer(c, token, 64)
		c.Close()
	})
	b := background(t, Config{
		Target: addr, Work: Short, Request: 64, Response: 64, Arrivals: schedule(t, "burst:10@1s"), For: 30 * time.Millisecond,
	})
	<-b.counting
	time.Sleep(60 * time.Millisecond) // past the measured time; sooner would only test less
	close(release)
	exactly(t, <-b.result, tally.Served, 10)
}

// Sustained, clients go on to come for the drain: the server answers nobody
// before 200 are there, of whom 30 count.
func TestSustain(t *testing.T) {
	t.Parallel()
	var came atomic.Int64
	enough := make(chan bool)
	addr := accepting(t, func(c *net.TCPConn) {
		token := asked(c, 64)
		if came.Add(1) == 200 {
			close(enough)
		}
		<-enough
		answer(c, token, 64)
		c.Close()
	})
	for _, loops := range []int{1, 3} {
		r := mustRun(t, Config{
			Target: addr, Work: Short, Request: 64, Response: 64, Loops: loops, Arrivals: schedule(t, "constant:300"),
			For: 100 * time.Millisecond, Drain: 3 * time.Second, Sustain: true,
		})
		exactly(t, r, tally.Served, 30)
		if r.Begun != 930 {
			t.Errorf("%d begun", r.Begun)
		}
	}
}

// Nobody is answered: those counted are overdue, those who came besides are not.
func TestSustainIsBounded(t *testing.T) {
	t.Parallel()
	addr := accepting(t, func(*net.TCPConn) {})
	r := mustRun(t, Config{
		Target: addr, Work: Short, Request: 64, Response: 64, Arrivals: schedule(t, "constant:100"),
		For: 300 * time.Millisecond, Drain: 2 * time.Second, Sustain: true,
	})
	exactly(t, r, tally.Overdue, 30)
	if r.Begun < 60 {
		t.Errorf("%d begun", r.Begun)
	}
}

// Ended early, it counts what was due by then and is neither younger than the
// drain nor still to come.
func TestOpenEndedEarly(t *testing.T) {
	came := make(chan bool, 100)
	addr := accepting(t, func(c *net.TCPConn) {
		answer(c, asked(c, 64), 64)
		c.Close()
		came <- true
	})
	b := background(t, Config{
		Target: addr, Work: Short, Request: 64, Response: 64, Arrivals: schedule(t, "burst:10@1h"), For: time.Hour, Drain: time.Hour,
	})
	for range 10 {
		<-came
	}
	if r := b.end(); r.Outcomes[tally.Served] != r.Outcomes.Sum() || r.Begun != 10 || r.Seconds > 600 {
		t.Errorf("%v of %d, %v s", r.Outcomes, r.Begun, r.Seconds)
	}
}

// Tokens are the times at which connections were due: exactly the schedule's,
// whenever they were begun.
func TestTokensAreTheSchedule(t *testing.T) {
	var mu sync.Mutex
	var tokens []uint64
	addr := accepting(t, func(c *net.TCPConn) {
		token := asked(c, 64)
		mu.Lock()
		tokens = append(tokens, token)
		mu.Unlock()
		answer(c, token, 64)
		c.Close()
	})
	const text = "constant:700/50ms,burst:5@10ms/30ms,poisson:2000"
	r := mustRun(t, Config{Target: addr, Work: Short, Request: 64, Response: 64, Loops: 2, Arrivals: schedule(t, text), Seed: 3, Total: 150})
	exactly(t, r, tally.Served, 150)
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(tokens)
	for i, a := 0, schedule(t, text).Arrivals(3, 0, 1); i < len(tokens); i++ {
		if at, _ := a.Next(); tokens[i]-tokens[0] != uint64(at) {
			t.Fatalf("token %d is %d after the first, the schedule says %d", i, tokens[i]-tokens[0], at)
		}
	}
}

func TestOpenKeep(t *testing.T) {
	addr, end := serve(t, server.Config{Request: 64, Response: 64, Then: server.Stay})
	r := mustRun(t, Config{
		Target: addr, Work: Keep, Request: 64, Response: 64, Requests: 4, Think: dist(t, "exp:2ms"), Loops: 2,
		Arrivals: schedule(t, "constant:500"), For: 100 * time.Millisecond,
	})
	exactly(t, r, tally.Served, 4*50)
	if seen := end(); seen.Members[0].Accepted != 50 || r.Begun != 50 || seen.Requests != 200 {
		t.Errorf("%d connections begun; server %+v", r.Begun, seen)
	}
}

// No more than Flows at a time; who waits for one is timed from when it was
// due, and served in order.
func TestOpenFlowsAreTheMost(t *testing.T) {
	addr, end := serve(t, server.Config{Request: 64, Response: 64, Then: server.Close, Delay: dist(t, "2ms")})
	r := mustRun(t, Config{
		Target: addr, Work: Short, Request: 64, Response: 64, Flows: 3, Arrivals: schedule(t, "burst:30@1h"), Total: 30, Late: 19 * time.Millisecond,
	})
	exactly(t, r, tally.Served, 30)
	seen := end()
	if m := seen.Members[0]; m.MaxOpen > 3 || m.Accepted != 30 {
		t.Errorf("%+v", m)
	}
	if seen.Order.Overtaken != 0 || seen.Order.Tokens != 30 {
		t.Errorf("%+v", seen.Order)
	}
	// The last three are begun after nine times the delay, and take it once more.
	if r.Late < 3 || r.Late > 30 || r.Latency.Percentile(100) < 19_900 || r.Lag.Percentile(100) < 17_900 {
		t.Errorf("%d late, the slowest after %v µs, begun up to %v µs late", r.Late, r.Latency.Percentile(100), r.Lag.Percentile(100))
	}
}
