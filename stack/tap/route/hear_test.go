package route

import (
	"testing"

	"penstock/stack/tap/frame"
)

// What is heard counts only for who is wanted, and only if it can be true.
func TestHeard(t *testing.T) {
	r, n := one(t)
	other := addr("198.18.5.77")
	r.Heard(&other, host, 0)
	r.Heard(&server, frame.Broadcast, 0)
	r.Heard(&server, frame.MAC{}, 0)
	r.Heard(&server, own, 0)
	is(t, r, n, 0, frame.MAC{}, false)
	if l := r.Neighbours(0); len(l) != 1 {
		t.Error(l)
	}
	r.Heard(&server, host, 0)
	r.Heard(&server, next, ms) // it moved
	is(t, r, n, 0, next, false)
}

func TestARP(t *testing.T) {
	for name, a := range map[string]frame.ARPMessage{
		"reply":        {Op: frame.ARPReply, Sender: host, SenderIP: server, Target: own, TargetIP: addr("198.18.5.1")},
		"request":      {Op: frame.ARPRequest, Sender: host, SenderIP: server, TargetIP: addr("198.18.5.9")},
		"announcement": {Op: frame.ARPRequest, Sender: host, SenderIP: server, TargetIP: server},
	} {
		r, n := one(t)
		r.ARP(&a, 0)
		if m, _ := r.MAC(n, 0); m != host {
			t.Errorf("%s: %v", name, m)
		}
	}
	r, n := one(t)
	r.ARP(&frame.ARPMessage{Op: frame.ARPRequest, Sender: host, TargetIP: server}, 0) // a probe
	is(t, r, n, 0, frame.MAC{}, false)
}

// RFC 4861 7.2.3 and 7.2.5.
func TestNeighbor(t *testing.T) {
	all := addr("ff02::1")
	solicited := frame.NeighborMessage{Advert: true, Solicited: true, From: next, Src: serv6, Target: serv6}
	for _, c := range []struct {
		name      string
		was, then frame.MAC
		n         frame.NeighborMessage
	}{
		{"solicitation", frame.MAC{}, next, frame.NeighborMessage{HasLink: true, Link: next, From: host, Src: serv6, Target: addr("2001:db8:5::1")}},
		{"solicitation of who moved", host, next, frame.NeighborMessage{HasLink: true, Link: next, From: next, Src: serv6}},
		{"solicitation without an address", frame.MAC{}, frame.MAC{}, frame.NeighborMessage{From: next, Src: serv6}},
		{"advertisement to all", host, next, frame.NeighborMessage{Advert: true, Override: true, HasLink: true, Link: next, From: next, Src: serv6, Dst: all, Target: serv6}},
		{"advertisement by proxy", host, host, frame.NeighborMessage{Advert: true, HasLink: true, Link: next, From: next, Target: serv6}},
		{"advertisement by proxy of who is not known", frame.MAC{}, next, frame.NeighborMessage{Advert: true, HasLink: true, Link: next, From: next, Target: serv6}},
		{"answer without an address", frame.MAC{}, next, solicited},
		{"answer without an address, from elsewhere", host, host, solicited},
		{"advertisement that says nothing", frame.MAC{}, frame.MAC{}, frame.NeighborMessage{Advert: true, From: next, Target: serv6}},
	} {
		r := New(Config{Own: us, MAC: own})
		n, _ := r.Hop(&serv6)
		if c.was != (frame.MAC{}) {
			r.Heard(&serv6, c.was, 0)
		}
		r.Neighbor(&c.n, 10*second)
		if m, _ := r.MAC(n, 0); m != c.then {
			t.Errorf("%s: %v", c.name, m)
		}
		if asked, _ := r.Ask(n, 10*second, nil); (len(asked) > 0) != (c.was == c.then) {
			t.Errorf("%s: asked %x", c.name, asked)
		}
	}
}
