package proxy

import (
	"net"
	"testing"
)

// A server that speaks and resets before the loop has seen that it is
// connected: its words reach the client all the same, then the reset.
func TestServerSpeaksAndResetsAtOnce(t *testing.T) {
	ln := listen(t, "127.0.0.1:0")
	defer ln.Close()
	r := startStill(t, member(addrOf(ln), 1))
	spoken := make(chan struct{})
	go func() {
		defer close(spoken)
		c, err := ln.AcceptTCP()
		if err != nil {
			t.Error(err)
			return
		}
		write(t, c, "too many connections")
		reset(c)
	}()
	var c *net.TCPConn
	r.on(func(w *worker) {
		// Accepted by hand, so that the loop is held when the server resets.
		c = dialTo(t, r.addr())
		r.untilQueued(0, 1)
		w.loop.DrainBacklog()
		<-spoken
	})
	wantReset(t, c, "too many connections")
	r.wantEnd(ServerReset)
}
