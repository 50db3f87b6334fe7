package proxy

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// C48: FIN stays FIN and reset stays reset, both ways.
func TestC48FinAndReset(t *testing.T) {
	hundred := strings.Repeat("h", 100_000)
	t.Run("client FIN", func(t *testing.T) {
		s := hold(t)
		r := start(t, member(s.addr(), 0))
		c := r.dial()
		up := s.next(t)
		go func() { io.WriteString(c, hundred); c.Close() }()
		wantEOF(t, up, hundred)
		up.Close()
		r.wantEnd(Served)
	})
	t.Run("client reset", func(t *testing.T) {
		s := hold(t)
		r := start(t, member(s.addr(), 0))
		c := r.dial()
		up := s.next(t)
		pass(t, c, up)
		reset(c)
		wantReset(t, up, "")
		r.wantEnd(ClientReset)
	})
	t.Run("server FIN", func(t *testing.T) {
		s := hold(t)
		r := start(t, member(s.addr(), 0))
		c := r.dial()
		up := s.next(t)
		go func() { io.WriteString(up, hundred); up.Close() }()
		wantEOF(t, c, hundred)
		c.Close()
		r.wantEnd(ServerEnd)
	})
	t.Run("server reset", func(t *testing.T) {
		s := hold(t)
		r := start(t, member(s.addr(), 0))
		c := r.dial()
		up := s.next(t)
		write(t, up, hundred)
		until(t, func() bool { return unacked(t, up) == 0 }, "all of it at the proxy") // a reset drops what is not
		reset(up)
		wantReset(t, c, hundred)
		if e := r.wantEnd(ServerReset); e.Down != 100_000 {
			t.Errorf("%d bytes down", e.Down)
		}
	})
}

// A server that has closed may be forgotten by its machine long before a slow client
// has all bytes: what comes late for it, a keep-alive probe or a larger window, is
// answered with a reset. Its stream ended well all the same, and the client gets
// the FIN. The slot is free at the reset.
func TestResetBehindServerFIN(t *testing.T) {
	hundred := strings.Repeat("f", 100_000)
	for _, more := range []bool{false, true} {
		s := hold(t)
		r := startStill(t, member(s.addr(), 1))
		c := r.dial()
		up := s.next(t)
		pass(t, c, up)
		waiter := r.park()
		write(t, up, hundred[:20_000])
		r.hold()
		write(t, up, hundred[20_000:50_000])
		up.CloseWrite()
		until(t, func() bool { return unacked(t, up) == 0 }, "all of it, and the FIN, at the proxy")
		reset(up)
		r.untilBroken(1)
		if more { // what the client says now is lost, and it has to learn that
			write(t, c, "more")
			until(t, func() bool { return unacked(t, c) == 0 }, "it at the proxy")
		}
		r.run()
		pass(t, waiter, s.next(t))
		if more {
			if got, err := io.ReadAll(c); string(got) != hundred[:50_000] || err != nil && !isReset(err) {
				t.Errorf("%d bytes, then %v", len(got), err)
			}
			r.wantEnd(ServerReset)
			until(t, func() bool { _, err := c.Write([]byte{1}); return err != nil }, "the reset at the client")
			continue
		}
		wantEOF(t, c, hundred[:50_000])
		c.Close()
		if e := r.wantEnd(ServerEnd); e.Closer != "server" || e.Down != 50_004 {
			t.Errorf("%+v", e)
		}
	}
}

// What the server sent before its reset reaches a client that reads slowly,
// too; the slot does not wait for that.
func TestResetBehindSlowReader(t *testing.T) {
	hundred := strings.Repeat("s", 100_000)
	s := hold(t)
	r := start(t, member(s.addr(), 1))
	c := r.dial()
	up := s.next(t)
	pass(t, c, up)
	waiter := r.park()
	write(t, up, hundred)
	until(t, func() bool { return unacked(t, up) == 0 }, "all of it at the proxy")
	reset(up)
	pass(t, waiter, s.next(t))
	got, err := io.ReadAll(&slowly{Reader: c, piece: 10_000, pause: 20 * time.Millisecond})
	if string(got) != hundred || !isReset(err) {
		t.Errorf("%d bytes, %v; want %d and a reset", len(got), err, len(hundred))
	}
	r.wantEnd(ServerReset)
}

func unacked(t testing.TB, c *net.TCPConn) (n int) {
	withFD(t, c, func(fd int) (err error) {
		n, err = unix.IoctlGetInt(fd, unix.SIOCOUTQ)
		return err
	})
	return n
}
