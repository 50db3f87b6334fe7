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
		reset(up)
		wantReset(t, c, hundred)
		if e := r.wantEnd(ServerReset); e.Down != 100_000 {
			t.Errorf("%d bytes down", e.Down)
		}
	})
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
