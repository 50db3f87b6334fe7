package monitor

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// told is what report was called with.
type told struct {
	key    string
	up     bool
	reason string
	at     time.Time
}

// watch starts a monitor whose reports come out of a channel.
func watch(t *testing.T) (*Monitor, chan told) {
	t.Helper()
	reports := make(chan told, 1000)
	m := New(func(key string, up bool, reason string) { reports <- told{key, up, reason, time.Now()} }, nil)
	t.Cleanup(m.Close)
	return m, reports
}

func next(t *testing.T, reports chan told) told {
	t.Helper()
	select {
	case r := <-reports:
		return r
	case <-time.After(patience):
		t.Fatal("no report")
		return told{}
	}
}

// until waits for a fact that no event tells.
func until(t *testing.T, what string, fact func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !fact(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// fast is a target that is soon down, if it only is for a moment that this
// machine stands still.
func fast(key string, to netip.AddrPort) Target {
	return Target{Key: key, Address: to, Interval: 20 * time.Millisecond, Timeout: 100 * time.Millisecond}
}

// lasting is one that is checked as often, and does not go down for that.
func lasting(key string, to netip.AddrPort) Target {
	return Target{Key: key, Address: to, Interval: 20 * time.Millisecond, Timeout: 3 * patience}
}

// checkedOnce waits until a target has been checked.
func checkedOnce(t *testing.T, m *Monitor, key string) {
	t.Helper()
	until(t, "a check of "+key, func() bool { _, _, _, last := m.State(key); return last > 0 })
}

// A server goes, comes back, and goes again.
func TestDownAndUp(t *testing.T) {
	to := nobody(t)
	m, reports := watch(t)
	start := time.Now()
	a := Target{Key: "a", Address: to, Interval: 20 * time.Millisecond, Timeout: time.Second}
	m.Set([]Target{a})
	up, reason, since, _ := m.State("a")
	if !up || reason != "" || since.Before(start) {
		t.Errorf("at first: %v %q %v", up, reason, since)
	}
	for range 2 {
		r := next(t, reports)
		if r.key != "a" || r.up || !refused(r.reason) {
			t.Fatalf("%+v", r)
		}
		// No good check was before it came up.
		if d := r.at.Sub(since); d < a.Timeout {
			t.Errorf("down after %v", d)
		}
		up, reason, at, _ := m.State("a")
		if up || !refused(reason) || at.Before(since) || at.After(r.at) {
			t.Errorf("%v %q %v; reported at %v", up, reason, at, r.at)
		}
		ln, err := net.Listen("tcp", to.String())
		if err != nil {
			t.Fatal(err)
		}
		closing := takeOn(ln)
		if r := next(t, reports); r.key != "a" || !r.up || r.reason != "" {
			t.Fatalf("%+v", r)
		}
		var last time.Duration
		if up, reason, since, last = m.State("a"); !up || reason != "" && !refused(reason) || last <= 0 {
			t.Errorf("%v %q %v", up, reason, last)
		}
		closing()
	}
}

// takeOn takes connections until the function it returns is called.
func takeOn(ln net.Listener) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	return func() { ln.Close(); <-done }
}

// The timeout is not waited for longer because a check hangs.
func TestDownWhileACheckHangs(t *testing.T) {
	m, reports := watch(t)
	start := time.Now()
	m.Set([]Target{{Key: "a", Kind: HTTP, Address: serve(t, hang), Interval: 250 * time.Millisecond, Timeout: 300 * time.Millisecond}})
	r := next(t, reports)
	if d := r.at.Sub(start); r.up || d < 300*time.Millisecond || d > patience/2 {
		t.Errorf("after %v: %+v", d, r)
	}
}

// Who did not change goes on undisturbed; who did keeps its state and is
// checked at once; who is new is up.
func TestSet(t *testing.T) {
	dead := nobody(t)
	var checks atomic.Int64
	alive := serve(t, func(c *net.TCPConn) { checks.Add(1); hang(c) })
	m, reports := watch(t)
	set := []Target{fast("same", dead), fast("changed", dead), fast("gone", dead), {Key: "rare", Address: alive, Interval: time.Hour}}
	m.Set(set)
	down := map[string]told{}
	for len(down) < 3 {
		r := next(t, reports)
		down[r.key] = r
	}
	_, _, since, _ := m.State("same")

	changed := Target{Key: "changed", Address: alive, Interval: 2 * time.Hour}
	m.Set([]Target{set[0], changed, set[3], lasting("new", alive)})
	if up, _, now, _ := m.State("same"); up || now != since {
		t.Errorf("same: up %v since %v, was down since %v", up, now, since)
	}
	if up, _, at, _ := m.State("gone"); !up || !at.IsZero() {
		t.Errorf("gone: up %v since %v", up, at)
	}
	if up, _, _, _ := m.State("new"); !up {
		t.Error("new is down")
	}
	// Two hours to its next check, and it is up by one that is made now.
	if r := next(t, reports); r.key != "changed" || !r.up {
		t.Errorf("%+v", r)
	}
	if _, _, _, last := m.State("rare"); last != 0 {
		t.Error("a target that was not changed was checked out of turn")
	}
	checkedOnce(t, m, "new")
	m.Set(nil)
	until(t, "no more checks without targets", func() bool {
		n := checks.Load()
		time.Sleep(10 * lasting("", alive).Interval) // nothing is what is to happen
		return checks.Load() == n
	})
	if len(reports) > 0 {
		t.Errorf("%+v", <-reports)
	}
}

// After Set nothing is heard of a removed key, whatever was under way, while
// targets change at a great rate.
func TestNoReportAfterRemoval(t *testing.T) {
	const keys = 8
	var wanted [keys]atomic.Bool
	var late, reported atomic.Int64
	m := New(func(key string, up bool, _ string) {
		k := int(key[0] - 'a')
		for range 3 { // for some time
			if !wanted[k].Load() {
				late.Add(1)
			}
			time.Sleep(50 * time.Microsecond)
		}
		reported.Add(1)
	}, nil)
	defer m.Close()
	to := [2]netip.AddrPort{nobody(t), serve(t, func(*net.TCPConn) {})}
	set := func(mask int) {
		var s []Target
		for k := range keys {
			if mask>>k&1 == 1 {
				wanted[k].Store(true)
				s = append(s, Target{Key: string(rune('a' + k)), Address: to[k%2], Interval: time.Millisecond, Timeout: time.Millisecond})
			}
		}
		m.Set(s)
		for k := range keys {
			if mask>>k&1 == 0 {
				wanted[k].Store(false) // from now on a report is wrong
			}
		}
	}
	for i := 0; i < 500 || reported.Load() < 100 && i < 50_000; i++ {
		set(i * 37 % 256)
		if i%50 == 0 {
			time.Sleep(5 * time.Millisecond) // some go down, or up
		}
	}
	if late.Load() > 0 || reported.Load() == 0 {
		t.Errorf("%d reports, %d when Set had removed the key", reported.Load(), late.Load())
	}
}

// Set waits for a report of what it removes, and for no other.
func TestSetWaitsForTheReportItEnds(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	m := New(func(string, bool, string) { inside <- struct{}{}; <-leave }, nil)
	defer m.Close()
	m.Set([]Target{fast("a", nobody(t))})
	<-inside
	m.Set([]Target{fast("a", nobody(t)), fast("b", nobody(t))}) // returns: a stays
	var left atomic.Bool
	returned := make(chan bool)
	go func() { m.Set(nil); returned <- left.Load() }()
	until(t, "a is removed", func() bool { _, _, since, _ := m.State("a"); return since.IsZero() })
	left.Store(true)
	close(leave)
	if !<-returned {
		t.Error("Set returned while a was being reported")
	}
}

// crowd counts connections, and remembers the most there were at a time.
type crowd struct {
	mu             sync.Mutex
	now, most, all int
}

func (c *crowd) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += n
	c.most = max(c.most, c.now)
	c.all += max(0, n)
}

