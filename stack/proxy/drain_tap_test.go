package proxy

import (
	"io"
	"sync/atomic"
	"testing"
	"time"

	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// What was said to a client on a TAP device is in our own netstack when its session
// is over, and ends with us: the drain lasts until the client has it.
func TestDrainDelivers(t *testing.T) {
	for name, cut := range map[string]bool{"delivered": false, "cut": true} {
		t.Run(name, func(t *testing.T) { drainDelivers(t, cut) })
	}
}

func drainDelivers(t *testing.T, cut bool) {
	s := hold(t)
	var link *ether.Device
	var lose atomic.Bool
	r := start(t, member(s.addr(), 1), overTap(&link), func(*Config) {
		link.Watch = func(b []byte, to bool) bool {
			var p frame.Packet
			return !to && lose.Load() && p.Parse(b, frame.MAC(b[:6])) == frame.TCP
		}
	})
	c, err := dialHost(host(t, link, 1), patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	server := s.next(t)
	c.CloseWrite()
	wantEOF(t, server, "")
	lose.Store(true)
	write(t, server, "answer")
	server.Close()
	r.end()
	drained := r.Drain()
	r.Isolate(func(int64) {}) // each loop has had a turn since
	select {
	case <-drained:
		t.Fatal("drained, and the client has not got its answer")
	default:
	}
	if cut {
		r.Cut()
	} else {
		lose.Store(false)
		c.SetDeadline(time.Now().Add(patience))
		if b, err := io.ReadAll(c); string(b) != "answer" || err != nil {
			t.Errorf("got %q, %v", b, err)
		}
	}
	select {
	case <-drained:
	case <-time.After(patience):
		t.Error("not drained, and there is nothing left to do")
	}
}
