package config

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

var (
	errListen = notAllowed("IP:PORT, [IPv6]:PORT or :PORT (all addresses of this host); host names are not looked up")
	errMember = notAllowed("IP:PORT or [IPv6]:PORT of one server, port 1 to 65535; host names are not looked up")
	errNode   = notAllowed("the IP address of one server, without port or brackets; host names are not looked up")
	errAdmin  = notAllowed("unix:PATH (107 bytes at most), IP:PORT, or off; host names are not looked up")

	// errZone: a zone is an interface's name on this host only, and nodes
	// are told apart by their address alone.
	errZone = errors.New("an address with a zone (the part after %) is not supported; allowed is one without")
)

// parseListen leaves the address invalid, and says dual, for ":PORT".
func parseListen(s string) (a netip.AddrPort, dual bool, err error) {
	if port, ok := strings.CutPrefix(s, ":"); ok {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return a, false, errListen
		}
		return netip.AddrPortFrom(netip.Addr{}, uint16(n)), true, nil
	}
	a, err = parseAddrPort(s, errListen)
	if err == nil && a.Addr().IsMulticast() {
		return netip.AddrPort{}, false, errListen
	}
	return a, false, err
}

func formatListen(a netip.AddrPort, dual bool) string {
	if dual {
		return ":" + strconv.Itoa(int(a.Port()))
	}
	return a.String()
}

func parseMember(s string) (netip.AddrPort, error) {
	a, err := parseAddrPort(s, errMember)
	if err == nil && (a.Port() == 0 || !server(a.Addr())) {
		err = errMember
	}
	return a, err
}

func parseNode(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil:
		return a, errNode
	case a.Zone() != "":
		return a, errZone
	case !server(a.Unmap()):
		return a, errNode
	}
	return a.Unmap(), nil
}

// server says whether an address can be that of one server.
func server(a netip.Addr) bool { return !a.IsUnspecified() && !a.IsMulticast() }

// parseAddrPort makes ::ffff:10.0.0.1 the same address as 10.0.0.1: it is,
// and their connections count against the same node.
func parseAddrPort(s string, allowed error) (netip.AddrPort, error) {
	a, err := netip.ParseAddrPort(s)
	if err != nil {
		return netip.AddrPort{}, allowed
	}
	if a.Addr().Zone() != "" {
		return netip.AddrPort{}, errZone
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
}

// maxSocketPath is the size of sun_path in sockaddr_un, less its final zero.
const maxSocketPath = 107

func parseAdmin(s string) (string, error) {
	if s == "off" {
		return s, nil
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if _, err := parsePath(path); err != nil || len(path) > maxSocketPath {
			return "", errAdmin
		}
		return s, nil
	}
	a, err := parseAddrPort(s, errAdmin)
	if err != nil {
		return "", err
	}
	if a.Addr().IsMulticast() {
		return "", errAdmin
	}
	return a.String(), nil
}

// overlap says whether two listen addresses can't both be bound. What is on the
// TAP device is not among all addresses of the kernel.
func overlap(a, b *Virtual) bool {
	if a.Listen.Port() != b.Listen.Port() {
		return false
	}
	if a.Front != b.Front {
		return !a.Dual && !b.Dual && a.Listen == b.Listen
	}
	if a.Dual || b.Dual {
		return true
	}
	x, y := a.Listen.Addr(), b.Listen.Addr()
	return x == y || x.Is4() == y.Is4() && (x.IsUnspecified() || y.IsUnspecified())
}
