package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// What a virtual server has at its end goes on: another may have its address at once,
// also one that does not forward, and an SNAT address that is no longer given out is
// answered for as long as a server speaks to it.
func TestForwardGoesOn(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c := r.client(1)
	s := c.establish()
	r.Shut(web)
	if r.Listens(web) {
		t.Error("it is closed")
	}
	r.client(2).syn()
	if p, _ := r.client(2).next(); !p.Has(frame.RST) {
		t.Errorf("somebody new gets %+v", p)
	}
	r.listen(web6, Virtual{Listen: at4})
	c.say(s, "still here")
	s.say(c, "so am I")
	r.told = nil
	r.decide = nil
	r.client(3).syn()
	r.want("arrived")
	r.refuse(r.only())

	r.drainServer()
	ask := frame.AppendARPRequest(nil, ether.Router, frame.Broadcast, ptr(frame.Addr(server4.Addr().As16())), ptr(frame.Addr(snat4.As16())))
	r.behind.Send(ask)
	r.settle()
	if n := len(r.behind.Take()); n != 1 {
		t.Errorf("%d answers for an address in use", n)
	}
	c.fin(s)
	s.fin(c)
	if n := len(r.flows); n != 0 {
		t.Errorf("%d flows", n)
	}
	r.told = nil
}

// Who is not served since there is no port or no record left is told apart.
func TestForwardFull(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}}, func(c *Config) { c.Flows = 2 })
	for n := range uint16(3) {
		r.client(n).syn()
	}
	if got := r.totals(); got.FlowsFull != 1 || got.Forwarded != 2 {
		t.Errorf("%+v", got)
	}
	if s := r.fwd.servers[1].pools[snat4.As16()]; s.InUse() != 2 {
		t.Errorf("%d ports in use", s.InUse())
	}
	r.told = nil
}

// A flow that is over and only remembered makes room for one that is not.
func TestForwardReaps(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}}, func(c *Config) { c.Flows = 1 })
	c := r.client(1)
	s := c.establish()
	c.fin(s)
	s.fin(c)
	r.client(2).syn()
	if got := r.totals(); got.FlowsFull != 0 || got.Flows != 1 || got.Lingering != 0 {
		t.Errorf("%+v", got)
	}
	r.told = nil
}

// What is over makes room wherever it is, and wherever the search for it went on.
func TestForwardReapsInFront(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}}, func(c *Config) { c.Flows = 2 })
	c := r.client(1)
	s := c.establish()
	over := r.NextFlow(0)
	r.client(2).establish()
	c.fin(s)
	s.fin(c)
	r.fwd.reaped = r.NextFlow(over) // of some thousands that it has been at, the last
	r.client(3).syn()
	if got := r.totals(); got.FlowsFull != 0 || got.Flows != 2 {
		t.Errorf("%+v", got)
	}
	r.told = nil
}

// A server to which there is no way is as one that refuses.
func TestForwardNoRoute(t *testing.T) {
	r := newForward(t, Virtual{})
	r.owner.to = netip.MustParseAddrPort("203.0.113.1:80")
	r.client(1).syn()
	r.want("arrived", "no way")
	if got := r.totals(); got.NoRoute != 1 {
		t.Errorf("%+v", got)
	}
}

// Times that change hold for connections at once, also at an address that their
// virtual server had before.
func TestForwardTimesChange(t *testing.T) {
	for name, move := range map[string]bool{"same address": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			v := Virtual{Listen: at4, SNAT: []netip.Addr{snat4}, Forward: true, Idle: time.Hour}
			r := newForward(t, v)
			r.client(1).establish()
			r.pass(time.Minute)
			r.want("arrived", "answered")
			if move {
				v.Listen = other4
				r.listen(web, v)
			}
			v.Idle = 10 * time.Second
			r.Change(web, v)
			r.Flows(func(n uint32) { r.Recheck(n, r.now) })
			r.pass(10 * time.Second)
			r.want("over")
			if r.ended[EndIdle] != 1 {
				t.Errorf("ended as %v", r.ended)
			}
		})
	}
}

// A client may use one port towards two virtual servers. If both send it to one server,
// which sees its own address, the second is not let in at the first one's cost.
func TestForwardTwice(t *testing.T) {
	r := newForward(t, Virtual{})
	r.listen(web6, Virtual{Listen: other4, Forward: true})
	c := r.client(1)
	d := r.from(netip.AddrFrom16(c.f.Src).Unmap(), c.f.SrcPort, other4)
	s := c.establish()
	d.syn()
	r.want("arrived", "answered", "arrived", "no way")
	r.noneServer("it has one of these")
	c.say(s, "still here")
	c.fin(s)
	s.fin(c)
	r.want("over")
	if way := r.forward(r.only(), r.now); way != Passed {
		t.Error("it is not let in when the first is over")
	}
	r.told = nil
}

// Whoever had an SNAT address before is forgotten when it is ours.
func TestForwardAnnounced(t *testing.T) {
	r := newForward(t, Virtual{})
	r.Change(web, Virtual{Forward: true, SNAT: []netip.Addr{snat4}})
	r.settle()
	list := r.behind.Take()
	if len(list) != 1 {
		t.Fatalf("%d frames", len(list))
	}
	if a, ok := frame.ParseARP(list[0]); !ok || a.SenderIP != snat4.As16() || a.TargetIP != a.SenderIP {
		t.Errorf("%+v", a)
	}
	r.Change(web, Virtual{Forward: true, SNAT: []netip.Addr{snat4}})
	r.noneServer("nothing has changed")
}

// What is announced of many virtual servers are the addresses of each once.
func TestForwardAnnouncedOnce(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	r.listen(web6, Virtual{Listen: other4, Forward: true, SNAT: []netip.Addr{snat6}})
	r.settle()
	if n := len(r.behind.Take()); n != 1 {
		t.Errorf("%d frames", n)
	}
}
