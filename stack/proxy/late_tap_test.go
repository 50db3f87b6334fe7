package proxy

import (
	"io"
	"sync/atomic"
	"testing"
	"time"

	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// A client that has completed its handshake in time is served, though the machine
// stands still before that is read, and much lies in front of it.
func TestUnreadAnswerIsNoSilence(t *testing.T) {
	s := hold(t)
	var link *ether.Device
	var answer atomic.Pointer[[]byte]
	var kept atomic.Bool
	r := start(t, member(s.addr(), 1), loops(1), overTap(&link), func(*Config) {
		link.Watch = func(b []byte, to bool) bool {
			var p frame.Packet
			if !to || kept.Load() || p.Parse(b, ether.Own) != frame.TCP || p.Flags != frame.ACK {
				return false
			}
			answer.Store(&b)
			return true
		}
	})
	c, err := dialHost(host(t, link, 1), patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	until(t, func() bool { return answer.Load() != nil }, "the client's answer")
	r.Isolate(func(int64) {
		time.Sleep(shakeTime + 200*time.Millisecond)
		for range 1000 {
			link.Send(frame.AppendGratuitousARP(nil, ether.Router, &frame.Addr{}))
		}
		kept.Store(true)
		link.Send(*answer.Load())
	})
	server := s.next(t)
	write(t, server, "hello")
	server.Close()
	c.SetDeadline(time.Now().Add(patience))
	if b, err := io.ReadAll(c); string(b) != "hello" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
	c.Close()
	r.end()
}
