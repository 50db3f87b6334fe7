package cases

import (
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
)

var forward = flag.Bool("forward", false, "run the cases with mode=forward, clients and servers on TAP devices; implies -tap")

// arm is the device of a link that has the servers behind it; clients are on
// the link's own.
//
//	172.30.N.1    penstock's own
//	172.30.N.2    the kernel, a router for penstock
//	172.30.N.10+  what takes the place of clients' addresses
//	172.30.N.77   nobody
//	172.31.0.1    the kernel: servers; see home
//	fd01:N::      the same, with 1, 2, 10+ (hexadecimal) and 77
//	fd02::1       the kernel: servers
//
// An arm that is nil is on the link's own device: at 10, 11 and so on there.
type arm struct {
	dev    string
	direct bool // servers are in the arm's network: penstock needs no router
}

// home is where servers listen that have no place of their own.
func home(six bool) string {
	switch {
	case *forward && six:
		return "fd02::1"
	case *forward:
		return "172.31.0.1"
	case six:
		return "::1"
	}
	return "127.0.0.1"
}

// homes gives the kernel the addresses of servers.
func homes() error {
	return run(fmt.Sprintf("address replace %s/32 dev lo\naddress replace %s/128 dev lo nodad\n", home(false), home(true)), "ip", "-batch", "-")
}

// reach gives the link a device for servers, if it has none and should have one.
func (l *link) reach() {
	l.t.Helper()
	if !*forward || l.arm != nil || l.oneArmed {
		return
	}
	l.newArm()
	insist(l.arm.dev)
	l.ip(
		"link set ARM up",
		"address replace fe80::2/64 dev ARM nodad", // or it has none for the first second, and its questions need one
		fmt.Sprintf("address replace %v dev ARM", l.prefixA(2)),
		fmt.Sprintf("address replace %v dev ARM nodad", l.prefixA6(2)),
	)
}

// newArm makes the device, with nobody behind it.
func (l *link) newArm() {
	l.t.Helper()
	l.arm = &arm{dev: "pn7-s" + itoa(l.n)}
	l.t.Cleanup(func() { exec.Command("ip", "link", "delete", l.arm.dev).Run() })
	l.ip("tuntap add dev ARM mode tap multi_queue vnet_hdr")
}

// atA is an address in the arm's network, prefixA the same with its length.
func (l *link) atA(host byte) netip.Addr { return netip.AddrFrom4([4]byte{172, 30, byte(l.n), host}) }

func (l *link) atA6(host uint16) netip.Addr {
	return netip.AddrFrom16([16]byte{0: 0xfd, 1: 1, 3: byte(l.n), 14: byte(host >> 8), 15: byte(host)})
}

func (l *link) prefixA(host byte) netip.Prefix    { return netip.PrefixFrom(l.atA(host), 24) }
func (l *link) prefixA6(host uint16) netip.Prefix { return netip.PrefixFrom(l.atA6(host), 64) }

// stand is the i-th address that takes the place of clients' of a family.
func (l *link) stand(six bool, i int) netip.Addr {
	switch {
	case l.oneArmed && six:
		return l.at6(uint16(10 + i))
	case l.oneArmed:
		return l.at(byte(10 + i))
	case six:
		return l.atA6(uint16(10 + i))
	}
	return l.atA(byte(10 + i))
}

// serversDevice is the device that servers are behind.
func (l *link) serversDevice() string {
	if l.oneArmed {
		return l.dev
	}
	return l.arm.dev
}

// flags are what penstock is to know of the devices; more is for the first.
func (l *link) flags(more string) []string {
	l.t.Helper()
	if l.oneArmed {
		return []string{"-tap", merge(fmt.Sprintf("%s,gateway=%v/%v", l.flag(), l.at(1), l.at6(1)), more)}
	}
	flags := []string{"-tap", merge(l.flag(), more)}
	if !*forward {
		return flags
	}
	servers := fmt.Sprintf("dev=%s,side=servers,address=%v/%v", l.arm.dev, l.prefixA(1), l.prefixA6(1))
	if !l.arm.direct {
		servers += fmt.Sprintf(",gateway=%v/%v", l.atA(2), l.atA6(2))
	}
	return append(flags, "-tap", servers)
}

// forwarded are the keys with which a virtual server forwards, unless it has
// some of its own.
func (l *link) forwarded(keys string, six bool) string {
	if !*forward || strings.Contains(keys, "mode=") {
		return ""
	}
	if strings.Contains(keys, "snat=") {
		return ",mode=forward"
	}
	return fmt.Sprintf(",mode=forward,snat=%v", l.stand(six, 0))
}

// forwardOnly skips a test that is for mode=forward only, where the others run.
func forwardOnly(t testing.TB) {
	t.Helper()
	if !*forward {
		t.Skip("with mode=forward only; TestOverForward runs it")
	}
}

// listenFor starts a server for clients of a virtual server that listens at an
// address: one of their family, if only such a one can be forwarded to.
func listenFor(t testing.TB, at, name string, serve func(*visit)) *server {
	t.Helper()
	if six := strings.HasPrefix(at, "["); six && *forward {
		return listenAt(t, net.JoinHostPort(home(six), "0"), name, serve)
	}
	return listen(t, name, serve)
}
