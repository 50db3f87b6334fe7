package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Lists are separated by a slash, as the bits of a prefix are, since commas
// separate keys. What belongs together is told apart by its form: an address
// is never a plain number.

// nobody is an empty list.
const nobody = "none"

var (
	errPrefix  = notAllowed("off, or source, source/BITS4 or source/BITS4/BITS6 with 1 to 32 bits of IPv4 and 1 to 128 of IPv6")
	errTrusted = notAllowed("none, or addresses and prefixes with a slash between, such as 10.0.0.0/8/192.0.2.1/2001:db8::/32; " +
		"0.0.0.0/0/::/0 is anybody")
	errClasses = notAllowed("none, or prefixes with a class 0 to 7 and a slash between, such as 10.0.0.0/8:7/192.0.2.0/24:3")
	errClass   = notAllowed("0 to 7")
	errList    = notAllowed("a list of at most 1024")
)

// maxList bounds what is gone through for one client.
const maxList = 1024

// parsePrefix: a network of IPv6 that belongs to one customer has 64 bits of
// hosts, so who looks at less than an address of IPv4 hardly wants all of one
// of IPv6.
func parsePrefix(s string) (Prefix, error) {
	if s == "off" {
		return Prefix{}, nil
	}
	parts := strings.Split(s, "/")
	p := Prefix{On: true, V4: 32, V6: 128}
	if parts[0] != "source" || len(parts) > 3 {
		return Prefix{}, errPrefix
	}
	if len(parts) > 1 {
		var ok bool
		if p.V4, ok = parseBits(parts[1], 1, 32); !ok {
			return Prefix{}, errPrefix
		}
		if p.V4 < 32 {
			p.V6 = 64
		}
	}
	if len(parts) > 2 {
		var ok bool
		if p.V6, ok = parseBits(parts[2], 1, 128); !ok {
			return Prefix{}, errPrefix
		}
	}
	return p, nil
}

// String gives what the key takes, with all the bits.
func (p Prefix) String() string {
	if !p.On {
		return "off"
	}
	return fmt.Sprintf("source/%d/%d", p.V4, p.V6)
}

func parseBits(s string, least, most uint8) (uint8, bool) {
	n, err := strconv.ParseUint(s, 10, 8)
	return uint8(n), err == nil && digits(s) && uint8(n) >= least && uint8(n) <= most
}

func parsePrefixes(s string) (list []netip.Prefix, err error) {
	if s == nobody {
		return nil, nil
	}
	words := strings.Split(s, "/")
	for len(words) > 0 {
		address, bits := words[0], ""
		words = words[1:]
		if len(words) > 0 && digits(words[0]) {
			bits, words = words[0], words[1:]
		}
		p, err := network(address, bits, errTrusted)
		if err != nil {
			return nil, err
		}
		if len(list) == maxList {
			return nil, errList
		}
		list = append(list, p)
	}
	return list, nil
}

// network takes no bits for all of them. ::ffff:10.0.0.0/104 is 10.0.0.0/8:
// clients over IPv4 have both forms on a listener for both families.
func network(address, bits string, allowed error) (p netip.Prefix, err error) {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return p, allowed
	}
	if a.Zone() != "" {
		return p, errZone
	}
	n := uint8(a.BitLen())
	if bits != "" {
		var ok bool
		if n, ok = parseBits(bits, 0, n); !ok {
			return p, allowed
		}
	}
	if a.Is4In6() {
		if n < 96 {
			return p, errors.New("fewer than 96 bits of an IPv4 address in IPv6; " + allowed.Error())
		}
		a, n = a.Unmap(), n-96
	}
	p = netip.PrefixFrom(a, int(n))
	if p != p.Masked() {
		// More likely a slip than a longer word for the same.
		return p, fmt.Errorf("%s has bits beyond its first %d; allowed is %s", p, n, p.Masked())
	}
	return p, nil
}

func formatPrefixes(list []netip.Prefix) string {
	if len(list) == 0 {
		return nobody
	}
	var words []string
	for _, p := range list {
		words = append(words, p.String())
	}
	return strings.Join(words, "/")
}

// parseClasses sorts, so that the first rule that matches is the one with the
// longest prefix.
func parseClasses(s string) (list []ClassRule, err error) {
	if s == nobody {
		return nil, nil
	}
	words := strings.Split(s, "/")
	for ; len(words) > 1; words = words[2:] {
		bits, class, ok := strings.Cut(words[1], ":")
		if !ok || bits == "" {
			return nil, errClasses
		}
		p, err := network(words[0], bits, errClasses)
		if err != nil {
			return nil, err
		}
		n, err := parseClass(class)
		if err != nil {
			return nil, errClasses
		}
		if slices.ContainsFunc(list, func(r ClassRule) bool { return r.Prefix == p }) {
			return nil, fmt.Errorf("%s given twice; allowed is once", p)
		}
		if len(list) == maxList {
			return nil, errList
		}
		list = append(list, ClassRule{p, n})
	}
	if len(words) > 0 {
		return nil, errClasses
	}
	slices.SortStableFunc(list, func(a, b ClassRule) int { return cmp.Compare(b.Prefix.Bits(), a.Prefix.Bits()) })
	return list, nil
}

func formatClasses(list []ClassRule) string {
	if len(list) == 0 {
		return nobody
	}
	var words []string
	for _, r := range list {
		words = append(words, fmt.Sprintf("%s:%d", r.Prefix, r.Class))
	}
	return strings.Join(words, "/")
}

func parseClass(s string) (uint8, error) {
	if n, ok := parseBits(s, 0, MaxClass); ok {
		return n, nil
	}
	return 0, errClass
}
