package proxy

import (
	"net"
	"testing"
	"time"
)

// Cut ends all: those connected, parked, dialling, starved and refused.
func TestCut(t *testing.T) {
	s := hold(t)
	r := start(t, member(s.addr(), 2), loops(4))
	var clients []*net.TCPConn
	for range 2 {
		clients = append(clients, r.dial())
		s.next(t)
	}
	for range 20 {
		clients = append(clients, r.park())
	}
	drained := r.Drain()
	r.Cut()
	for _, c := range clients {
		wantReset(t, c, "")
	}
	select {
	case <-drained:
	case <-time.After(patience):
		t.Fatalf("%d clients are left", r.Clients())
	}
	for range clients {
		if e := r.end(); e.Closer != "proxy" || e.Code != Drained {
			t.Errorf("%+v", e)
		}
	}
	r.checkIdle()
}
