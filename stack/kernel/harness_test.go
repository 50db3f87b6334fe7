package kernel

import (
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

const patience = 20 * time.Second

// handler is a Handler made of functions; those that are nil do nothing.
type handler struct {
	accepted func(listener, fd int, from sys.Peer)
	ready    func(ref uint32, r sys.Ready)
	expired  func(timer uint32, now int64)
	turn     func(now int64) int64
	late     func()
	turns    atomic.Int64
}

func (h *handler) Accepted(listener, fd int, from sys.Peer, _ int64) { h.accepted(listener, fd, from) }

func (h *handler) Ready(ref uint32, r sys.Ready, _ int64) {
	if h.ready != nil {
		h.ready(ref, r)
	}
}

func (h *handler) Expired(timer uint32, now int64) { h.expired(timer, now) }

func (h *handler) Turn(now int64) int64 {
	h.turns.Add(1)
	if h.turn != nil {
		return h.turn(now)
	}
	return 0
}

func (h *handler) Late() {
	if h.late != nil {
		h.late()
	}
}

// roomy returns a budget that no test reaches.
func roomy() *Budget { return NewBudget(10_000, 0, func() {}) }

var quiet = slog.New(slog.DiscardHandler)

// run runs a loop until the test's end; listening is done before.
func run(t testing.TB, b *Budget, h *handler, listen func(*Loop)) *Loop {
	t.Helper()
	return runLogged(t, b, h, quiet, listen)
}

func runLogged(t testing.TB, b *Budget, h *handler, log *slog.Logger, listen func(*Loop)) *Loop {
	t.Helper()
	l, err := NewLoop(b, h, log)
	if err != nil {
		t.Fatal(err)
	}
	if listen != nil {
		listen(l)
	}
	done := make(chan error, 1)
	go func() {
		err := l.Run()
		l.Free()
		done <- err
	}()
	t.Cleanup(func() {
		l.Stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return l
}

// do has f run on the loop and waits for it.
func do(t testing.TB, l *Loop, f func()) {
	t.Helper()
	done := make(chan struct{})
	l.Do(func() { f(); close(done) })
	receive(t, done)
}

// receive waits for the next value of a channel.
func receive[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}

func until(t testing.TB, is func() bool, format string, args ...any) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: "+format, args...)
		}
	}
}

func local() Address { return Address{AddrPort: netip.MustParseAddrPort("127.0.0.1:0")} }

// listenOn opens a listener of a loop that does not run yet.
func listenOn(t testing.TB, l *Loop, index int, a Address, o Options) Address {
	t.Helper()
	a, err := l.Listen(index, a, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func dialTo(t testing.TB, network, addr string) *net.TCPConn {
	t.Helper()
	d := net.Dialer{Timeout: patience, KeepAlive: -1}
	c, err := d.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

func getInt(t testing.TB, fd, level, option int) int {
	t.Helper()
	v, err := unix.GetsockoptInt(fd, level, option)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func withFD(t testing.TB, c syscall.Conn, do func(fd int) error) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if cerr := raw.Control(func(fd uintptr) { err = do(int(fd)) }); cerr != nil || err != nil {
		t.Fatal(cerr, err)
	}
}

// pair returns a connection: a descriptor that nobody else uses, and its peer.
func pair(t testing.TB) (fd int, peer *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	to := sys.NewAddress(ln.Addr().(*net.TCPAddr).AddrPort())
	fd, e := sys.Dial(&to)
	if fd < 0 {
		t.Fatal(e)
	}
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return fd, c.(*net.TCPConn)
}
