package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/device"
	"penstock/stack/tap/frame"
)

// The servers' device goes away and comes back: what was connected goes on, who waits
// for a server gets it, and the link is told where our addresses are.
func TestForwardDeviceGone(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	c, d := r.client(1), r.client(2)
	s := c.establish()
	r.behind.Set(device.Gone)
	r.pass(1500 * time.Millisecond)
	if _, there, _ := r.Servers(); there {
		t.Error("the device is there")
	}
	c.send(frame.ACK, "lost")
	d.syn()
	r.pass(500 * time.Millisecond)
	if got := r.totals().Servers; got.Up || got.OutDrops == 0 {
		t.Errorf("%+v", got)
	}
	r.behind.Set(device.Up)
	r.pass(1500 * time.Millisecond)
	announced := 0
	for _, b := range r.behind.Take() {
		if a, ok := frame.ParseARP(b); ok && a.SenderIP == a.TargetIP {
			announced++
		}
		r.unreadServer = append(r.unreadServer, b)
	}
	if announced != 2 {
		t.Errorf("%d addresses were announced", announced)
	}
	e, _ := r.serverSyn()
	e.answer()
	d.synAck()
	c.say(s, "lost")
	s.say(c, "found")
	r.told = nil
}

// Who does not answer a SYN may have moved: it is asked whether it is still there.
func TestForwardSilentServerIsLookedFor(t *testing.T) {
	r := newForward(t, Virtual{SNAT: []netip.Addr{snat4}})
	r.client(1).syn()
	r.serverSyn()
	r.pass(3 * time.Second)
	r.drainServer()
	r.pass(3 * time.Second)
	r.told = nil
	asked := 0
	for range 2 {
		r.pass(time.Second)
		for _, b := range r.behind.Take() {
			if a, ok := frame.ParseARP(b); ok && a.Op == frame.ARPRequest && a.TargetIP == frame.Addr(server4.Addr().As16()) {
				asked++
			}
		}
	}
	if asked == 0 {
		t.Error("nobody asked where it is")
	}
}
