package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// tapKeys is what can be set on a TAP device. The first key is the one a bare
// first word stands for. All of it is for the start only.
var tapKeys = []key[Tap]{
	fix(textKey("dev", "NAME", "", "the device; it is made if there is none of that name", parseDevice,
		func(t *Tap) *string { return &t.Device }), true),
	choiceKey("side", "what is on it; with a second -tap for the servers of mode=forward, clients and servers", sideWords,
		func(t *Tap) *Side { return &t.Side }),
	addressesKey,
	gatewaysKey,
	macKey,
	tapCount("mtu", "as the device has it", "longest packet, bytes", counts{max: mostMTU}, leastMTU,
		func(t *Tap) *int { return &t.MTU }),
	forClients(tapCount("mss", "what the MTU allows", "most that a client may send in one segment, bytes", counts{max: mostMTU}, leastMSS,
		func(t *Tap) *int { return &t.MSS })),
	forClients(boolKey("rack", "off", "on", "off",
		"whether loss is found by time (RFC 8985); for paths that lose more than they reorder, and not for short ones",
		func(t *Tap) *bool { return &t.RACK })),
	forClients(choiceKey("congestion-control", "how fast is sent to clients", congestionWords,
		func(t *Tap) *Congestion { return &t.Congestion })),
	forClients(timeKey("time-wait", "1s", "how long a closed connection is remembered; a bare number is seconds",
		times{min: 100 * time.Millisecond, max: time.Minute, bare: time.Second},
		func(t *Tap) *time.Duration { return &t.TimeWait })),
	forClients(sizeKey("receive-buffer", "4M", "most bytes of a client that are not read yet", bufferSizes,
		func(t *Tap) *int { return &t.ReceiveBuffer })),
	forClients(sizeKey("send-buffer", "4M", "most bytes that a client has not acknowledged", bufferSizes,
		func(t *Tap) *int { return &t.SendBuffer })),
	forClients(sizeKey("syn-table", "4M", "most handshakes that each loop keeps parked", tableSizes,
		func(t *Tap) *int { return &t.SynTable })),
	forClients(sizeKey("flow-table", "4M", "most connections that each loop forwards, with those that ended a short time ago", tableSizes,
		func(t *Tap) *int { return &t.FlowTable })),
}

// forClients marks a key of what is between us and clients.
func forClients(k key[Tap]) key[Tap] { return without("side", ServerSide.String(), k) }

const (
	mostMTU  = 65521 // of a TAP: 65535 less an Ethernet header
	leastMTU = 576   // that a host must take (RFC 1122)
	leastV6  = 1280  // RFC 8200
	leastMSS = 88    // as Linux
)

var (
	bufferSizes = sizes{4 * kilo, 64 * mega}
	tableSizes  = sizes{1, 16 * mega}
)

// tapCount is 0, or a number that is not too small.
func tapCount(name, zero, help string, r counts, least int, field func(*Tap) *int) key[Tap] {
	r.zero = zero
	k := countKey(name, "0", help, r, field)
	parse := k.set
	k.set = func(t *Tap, s string) error {
		was := *field(t)
		if err := parse(t, s); err == nil && (*field(t) == 0 || *field(t) >= least) {
			return nil
		}
		*field(t) = was
		return notAllowed(fmt.Sprintf("0 (%s), or %d to %d", zero, least, r.max))
	}
	return k
}

var addressesKey = key[Tap]{
	name: "address", form: "IP/BITS[/IP/BITS...]|none", def: nobody,
	help: "addresses of ours on it, besides those of virtual servers, and the networks they are in",
	set:  func(t *Tap, s string) error { return assign(&t.Addresses, s, parseOwn) },
	get:  func(t *Tap) string { return formatPrefixes(t.Addresses) },
}

// madeUp is the address that is made from the device's name.
const madeUp = "auto"

var macKey = key[Tap]{
	name: "mac", form: "MAC|" + madeUp, def: madeUp,
	help: "our address on its link; " + madeUp + ": made from its name",
	set: func(t *Tap, s string) error {
		return assign(&t.MAC, s, parseMAC)
	},
	get: func(t *Tap) string {
		if t.MAC == ([6]byte{}) {
			return madeUp
		}
		return net.HardwareAddr(t.MAC[:]).String()
	},
}

var (
	errDevice = notAllowed("1 to 15 of A-Z a-z 0-9 . _ -, and not . or ..")
	errMAC    = notAllowed(madeUp + ", or the address of one station, such as 02:00:00:00:00:01")
	errOwn    = notAllowed("none, or addresses of ours with the bits of their network and a slash between, " +
		"such as 198.18.0.1/24 or 198.18.0.1/24/2001:db8::1/64")
	errFront = notAllowed("IP:PORT or [IPv6]:PORT with the address of one host, not of this one (loopback), and a port 1 to 65535")
)

// maxDevice is IFNAMSIZ, less its final zero.
const maxDevice = 15

func parseDevice(s string) (string, error) {
	if s == "" || len(s) > maxDevice || strings.Trim(s, nameRunes) != "" || s == "." || s == ".." {
		return "", errDevice
	}
	return s, nil
}

func parseMAC(s string) (mac [6]byte, err error) {
	if s == madeUp {
		return mac, nil
	}
	a, err := net.ParseMAC(s)
	if err != nil || len(a) != len(mac) || a[0]&1 != 0 || [6]byte(a) == mac {
		return mac, errMAC
	}
	return [6]byte(a), nil
}

func parseOwn(s string) (list []netip.Prefix, err error) {
	if s == nobody {
		return nil, nil
	}
	words := strings.Split(s, "/")
	if len(words)%2 != 0 {
		return nil, errOwn
	}
	for ; len(words) > 0; words = words[2:] {
		p, err := ownAddress(words[0], words[1])
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(q netip.Prefix) bool { return p.Addr() == q.Addr() }) {
			return nil, fmt.Errorf("%s given twice; allowed is once", p.Addr())
		}
		if len(list) == maxList {
			return nil, errList
		}
		list = append(list, p)
	}
	return list, nil
}

func ownAddress(address, bits string) (netip.Prefix, error) {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return netip.Prefix{}, errOwn
	}
	if a.Zone() != "" {
		return netip.Prefix{}, errZone
	}
	a = a.Unmap()
	n, ok := parseBits(bits, 1, uint8(a.BitLen()))
	if !ok || !oneHost(a) {
		return netip.Prefix{}, errOwn
	}
	p := netip.PrefixFrom(a, int(n))
	if a == p.Masked().Addr() && int(n) < a.BitLen()-1 {
		return netip.Prefix{}, errors.New(p.String() + " is the network itself; " + errOwn.Error())
	}
	return p, nil
}

// oneHost says whether an address can be that of one host on a link.
func oneHost(a netip.Addr) bool { return a.IsGlobalUnicast() || a.IsLinkLocalUnicast() }
