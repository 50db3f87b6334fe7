package tap

import (
	"net/netip"
	"testing"
	"time"

	"penstock/stack/tap/ether"
	"penstock/stack/tap/frame"
)

// A virtual server that is closed takes nobody, but who is there goes on, and
// its address is ours until the last one is through.
func TestShut(t *testing.T) {
	r := newRig(t)
	parked, leaves, late := r.client(1), r.client(2), r.client(3)
	parked.syn()
	leaves.syn()
	r.want("arrived", "arrived")
	r.Shut(web)
	if r.Listens(web) {
		t.Error("still listens")
	}
	late.syn()
	late.wantReset()
	parked.after(time.Second).syn() // known, and says nothing new
	leaves.after(0).syn()
	r.want()
	leaves.rst(leaves.seq)
	r.want("left")
	r.release(r.only(), r.now)
	conn := parked.connect()
	r.want("connected")
	if len(r.places) != 0 {
		t.Error("the place is kept for nobody")
	}
	late.syn()
	late.wantReset() // by netstack now
	r.hangup(conn, true, r.now)
	if p, _ := parked.next(); !p.Has(frame.FIN) {
		t.Errorf("%+v is no FIN", p)
	}
}

// The last client of a closed virtual server begins anew, parked or released:
// there is nobody any more who would take it.
func TestShutAndLastBeginsAnew(t *testing.T) {
	for name, word := range map[string]string{"parked": "left", "released": "broken"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c := r.client(1)
			c.syn()
			r.want("arrived")
			if word == "broken" {
				r.release(r.only(), r.now)
				c.next()
			}
			r.Shut(web)
			c.seq += 1 << 20
			c.syn()
			r.want(word)
			c.wantReset()
		})
	}
}

// A virtual server that moves takes clients at its new address, and those of the
// old one go on.
func TestMoved(t *testing.T) {
	r := newRig(t)
	parked := r.client(1)
	parked.syn()
	r.listen(web, Virtual{Listen: other4})
	if !announced(r, other4.Addr()) {
		t.Error("the new address is not announced")
	}
	there, late := r.from(netip.MustParseAddr("198.18.7.9"), 20001, other4), r.client(2)
	there.syn()
	late.syn()
	late.wantReset()
	r.want("arrived", "arrived")
	for i := range r.records {
		if r.Virtual(i) != web {
			t.Errorf("record %d is virtual server %d's", i, r.Virtual(i))
		}
		r.release(i, r.now)
	}
	parked.connect()
	there.connect()
	if !r.Listens(web) || len(r.places) != 1 {
		t.Errorf("listens %v, places %v", r.Listens(web), r.places)
	}
	r.listen(web, Virtual{Listen: at4}) // and back
	late.syn()
	r.want("connected", "connected", "arrived")
}

// A virtual server goes and comes again before the last client went.
func TestReopened(t *testing.T) {
	r := newRig(t)
	c := r.client(1)
	c.syn()
	r.Shut(web)
	if err := r.Listen(web+1, Virtual{Listen: at4}); err == nil {
		t.Error("another one took the address of clients that are there")
	}
	r.listen(web, Virtual{Listen: at4, Silent: true})
	d := r.client(2)
	d.syn()
	r.want("arrived", "arrived")
	if l := r.listenerOf(r.table.Next(0)); !l.Silent || l.records != 2 {
		t.Errorf("%+v", l)
	}
}

// Two can't have one address, unless they are at different ports.
func TestListenConflicts(t *testing.T) {
	r := newRig(t)
	if err := r.Listen(web+1, Virtual{Listen: at4}); err == nil {
		t.Error("two listen on one address")
	}
	r.listen(web+1, Virtual{Listen: netip.AddrPortFrom(at4.Addr(), 81)})
	c := r.from(netip.MustParseAddr("198.18.7.9"), 5, netip.AddrPortFrom(at4.Addr(), 81))
	c.syn()
	r.want("arrived")
	if id := r.Virtual(r.only()); id != web+1 {
		t.Errorf("arrived at %d", id)
	}
	r.Shut(web)
	r.listen(web+2, Virtual{Listen: at4}) // nobody was there
	r.client(1).syn()
	r.want("arrived")
}

// Numbers of listeners are used again.
func TestListenersComeAndGo(t *testing.T) {
	r := newRig(t)
	for range 100 {
		r.listen(web+1, Virtual{Listen: other4})
		r.from(netip.MustParseAddr("198.18.7.9"), 5, other4).syn()
		r.Shut(web + 1)
		r.free(r.only())
	}
	if n := len(r.listeners); n > 3 {
		t.Errorf("%d listeners", n)
	}
}

// While we drain, those that are there go on, and nobody new comes in.
func TestDrain(t *testing.T) {
	r := newRig(t)
	c, late := r.client(1), r.client(2)
	c.syn()
	r.Drain()
	late.syn()
	late.wantReset()
	c.after(time.Second).syn()
	r.want("arrived")
	r.release(r.only(), r.now)
	c.connect()
	r.want("connected")
}

// announced says whether the link was told where an address is.
func announced(r *rig, a netip.Addr) bool {
	var all []frame.Addr
	r.unread = append(r.unread, r.dev.Take()...)
	for _, b := range r.unread {
		if m, ok := frame.ParseARP(b); ok && m.SenderIP == m.TargetIP && m.Sender == ether.Own {
			all = append(all, m.SenderIP)
		}
		if m, ok := frame.ParseNeighbor(b); ok && m.Advert && m.Link == ether.Own && frame.MAC(b[:6]).Group() {
			all = append(all, m.Target)
		}
	}
	for _, x := range all {
		if netip.AddrFrom16(x).Unmap() == a {
			return true
		}
	}
	return false
}
