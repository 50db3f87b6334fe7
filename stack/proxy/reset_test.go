package proxy

import (
	"io"
	"strings"
	"testing"
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