func (c *crowd) counts() (most, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most, c.all
}

// busy counts the targets whose check has not closed its connection yet.
func busy(m *Monitor) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.targets {
		if t.busy {
			n++
		}
	}
	return n
}

// Three hundred servers hang. They never have more than 64 checks, and do not
// keep twenty well ones from being checked and being up.
func TestManyHang(t *testing.T) {
	const hanging, well = 300, 20
	var bad, good crowd
	badAt := serve(t, func(c *net.TCPConn) { bad.add(1); defer bad.add(-1); hang(c) })
	goodAt := serve(t, func(c *net.TCPConn) { good.add(1); defer good.add(-1); answer(ok)(c) })
	m, reports := watch(t)
	var set []Target
	for i := range hanging {
		set = append(set, Target{Key: fmt.Sprint("bad", i), Address: badAt, Kind: HTTP, Interval: 100 * time.Millisecond, Timeout: 400 * time.Millisecond})
	}
	for i := range well {
		set = append(set, Target{Key: fmt.Sprint("good", i), Address: goodAt, Kind: HTTP, Send: "/", Interval: 50 * time.Millisecond, Timeout: patience})
	}
	m.Set(set)
	down, busiest := map[string]bool{}, 0
	for len(down) < hanging {
		r := next(t, reports)
		busiest = max(busiest, busy(m))
		if r.up || strings.HasPrefix(r.key, "good") {
			t.Fatalf("%+v", r)
		}
		down[r.key] = true
	}
	// Now that all that hang are known to, the well ones have their share.
	_, n := good.counts()
	until(t, "checks of the well ones", func() bool {
		busiest = max(busiest, busy(m))
		_, all := good.counts()
		return all >= n+5*well
	})
	m.Close()
	// The server learns of an end somewhat later than the monitor: on a busy machine
	// of half of them when the next ones have come.
	if n, _ := bad.counts(); n < share/2 || n > 3*most || busiest > most {
		t.Errorf("at most %d at a time as the servers see it, %d as the monitor does", n, busiest)
	}
}

