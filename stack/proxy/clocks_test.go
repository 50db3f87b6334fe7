package proxy

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock/stack/kernel"
)

// think is a pause in which a clock that has run out would be seen.
const think = 50 * time.Millisecond

// A connection may be silent for longer than half-close-timeout before one
// side says its last: the clock of the other starts then.
func TestHalfCloseAfterSilence(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), halfClose(never))
	c := r.dial()
	up := s.next(t)
	pass(t, c, up)
	r.age(2 * never)
	c.CloseWrite()
	wantEOF(t, up, "")
	time.Sleep(think)
	write(t, up, "answer")
	up.Close()
	wantEOF(t, c, "answer")
}

// C28: any byte, either way, starts the idle clock again; silence ends.
func TestC28IdleTimeout(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 0), idle(never))
	c := r.dial()
	up := s.next(t)
	for i := range 8 {
		r.age(never * 3 / 4)
		if i%4 < 3 {
			write(t, up, "d")
			wantBytes(t, c, "d")
		} else {
			write(t, c, "u")
			wantBytes(t, up, "u")
		}
	}
	time.Sleep(think)
	r.age(never * 3 / 4)
	r.age(never / 4)
	wantReset(t, c, "")
	wantReset(t, up, "")
	if e := r.wantEnd(Idle); e.Closer != "proxy" || e.Down != 6 || e.Up != 2 {
		t.Errorf("%+v", e)
	}
}

// C25: the time parked is charged to no other clock.
func TestC25ClocksAreSeparate(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1), idle(never), pool(func(p *Pool) { p.ConnectTimeout = never / 2 }))
	holder := r.dial()
	first := s.next(t)
	waiter := r.park()
	for range 10 { // longer than any of the two clocks
		pass(t, holder, first)
		r.age(never / 2)
	}
	leave(t, holder, first)
	up := s.next(t)
	time.Sleep(think)
	r.age(never / 2) // a silence that is allowed
	time.Sleep(think)
	pass(t, waiter, up)
	r.wantEnd(Served)
	r.age(never)
	if e := r.wantEnd(Idle); e.Wait < 5*never || e.Left != "served" || e.Position != 1 {
		t.Errorf("%+v", e)
	}
}

// C50: a peer that no longer acknowledges is a silent one, however much the
// other side sends.
func TestC50VanishedPeer(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 1), idle(never))
	c := r.dial()
	up := s.next(t)
	pass(t, c, up)
	waiter := r.park()
	dropAll(t, c)
	go up.ReadFrom(endless{})
	r.isolated(func(int64) {
		v := r.virtuals[0]
		v.IdleTimeout = 300 * time.Millisecond
		r.SetVirtual(0, v)
	})
	write(t, waiter, "x")
	wantBytes(t, s.next(t), "x")
	if e := r.wantEnd(Idle); e.Client != addrPort(c.LocalAddr()) {
		t.Errorf("%+v", e)
	}
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
	begun := time.Now()
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
	early := time.Since(begun) < optionsAfter
	if client != want || early && server[0] != 0 {
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
