package kernel

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// A listener that is opened while the loop runs accepts; closed again, it
// refuses, and its neighbour is not touched.
func TestListenAndCloseLater(t *testing.T) {
	var first Address
	l, clients := accepting(t, func(l *Loop) { first = listenOn(t, l, 1, local(), Options{}) })
	var second Address
	do(t, l, func() { second = held(t, listenOn(t, l, 2, local(), Options{})) })
	dialTo(t, "tcp", second.String())
	if c := receive(t, clients); c.listener != 2 {
		t.Errorf("accepted at listener %d, want 2", c.listener)
	} else {
		unix.Close(c.fd)
	}
	do(t, l, func() {
		for _, fd := range l.Listeners(2) {
			l.CloseListener(fd)
		}
		if n := len(l.Listeners(1)); n != 1 || len(l.Listeners(2)) != 0 {
			t.Errorf("%d listeners are left at index 1, want 1", n)
		}
	})
	if c, err := net.Dial("tcp", second.String()); err == nil {
		c.Close()
		t.Error("somebody listens still")
	}
	dialTo(t, "tcp", first.String())
	unix.Close(receive(t, clients).fd)
}

// Who got through the handshake is accepted before the listener is closed.
func TestDrainListener(t *testing.T) {
	l, clients := accepting(t, nil)
	var at Address
	const n = 20
	do(t, l, func() { // the loop stands still meanwhile
		at = listenOn(t, l, 3, local(), Options{})
		for range n {
			dialTo(t, "tcp", at.String())
		}
		fd := l.Listeners(3)[0]
		queued(t, fd, n)
		l.DrainListener(fd)
		l.CloseListener(fd)
	})
	for range n {
		unix.Close(receive(t, clients).fd)
	}
}

// A loop that pauses accepts nobody at a listener that is opened meanwhile,
// and goes on with all of them.
func TestListenWhilePaused(t *testing.T) {
	b := NewBudget(100, 1, nil)
	k := newKeeper()
	b.resume = func() { k.l.Wake() }
	var at Address
	k.l = run(t, b, &k.handler, func(l *Loop) { at = listenOn(t, l, 0, local(), Options{}) })
	t.Cleanup(func() { do(t, k.l, func() { k.l.CloseListeners(); k.dropAll() }) })
	dialTo(t, "tcp", at.String())
	receive(t, k.accepted)
	dialTo(t, "tcp", at.String())
	until(t, func() (paused bool) { do(t, k.l, func() { paused = k.l.paused }); return paused }, "the pause")
	var later Address
	do(t, k.l, func() { later = listenOn(t, k.l, 1, local(), Options{}) })
	dialTo(t, "tcp", later.String())
	for range 2 {
		select {
		case <-k.accepted:
			t.Fatal("more clients than allowed")
		case <-time.After(20 * time.Millisecond):
		}
		do(t, k.l, k.dropAll)
		receive(t, k.accepted)
	}
}

// Options of a listener that are changed go to the clients that come then.
func TestSetOptions(t *testing.T) {
	var at Address
	l, clients := accepting(t, func(l *Loop) { at = listenOn(t, l, 0, local(), Options{Keepalive: time.Minute}) })
	next := func() (keepalive, user int) {
		dialTo(t, "tcp", at.String())
		c := receive(t, clients)
		defer unix.Close(c.fd)
		return option(t, c.fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE), option(t, c.fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	}
	if k, u := next(); k != 1 || u != 0 {
		t.Errorf("keep-alive %d, user timeout %d", k, u)
	}
	do(t, l, func() { l.SetOptions(l.Listeners(0)[0], Options{UserTimeout: 7 * time.Second}) })
	if k, u := next(); k != 0 || u != 7000 {
		t.Errorf("keep-alive %d, user timeout %d; want 0 and 7000", k, u)
	}
}

func option(t testing.TB, fd, level, name int) int {
	t.Helper()
	v, err := unix.GetsockoptInt(fd, level, name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What is due after a long stay in Do is due by the time at its end.
func TestTurnAfterDo(t *testing.T) {
	var at int64
	h := &handler{accepted: func(int, int, sys.Peer) {}}
	h.turn = func(now int64) int64 { at = now; return 0 }
	l := run(t, roomy(), h, nil)
	var left int64
	do(t, l, func() {
		for begun := Clock(); left-begun < int64(5*time.Millisecond); left = Clock() {
		}
	})
	do(t, l, func() {
		if at < left {
			t.Errorf("the turn was at %d, before Do's end at %d", at, left)
		}
	})
}
