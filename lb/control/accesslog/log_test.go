package accesslog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"penstock/stack/proxy"
	"penstock/stack/small"
)

func TestMain(m *testing.M) {
	// A machine that stands still for a second is not stuck.
	stuckTime, closeTime = time.Minute, 10*time.Minute
	goleak.VerifyTestMain(m)
}

func config(loops int) Config { return Config{Format: "text", Names: testNames, Loops: loops} }

func ended(up int) *proxy.Ended {
	return &proxy.Ended{
		Client: netip.MustParseAddrPort("10.1.2.3:4711"), Member: -1, Up: uint64(up), Left: "-", Closer: "client",
	}
}

// Many loops at once: each connection has its line, those of one loop are in
// order, and none is torn.
func TestManyLoops(t *testing.T) {
	const loops, each = 8, 3000
	var out bytes.Buffer
	l := New(&out, config(loops))
	var wg sync.WaitGroup
	for i := range loops {
		wg.Go(func() {
			for k := range each {
				e := ended(k)
				e.Down = uint64(i)
				l.Ended(i, e)
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var next [loops]int
	for s := bufio.NewScanner(&out); s.Scan(); {
		var up, loop int
		_, tail, _ := strings.Cut(s.Text(), " up=")
		if _, err := fmt.Sscanf(tail, "%d down=%d position=0 left=- code=-- closer=client", &up, &loop); err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		if up != next[loop] {
			t.Fatalf("loop %d: line %d, want %d", loop, up, next[loop])
		}
		next[loop]++
	}
	for i, n := range next {
		if n != each {
			t.Errorf("loop %d has %d lines of %d", i, n, each)
		}
	}
	if l.Lost() != 0 {
		t.Errorf("%d lost", l.Lost())
	}
}

// watched is a writer that can be looked at while it is used, and can fail.
type watched struct {
	mu   sync.Mutex
	text strings.Builder
	fail error
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return 0, w.fail
	}
	w.text.Write(b)
	return len(b), nil
}

func (w *watched) lines() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.text.String(), "\n")
}

func (w *watched) setFail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = err
}

// A line is on its way as soon as nothing else comes, with nobody asking: each
// time the writer had gone to sleep.
func TestWritesWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out watched
		l := New(&out, config(2))
		defer l.Close()
		for i := range 10 {
			synctest.Wait() // the writer sleeps
			l.Ended(i%2, ended(i))
			time.Sleep(linger + 1)
			synctest.Wait()
			if n := out.lines(); n != i+1 {
				t.Fatalf("%d lines after %d ends", n, i+1)
			}
		}
	})
}

// When nothing happens the writer does nothing: no timer runs.
func TestNoPolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out watched
		l := newLog(config(1))
		w := newWriter(l, config(1))
		go w.run(sink{Writer: &out})
		l.Ended(0, ended(1))
		time.Sleep(time.Hour)
		synctest.Wait()
		if !l.asleep.Load() {
			t.Error("the writer is awake with nothing to write")
		}
		l.Close()
	})
}

// What does not fit is lost, counted and told, once.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out watched
		var warnings bytes.Buffer
		c := config(2)
		c.Warn = slog.New(slog.NewTextHandler(&warnings, nil))
		l := newLog(c)
		l.most = 3
		for i := range 8 {
			l.Ended(0, ended(i))
		}
		l.Ended(1, ended(0))
		if l.Lost() != 5 {
			t.Errorf("%d lost, want 5", l.Lost())
		}
		go newWriter(l, c).run(sink{Writer: &out})
		time.Sleep(time.Minute)
		l.Ended(0, ended(9)) // there is room again
		l.Close()
		if n := out.lines(); n != 5 {
			t.Errorf("%d lines, want 5:\n%s", n, out.text.String())
		}
		if s := warnings.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "lost=5") {
			t.Errorf("warnings: %s", s)
		}
	})
}

// A full disk is told once in a while, and lines go on when it has room.
func TestWriteFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out watched
		var warnings bytes.Buffer
		c := config(1)
		c.Warn = slog.New(slog.NewTextHandler(&warnings, nil))
		l := New(&out, c)
		out.setFail(errors.New("no space left"))
		for i := range 5 {
			l.Ended(0, ended(i))
			time.Sleep(time.Second)
		}
		out.setFail(nil)
		l.Ended(0, ended(6))
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if n := out.lines(); n != 1 {
			t.Errorf("%d lines, want 1", n)
		}
		if s := warnings.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "no space left") {
			t.Errorf("warnings: %s", s)
		}
	})
}

func TestCloseTwice(t *testing.T) {
	l := New(&watched{fail: errors.New("broken")}, config(1))
	l.Ended(0, ended(1))
	if err := l.Close(); err == nil {
		t.Error("Close did not say that the last lines were not written")
	}
	l.Close()
	l.Ended(0, ended(1)) // too late, but does no harm
}

// Ended is called 50,000 times a second on a loop's goroutine.
func TestEndedAllocatesNothing(t *testing.T) {
	l := newLog(config(1))
	e := ended(1)
	e.Left = "abandoned"
	lines := 0
	n := testing.AllocsPerRun(10_000, func() {
		l.Ended(0, e)
		l.lanes[0].drain(turn, func(*record) { lines++ })
	})
	if n != 0 || lines == 0 {
		t.Errorf("%v allocations in a call", n)
	}
}

// The rings are not looked at by the garbage collector.
func TestRecordIsSmall(t *testing.T) { small.Record[record](t, 88) }

func BenchmarkEnded(b *testing.B) {
	b.ReportAllocs()
	l := newLog(config(1))
	e := ended(1)
	for i := 0; b.Loop(); i++ {
		l.Ended(0, e)
		if i%64 == 0 {
			l.lanes[0].drain(turn, func(*record) {})
		}
	}
}

// A number is given to another member only when Flush has returned: until then
// its lines have the old name.
func TestFlushBeforeAnotherName(t *testing.T) {
	var out bytes.Buffer
	l := New(&out, config(2))
	for i := range 2 {
		e := ended(i)
		e.Member = 0
		l.Ended(i, e)
	}
	l.Flush()
	l.SetNames(Names{Members: []string{"another"}})
	e := ended(2)
	e.Member = 0
	l.Ended(0, e)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "member="+testNames.Members[0]); got != 2 {
		t.Errorf("%d lines have the old name, want 2:\n%s", got, &out)
	}
	if got := strings.Count(out.String(), "member=another"); got != 1 {
		t.Errorf("%d lines have the new name, want 1:\n%s", got, &out)
	}
	l.Flush() // of a log that has ended
}
