package proxy

import (
	"net"
	"testing"

	"penstock/stack/tap"
	"penstock/stack/tap/ether"
)

// A client whose connection could not be forwarded waits, and is let in when its
// virtual server does not forward any more. What it has been through goes with it:
// whoever comes next has the same record, and has been through nothing.
func TestForwardNoMore(t *testing.T) {
	s := hold(t)
	var link *ether.Device
	r := start(t, member(s.addr(), 1), tries(250), overTap(&link), func(c *Config) {
		c.Tap.Flows = 100
		c.Virtuals[0].Forward, c.Virtuals[0].SynProof = true, tap.ProofOff
	})
	come := make(chan net.Conn, 1)
	h := host(t, link, 1)
	go func() {
		c, err := dialHost(h, patience)
		if err != nil {
			t.Error(err)
			close(come)
			return
		}
		come <- c
	}()
	tried := func() (n int) {
		r.Isolate(func(int64) {
			for _, w := range r.workers {
				n += len(w.tried)
			}
		})
		return n
	}
	until(t, func() bool { return tried() == 1 }, "its server could not be reached")
	r.Isolate(func(int64) {
		v := r.virtuals[0]
		v.Forward = false
		r.SetVirtual(0, v)
	})
	c := <-come
	if c == nil {
		return
	}
	defer c.Close()
	defer s.next(t).Close()
	if n := tried(); n != 0 {
		t.Errorf("%d have been through something", n)
	}
}
