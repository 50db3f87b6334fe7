package route

import (
	"net/netip"

	"penstock/stack/tap/frame"
)

// Config says what is on the servers' link. IPv4 addresses are not in the mapped
// form.
type Config struct {
	Own      []netip.Prefix // our addresses, each with the network that is reached without a gateway
	Gateways []netip.Addr   // for all others: the first of each family counts
	MAC      frame.MAC      // ours
}

// network is an address of ours and what is reached from it.
type network struct {
	addr frame.Addr
	net  netip.Prefix
}

// family is what holds for IPv4 or for IPv6.
type family struct {
	own     []network // in the order given
	gateway frame.Addr
	routed  bool // there is a gateway
}

// link is a Config as it is looked up.
type link struct {
	four, six family
}

func newLink(c *Config) (l link) {
	for _, p := range c.Own {
		f := l.of(p.Addr())
		f.own = append(f.own, network{addr: p.Addr().As16(), net: p.Masked()})
	}
	for _, g := range c.Gateways {
		if f := l.of(g); !f.routed {
			f.gateway, f.routed = g.As16(), true
		}
	}
	return l
}

func (l *link) of(a netip.Addr) *family {
	if a.Is4() {
		return &l.four
	}
	return &l.six
}

// hop returns the next hop for a server, and the address of ours that asks for
// it; !ok if there is none, or the server is nobody one could connect to.
func (l *link) hop(server *frame.Addr) (hop, from *frame.Addr, ok bool) {
	a := netip.AddrFrom16(*server).Unmap()
	f := l.of(a)
	if len(f.own) == 0 || a.IsMulticast() || a.IsUnspecified() || a.IsLoopback() {
		return nil, nil, false
	}
	o, near := f.near(a)
	if near || a.IsLinkLocalUnicast() && a.Is6() {
		return server, &o.addr, !f.ours(server)
	}
	if !f.routed {
		return nil, nil, false
	}
	o, _ = f.near(netip.AddrFrom16(f.gateway).Unmap())
	return &f.gateway, &o.addr, true
}

func (f *family) ours(a *frame.Addr) bool {
	for i := range f.own {
		if f.own[i].addr == *a {
			return true
		}
	}
	return false
}

// near returns the address of ours in a's network, or, not ok, any.
func (f *family) near(a netip.Addr) (o *network, ok bool) {
	for i := range f.own {
		if f.own[i].net.Contains(a) {
			return &f.own[i], true
		}
	}
	return &f.own[0], false
}
