package route

import (
	"net/netip"
	"testing"
)

// Each server is reached by the host that its network says, and that host is
// asked for by the right address of ours.
func TestHop(t *testing.T) {
	full := Config{MAC: own, Own: prefixes("198.18.5.1/24", "10.1.0.1/16", "2001:db8:5::1/64", "fe80::1/64"),
		Gateways: []netip.Addr{netip.MustParseAddr("10.1.0.254"), netip.MustParseAddr("fe80::254")}}
	bare := Config{MAC: own, Own: us}
	only4 := Config{MAC: own, Own: us[:1], Gateways: full.Gateways}
	for _, c := range []struct {
		cfg               Config
		server, hop, from string // hop "": no way
	}{
		{full, "198.18.5.2", "198.18.5.2", "198.18.5.1"},
		{full, "198.18.5.255", "198.18.5.255", "198.18.5.1"},
		{full, "10.1.9.9", "10.1.9.9", "10.1.0.1"},
		{full, "198.18.6.2", "10.1.0.254", "10.1.0.1"},
		{full, "8.8.8.8", "10.1.0.254", "10.1.0.1"},
		{full, "2001:db8:5::2", "2001:db8:5::2", "2001:db8:5::1"},
		{full, "2001:db8:6::2", "fe80::254", "fe80::1"},
		{full, "fe80::77", "fe80::77", "fe80::1"},
		{bare, "fe80::77", "fe80::77", "2001:db8:5::1"},
		{bare, "198.18.5.9", "198.18.5.9", "198.18.5.1"},
		{bare, "198.18.6.2", "", ""},
		{bare, "2001:db8:6::2", "", ""},
		{only4, "2001:db8:5::2", "", ""}, // nobody to ask as
		{only4, "fe80::2", "", ""},
		{only4, "8.8.8.8", "10.1.0.254", "198.18.5.1"},
		{full, "198.18.5.1", "", ""}, // ourselves
		{full, "2001:db8:5::1", "", ""},
		{full, "224.0.0.1", "", ""},
		{full, "127.0.0.1", "", ""},
		{full, "0.0.0.0", "", ""},
		{full, "ff02::1", "", ""},
		{full, "::1", "", ""},
		{full, "::", "", ""},
	} {
		r, a := New(c.cfg), addr(c.server)
		n, ok := r.Hop(&a)
		if ok != (c.hop != "") || ok != (n == 1) {
			t.Errorf("%s: %d, %v", c.server, n, ok)
		}
		if !ok {
			continue
		}
		b, _ := r.Ask(n, 0, nil)
		if q := read(t, b); q.target != addr(c.hop) || q.from != addr(c.from) {
			t.Errorf("%s: asked for %v by %v", c.server, netip.AddrFrom16(q.target), netip.AddrFrom16(q.from))
		}
		if again, _ := r.Hop(&a); again != n {
			t.Errorf("%s: %d, then %d", c.server, n, again)
		}
	}
}

// All servers behind a gateway share its number.
func TestGatewayIsOneHop(t *testing.T) {
	r := New(Config{MAC: own, Own: us, Gateways: []netip.Addr{netip.MustParseAddr("198.18.5.254")}})
	gateway := addr("198.18.5.254")
	want, _ := r.Hop(&gateway)
	for i := range 1000 {
		a := numbered(i)
		if n, ok := r.Hop(&a); n != want || !ok {
			t.Fatal(n, ok)
		}
	}
	if l := r.Neighbours(0); len(l) != 1 || l[0].Addr != netip.MustParseAddr("198.18.5.254") {
		t.Error(l)
	}
}
