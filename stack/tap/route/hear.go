package route

import "penstock/stack/tap/frame"

// ARP takes note of where the sender of a message is, whatever it wants.
func (t *Table) ARP(a *frame.ARPMessage, now int64) {
	t.Heard(&a.SenderIP, a.Sender, now)
}

// Neighbor does the same for IPv6 (RFC 4861 7.2.3 and 7.2.5): where who asks is,
// or where who is advertised is. An advertisement that does not want to override
// does not change what is known, but has it confirmed.
func (t *Table) Neighbor(n *frame.NeighborMessage, now int64) {
	switch {
	case !n.Advert && n.HasLink:
		t.Heard(&n.Src, n.Link, now)
	case n.Advert && n.HasLink:
		t.heard(&n.Target, n.Link, n.Override, now)
	case n.Advert && n.Solicited: // who was asked by unicast may leave it out
		t.heard(&n.Target, n.From, false, now)
	}
}

// Heard takes note of where an address is, by who has it or says so. If nobody
// ever wanted to know, nothing is kept.
func (t *Table) Heard(a *frame.Addr, mac frame.MAC, now int64) { t.heard(a, mac, true, now) }

func (t *Table) heard(a *frame.Addr, mac frame.MAC, override bool, now int64) {
	h := t.index.Load().find(a)
	if h == nil || mac.Group() || mac == (frame.MAC{}) || mac == t.mac {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = now
	if was, ok := h.mac(); override || !ok || was == mac {
		h.hear(mac, now)
	} else {
		h.doubt(now)
	}
}
