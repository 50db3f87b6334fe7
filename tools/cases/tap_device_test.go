package cases

import (
	"bytes"
	"os"
	"testing"
	"time"

	"penstock/tools/impair"
)

// A device that is set down, or deleted, is told of once and waited for. Who
// is connected or parked when it is set down does not notice, if it is up again
// in time; and the process has nothing to do meanwhile.
func TestTapDeviceDown(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(1)}, grumbles: true}.start(t)
	v := p.fill(a, 1)[0]
	parked := p.polite(1)[0]
	p.awaitDepth(1)
	p.link.ip("link set DEV down")
	p.awaitLine("is down")
	p.rests("without its device", 0.1*raceFactor, time.Second)
	v.greet() // it is lost, and sent again
	p.link.address()
	p.awaitLine("is back")
	v.end()
	w := a.next(patience)
	w.greet()
	parked.connected(patience)
	w.end()
	p.fill(a, 1)[0].end()
	if n := p.linesWith("is down"); n != 1 {
		t.Errorf("it says so %d times", n)
	}
}

// The same for one that is deleted. It was not made by penstock, which waits
// until there is one again, and speaks for its addresses then.
func TestTapDeviceDeleted(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", hold)
	p := setup{members: []string{a.limit(5)}, grumbles: true}.start(t)
	for range 2 {
		before := p.linesWith("is back")
		c := p.connect()
		c.served(patience)
		p.link.remove()
		await(t, patience, "it is noticed", func() bool { return p.linesWith("was deleted") == before+1 })
		c.Close()
		p.link.make()
		await(t, patience, "it is back", func() bool { return p.linesWith("is back") == before+1 })
		d := p.connect()
		d.served(3 * time.Second)
		d.Close()
	}
	p.rests("with its device", 0.1*raceFactor, time.Second)
	p.tidy = false // nobody tells it that the first two have gone
}

// One that penstock made itself is made again.
func TestTapDeviceOfItsOwn(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", hold)
	l := noLink(t)
	p := setup{members: []string{a.limit(5)}, grumbles: true, link: l}.start(t)
	l.address()
	p.connect().served(patience)
	l.remove()
	p.awaitLine("is back")
	l.address()
	p.connect().served(3 * time.Second)
	p.tidy = false
}

// Who was there before is told at once which Ethernet address an address has:
// by a gratuitous ARP, and an unsolicited neighbour advertisement.
func TestTapAnnounces(t *testing.T) {
	tapOnly(t)
	t.Parallel()
	a := listen(t, "A", hold)
	l := newLink(t)
	f, err := impair.OpenPacket(l.dev)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := setup{members: []string{a.limit(5)}, link: l, flags: []string{"-virtual", "six,listen=[::1]:0,pool=q", "-pool", "q,monitor=none"}}.start(t)
	p.awaitLine("virtual=six")
	four, six := l.virtual(false).As4(), l.virtual(true).As16()
	var arp, advert bool
	for end := time.Now().Add(patience); !arp || !advert; {
		b := make([]byte, 2048)
		f.SetReadDeadline(end)
		n, err := f.Read(b)
		if os.IsTimeout(err) {
			t.Fatalf("ARP %v, advertisement %v", arp, advert)
		}
		b = b[:max(n, 0)]
		switch {
		case n >= 42 && b[12] == 8 && b[13] == 6:
			arp = arp || bytes.Equal(b[28:32], four[:]) && bytes.Equal(b[38:42], four[:]) && b[0] == 0xff
		case n >= 78 && b[12] == 0x86 && b[20] == 58 && b[54] == 136:
			advert = advert || bytes.Equal(b[62:78], six[:]) && b[58]&0x40 == 0
		}
	}
}