func TestCloseDoesNotWaitForChecks(t *testing.T) {
	reached := make(chan struct{}, 100)
	to := serve(t, func(c *net.TCPConn) { reached <- struct{}{}; hang(c) })
	m := New(func(string, bool, string) {}, nil)
	var set []Target
	for i := range 30 {
		set = append(set, Target{Key: fmt.Sprint(i), Address: to, Kind: HTTP, Interval: 10 * time.Millisecond, Timeout: time.Hour})
	}
	m.Set(set)
	for range 30 {
		<-reached
	}
	start := time.Now()
	m.Close()
	if d := time.Since(start); d > patience/2 {
		t.Errorf("it took %v", d)
	}
	m.Set(set[:1]) // does nothing, and does not hang
	m.Close()
}

// One check of a target at a time, however short its interval.
func TestOneCheckATarget(t *testing.T) {
	var c crowd
	to := serve(t, func(conn *net.TCPConn) {
		c.add(1)
		time.Sleep(5 * time.Millisecond)
		c.add(-1) // before the check can know that it is over
		conn.Write([]byte(ok))
	})
	m, _ := watch(t)
	m.Set([]Target{{Key: "a", Address: to, Kind: HTTP, Interval: time.Millisecond, Timeout: time.Minute}})
	until(t, "twenty checks", func() bool { _, all := c.counts(); return all >= 20 })
	if n, _ := c.counts(); n != 1 {
		t.Errorf("%d checks at a time", n)
	}
}

// Without descriptors nothing can be checked, and nobody goes down for it.
func TestNoDescriptors(t *testing.T) {
	m, reports := watch(t)
	to := nobody(t)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	m.Set([]Target{fast("a", to)})
	time.Sleep(300 * time.Millisecond) // three timeouts: the event is that nothing happens
	up, reason, _, last := m.State("a")
	n := len(reports)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if !up || n > 0 || reason != "" || last != 0 {
		t.Errorf("up %v, %d reports, reason %q, last %v", up, n, reason, last)
	}
	if r := next(t, reports); r.up || !refused(r.reason) {
		t.Errorf("%+v", r)
	}
}
