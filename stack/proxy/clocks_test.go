package proxy

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/kernel"
)

// A connection may be silent for longer than half-close-timeout before one
// side says its last: the clock of the other starts then.
func TestHalfCloseAfterSilence(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), halfClose(time.Second))
	c := r.dial()
	up := s.next(t)
	pass(t, c, up)
	time.Sleep(1200 * time.Millisecond) // silence is what is tested
	c.CloseWrite()
	wantEOF(t, up, "")
	time.Sleep(100 * time.Millisecond) // the server thinks
	write(t, up, "answer")
	up.Close()
	wantEOF(t, c, "answer")
}

// C28: any byte, either way, starts the idle clock again; silence ends.
func TestC28IdleTimeout(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), idle(time.Second))
	c := r.dial()
	up := s.next(t)
	for i := range 8 {
		if i%4 < 3 {
			write(t, up, "d")
			wantBytes(t, c, "d")
		} else {
			write(t, c, "u")
			wantBytes(t, up, "u")
		}
		time.Sleep(250 * time.Millisecond) // silence is what is tested
	}
	last := time.Now()
	wantReset(t, c, "")
	wantReset(t, up, "")
	if d := time.Since(last); d < 500*time.Millisecond || d > 2*atOnce {
		t.Errorf("ended %v after the last look, want about 750 ms", d)
	}
	if e := r.wantEnd(Idle); e.Closer != "proxy" || e.Down != 6 || e.Up != 2 {
		t.Errorf("%+v", e)
	}
}

// C25: the time parked is charged to no other clock.
func TestC25ClocksAreSeparate(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1), idle(time.Second), pool(func(p *Pool) { p.ConnectTimeout = 500 * time.Millisecond }))
	holder := r.dial()
	first := s.next(t)
	waiter := r.park()
	for range 10 { // longer than any of the two clocks
		pass(t, holder, first)
		time.Sleep(150 * time.Millisecond)
	}
	holder.Close()
	wantEOF(t, first, "")
	first.Close()
	up := s.next(t)
	time.Sleep(300 * time.Millisecond) // a silence that is allowed
	pass(t, waiter, up)
	r.wantEnd(Served)
	if e := r.wantEnd(Idle); e.Wait < time.Second || e.Left != "served" || e.Position != 1 {
		t.Errorf("%+v", e)
	}
}

// C50: a peer that no longer acknowledges is a silent one, however much the
// other side sends.
func TestC50VanishedPeer(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1), idle(500*time.Millisecond))
	c := r.dial()
	up := s.next(t)
	pass(t, c, up)
	waiter := r.park()
	dropAll(t, c)
	begun := time.Now()
	up.SetWriteDeadline(time.Now().Add(patience))
	go up.ReadFrom(endless{})
	pass(t, waiter, s.next(t))
	if d := time.Since(begun); d > 2*time.Second {
		t.Errorf("the slot was free after %v, want 0.5 s", d)
	}
	r.wantEnd(Idle)
}

// endless reads as zeros without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// The server's side is given keep-alive and the like once a connection has
// lasted; the client's side has them from the start.
func TestOptionsOfBothSides(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), loops(1), virtual(func(v *Virtual) {
		v.Options = kernel.Options{Keepalive: 30 * time.Second, UserTimeout: time.Minute}
	}))
	c := r.dial()
	pass(t, c, s.next(t))
	options := func() (client, server [2]int) {
		done := make(chan struct{})
		w := r.workers[0]
		w.loop.Do(func() {
			defer close(done)
			c := w.clients.At(1)
			client, server = optionsOf(t, c.side.FD), optionsOf(t, w.pairs.At(c.pair).server.FD)
		})
		<-done
		return client, server
	}
	want := [2]int{1, 60_000}
	client, server := options()
	if client != want || server[0] != 0 {
		t.Errorf("client %v, server %v; want %v and none yet", client, server, want)
	}
	until(t, func() bool { _, server = options(); return server == want }, "options at the server's side")
}

// optionsOf returns SO_KEEPALIVE and TCP_USER_TIMEOUT.
func optionsOf(t testing.TB, fd int32) (o [2]int) {
	for i, name := range [][2]int{{unix.SOL_SOCKET, unix.SO_KEEPALIVE}, {unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT}} {
		var err error
		if o[i], err = unix.GetsockoptInt(int(fd), name[0], name[1]); err != nil {
			t.Error(err)
		}
	}
	return o
}
