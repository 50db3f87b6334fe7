package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// maxSNAT bounds the memory for ports: 256 KB for each address and server.
const maxSNAT = 64

var (
	errSNAT = notAllowed(fmt.Sprintf("none, or at most %d addresses of ours with a slash between, such as 192.0.2.1/192.0.2.2", maxSNAT))

	errGateway = notAllowed("none, or the address of a router, or one of each family with a slash between, such as 192.0.2.254/2001:db8::fe")
)

var gatewaysKey = key[Tap]{
	name: "gateway", form: "IP[/IP]|none", def: nobody,
	help: "the routers behind which servers of mode=forward are that are in no network of address=, one for IPv4 and one for IPv6",
	set:  func(t *Tap, s string) error { return assign(&t.Gateways, s, parseGateways) },
	get:  func(t *Tap) string { return formatHosts(t.Gateways) },
}

func parseSNAT(s string) ([]netip.Addr, error) { return parseHosts(s, maxSNAT, errSNAT) }

func parseGateways(s string) ([]netip.Addr, error) {
	list, err := parseHosts(s, 2, errGateway)
	if len(list) == 2 && list[0].Is4() == list[1].Is4() {
		return nil, errGateway
	}
	return list, err
}

// parseHosts takes addresses on a link.
func parseHosts(s string, most int, allowed error) (list []netip.Addr, err error) {
	if s == nobody {
		return nil, nil
	}
	for word := range strings.SplitSeq(s, "/") {
		a, err := netip.ParseAddr(word)
		a = a.Unmap()
		switch {
		case err != nil:
			return nil, allowed
		case a.Zone() != "":
			return nil, errZone
		case !oneHost(a) || len(list) == most:
			return nil, allowed
		case slices.Contains(list, a):
			return nil, fmt.Errorf("%s given twice; allowed is once", a)
		}
		list = append(list, a)
	}
	return list, nil
}

func formatHosts(list []netip.Addr) string {
	if len(list) == 0 {
		return nobody
	}
	var words []string
	for _, a := range list {
		words = append(words, a.String())
	}
	return strings.Join(words, "/")
}

// Forwards says whether connections of any virtual server are forwarded.
func (c *Config) Forwards() bool {
	return slices.ContainsFunc(c.Virtuals, func(v Virtual) bool { return v.Transport == Forwarded })
}

// on says whether an address is in a network of ours on the device.
func (t *Tap) on(a netip.Addr) bool {
	return slices.ContainsFunc(t.Addresses, func(p netip.Prefix) bool { return p.Contains(a) })
}

// has says whether an address is ours on the device.
func (t *Tap) has(a netip.Addr) bool {
	return slices.ContainsFunc(t.Addresses, func(p netip.Prefix) bool { return p.Addr() == a })
}

// leads says whether there is a way from the device to a server.
func (t *Tap) leads(a netip.Addr) bool {
	return t.on(a) || slices.ContainsFunc(t.Gateways, func(g netip.Addr) bool { return g.Is4() == a.Is4() })
}

func family(a netip.Addr) string {
	if a.Is4() {
		return "IPv4"
	}
	return "IPv6"
}
