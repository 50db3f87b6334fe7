package wire

import (
	"net/netip"
	"slices"
)

// nobodys are addresses that are nobody's on the Internet.
var nobodys = []netip.Prefix{
	netip.MustParsePrefix("198.18.0.0/15"), // RFC 2544, for benchmarks
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
}

// Harmless says that all addresses of a prefix are for benchmarks, or private ones:
// who writes frames by itself must not write them to anybody.
func Harmless(p netip.Prefix) bool {
	return p.IsValid() && slices.ContainsFunc(nobodys, func(n netip.Prefix) bool { return n.Bits() <= p.Bits() && n.Contains(p.Addr()) })
}
