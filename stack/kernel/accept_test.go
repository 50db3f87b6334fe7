package kernel

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// keeper holds the clients that were accepted, as a front end's handler would.
type keeper struct {
	handler
	l        *Loop
	open     []int // owned by the loop
	accepted chan int
}

func newKeeper() *keeper {
	k := &keeper{accepted: make(chan int, 1<<12)}
	k.handler.accepted = func(_, fd int, _ sys.Peer) {
		k.open = append(k.open, fd)
		k.accepted <- fd
	}
	return k
}

// dropAll ends all sessions in one go.
func (k *keeper) dropAll() {
	for _, fd := range k.open {
		k.l.Close(fd)
		k.l.Departed()
	}
	k.open = nil
}

// keep runs a loop with a listener until the test's end.
func keep(t testing.TB, b *Budget, log *slog.Logger) (*keeper, Address) {
	t.Helper()
	k := newKeeper()
	var at Address
	k.l = runLogged(t, b, &k.handler, log, func(l *Loop) { at = listenOn(t, l, 0, local(), Options{}) })
	t.Cleanup(func() { do(t, k.l, func() { k.l.CloseListeners(); k.dropAll() }) })
	return k, at
}

// The batch follows what came: one at rest, up to acceptMost in a rush.
func TestAcceptAdapts(t *testing.T) {
	k, at := keep(t, roomy(), quiet)
	var most atomic.Int64
	do(t, k.l, func() {
		k.turn = func(int64) int64 {
			if len(k.l.listeners) > 0 {
				most.Store(max(most.Load(), int64(k.l.listeners[0].batch)))
			}
			return 0
		}
	})
	batch := func() (n int) {
		do(t, k.l, func() { n = k.l.listeners[0].batch })
		return n
	}
	dialTo(t, "tcp", at.String())
	receive(t, k.accepted)
	if n := batch(); n > 2 {
		t.Errorf("batch of %d after one client", n)
	}
	do(t, k.l, func() { // the loop is busy while a rush comes
		for range 200 {
			dialTo(t, "tcp", at.String())
		}
		queued(t, k.l.Listeners(0)[0], 200)
	})
	for range 200 {
		receive(t, k.accepted)
	}
	if most.Load() < 16 {
		t.Errorf("the batch grew to %d in a rush of 200", most.Load())
	}
	for range 3 {
		dialTo(t, "tcp", at.String())
		receive(t, k.accepted)
	}
	if n := batch(); n > 2 {
		t.Errorf("batch of %d at rest again", n)
	}
}

// C57: a paused listener goes on when one frees; reduced to 50 rounds.
func TestC57ResumesWhenOneLeaves(t *testing.T) {
	var k *keeper
	b := NewBudget(20, 0, func() { k.l.Wake() })
	k, at := keep(t, b, quiet)
	for round := range 50 {
		var conns []net.Conn
		for range 25 { // more than there are descriptors for
			conns = append(conns, dialTo(t, "tcp", at.String()))
		}
		for range 17 {
			receive(t, k.accepted)
		}
		do(t, k.l, func() {}) // the pause, at the latest
		if n := len(k.accepted); n != 0 {
			t.Fatalf("round %d: %d clients too many", round, n)
		}
		do(t, k.l, k.dropAll)
		for range 8 {
			receive(t, k.accepted)
		}
		do(t, k.l, k.dropAll)
		for _, c := range conns {
			c.Close()
		}
	}
	if b.Used() != 0 || b.Clients() != 0 || b.paused.Load() != 0 {
		t.Errorf("%d used, %d clients, %d paused", b.Used(), b.Clients(), b.paused.Load())
	}
}

// Many loops share a small budget, and everybody is served in the end:
// nobody sleeps while there is room.
func TestLoopsShareBudget(t *testing.T) {
	const loops, clients = 4, 400
	var ls [loops]atomic.Pointer[Loop]
	b := NewBudget(6, 0, func() {
		for i := range ls {
			if l := ls[i].Load(); l != nil {
				l.Wake()
			}
		}
	})
	served := make(chan int, clients)
	at := local()
	for i := range loops {
		h := &handler{}
		var l *Loop
		h.accepted = func(_, fd int, _ sys.Peer) {
			l.Do(func() { // the place is taken for a moment
				l.Close(fd)
				l.Departed()
				served <- fd
			})
		}
		run(t, b, h, func(it *Loop) { l, at = it, listenOn(t, it, 0, at, Options{}) })
		ls[i].Store(l)
	}
	var dialling sync.WaitGroup
	for range 8 {
		dialling.Go(func() {
			for range clients / 8 {
				c, err := net.Dial("tcp", at.String())
				if err != nil {
					t.Error(err)
					return
				}
				c.SetDeadline(time.Now().Add(patience))
				if n, err := c.Read(make([]byte, 1)); n != 0 {
					t.Error(n, err)
				}
				c.Close()
			}
		})
	}
	for range clients {
		receive(t, served)
	}
	dialling.Wait()
	if b.Used() != 0 || b.Clients() != 0 {
		t.Errorf("%d used, %d clients", b.Used(), b.Clients())
	}
}

// C54: a full budget costs no time and one line.
func TestC54FullIsQuiet(t *testing.T) {
	var lines lockedBuffer
	var k *keeper
	b := NewBudget(3, 0, func() { k.l.Wake() })
	k, at := keep(t, b, slog.New(slog.NewTextHandler(&lines, nil)))
	for range 20 {
		dialTo(t, "tcp", at.String())
	}
	receive(t, k.accepted)
	until(t, func() (paused bool) { do(t, k.l, func() { paused = k.l.paused }); return paused }, "the pause")
	before := k.turns.Load()
	time.Sleep(200 * time.Millisecond) // nothing is what is to happen
	if n := k.turns.Load() - before; n > 2 {
		t.Errorf("%d turns in 200 ms", n)
	}
	if s := lines.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "not accepting") {
		t.Errorf("log: %q", s)
	}
	// A pause for a time that ends with no room is quiet, too.
	do(t, k.l, func() { k.l.retryAt = Clock() + int64(20*time.Millisecond) })
	before = k.turns.Load()
	time.Sleep(200 * time.Millisecond)
	if n := k.turns.Load() - before; n > 4 {
		t.Errorf("%d turns in 200 ms after a pause", n)
	}
}

// C53: EMFILE ends no listener.
func TestC53EMFILE(t *testing.T) {
	var lines lockedBuffer
	k, at := keep(t, roomy(), slog.New(slog.NewTextHandler(&lines, nil)))
	c := dialTo(t, "tcp", at.String())
	receive(t, k.accepted)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	do(t, k.l, func() { // with the loop busy, a client waits in the backlog
		c = dialTo(t, "tcp", at.String())
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: was.Max}); err != nil {
			t.Error(err)
		}
	})
	until(t, func() bool { return strings.Contains(lines.String(), "accept failed") }, "EMFILE")
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	receive(t, k.accepted)
	do(t, k.l, k.dropAll)
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Error(n, err)
	}
	if n := strings.Count(lines.String(), "\n"); n != 1 {
		t.Errorf("%d lines: %s", n, lines.String())
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
