package cases

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// link is a TAP device between a penstock and clients of this host: real ones,
// of the kernel of the tests' own network namespace. Each penstock has a device
// of its own, and so a network of its own.
//
//	198.18.N.1    the kernel, on the device; the address of a client that has none given
//	198.18.N.2    penstock's own
//	198.18.N.100  its virtual servers
//	198.18.N.200+ whoever a test makes up, with frames of its own
//	198.19.0.0/16 the kernel: clients with an address given; see near
//	fd00:N::      the same, with 1, 2 and 100
type link struct {
	t   testing.TB
	n   int
	dev string

	arm      *arm // with servers behind it, for mode=forward; nil: not yet, or oneArmed
	oneArmed bool // servers are behind the same device
}

// links numbers the devices that are there.
var links struct {
	sync.Mutex
	taken [256]bool
}

// newLink makes a device that is deleted when the test ends.
func newLink(t testing.TB) *link {
	t.Helper()
	l := noLink(t)
	l.make()
	return l
}

// noLink is newLink, but for making it.
func noLink(t testing.TB) *link {
	t.Helper()
	l := &link{t: t, n: takeNumber(t)}
	l.dev = "pn7-" + itoa(l.n)
	t.Cleanup(l.free)
	return l
}

// make makes the device with its addresses.
func (l *link) make() {
	l.t.Helper()
	l.ip("tuntap add dev DEV mode tap multi_queue vnet_hdr")
	l.address()
}

// address gives the kernel's side its addresses.
func (l *link) address() { l.t.Helper(); l.on(l.dev) }

// on gives a device the addresses of the kernel's side.
func (l *link) on(dev string) {
	l.t.Helper()
	insist(dev)
	l.ip(
		"link set "+dev+" up",
		fmt.Sprintf("address replace %v dev %s", l.prefix(1), dev),
		fmt.Sprintf("address replace %v dev %s nodad", l.prefix6(1), dev),
	)
}

// remove deletes it.
func (l *link) remove() { l.t.Helper(); l.ip("link delete DEV") }

// free deletes the device if it is still there.
func (l *link) free() {
	exec.Command("ip", "link", "delete", l.dev).Run()
	links.Lock()
	defer links.Unlock()
	links.taken[l.n] = false
}

func takeNumber(t testing.TB) int {
	t.Helper()
	links.Lock()
	defer links.Unlock()
	for n := 1; n < len(links.taken); n++ {
		if !links.taken[n] {
			links.taken[n] = true
			return n
		}
	}
	t.Fatal("too many devices at once")
	return 0
}

// ip has iproute2 do something with the device, DEV, or that of servers, ARM.
func (l *link) ip(commands ...string) {
	l.t.Helper()
	text := strings.Join(commands, "\n") + "\n"
	if l.arm != nil {
		text = strings.ReplaceAll(text, "ARM", l.arm.dev)
	}
	text = strings.ReplaceAll(text, "DEV", l.dev)
	if err := run(text, "ip", "-batch", "-"); err != nil {
		l.t.Fatal(err)
	}
}

// run runs a command, with text for its standard input.
func run(text string, words ...string) error {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s%s", words, err, text, out)
	}
	return nil
}

// at is an address in the device's network, prefix the same with its length.
func (l *link) at(host byte) netip.Addr { return netip.AddrFrom4([4]byte{198, 18, byte(l.n), host}) }

func (l *link) at6(host uint16) netip.Addr {
	return netip.AddrFrom16([16]byte{0: 0xfd, 3: byte(l.n), 14: byte(host >> 8), 15: byte(host)})
}

func (l *link) prefix(host byte) netip.Prefix    { return netip.PrefixFrom(l.at(host), 24) }
func (l *link) prefix6(host uint16) netip.Prefix { return netip.PrefixFrom(l.at6(host), 64) }

// virtual is the address of its virtual servers, of either family.
func (l *link) virtual(six bool) netip.Addr {
	if six {
		return l.at6(100)
	}
	return l.at(100)
}

// flag is what penstock is to know of the device.
func (l *link) flag() string {
	return fmt.Sprintf("dev=%s,address=%v/%v", l.dev, l.prefix(2), l.prefix6(2))
}

// anyPort is a virtual server on a port that the kernel chooses, with its name
// and keys.
var anyPort = regexp.MustCompile(`(?m)((?:^|[ =])(\w+),(?:\S*,)?)listen=(\S*?):0\b(\S*)`)

// over puts the virtual servers in a text of flags on the device. A name has
// always the same port. Clients that are named are those of near.
func (l *link) over(text string) string {
	return anyPort.ReplaceAllStringFunc(text, func(s string) string {
		m := anyPort.FindStringSubmatch(s)
		six := strings.HasPrefix(m[3], "[")
		at := netip.AddrPortFrom(l.virtual(six), portFor(m[2]))
		keys := near(m[4])
		if *synProof != "" && !strings.Contains(s, "syn-proof=") {
			keys += ",syn-proof=" + *synProof
		}
		return fmt.Sprintf("%slisten=%v%s,front=tap%s", near(m[1]), at, keys, l.forwarded(s, six))
	})
}

func portFor(name string) uint16 {
	port := uint16(1000)
	for _, c := range name {
		port = port*7%30000 + 1000 + uint16(c)
	}
	return port
}

// near is for what is said of clients' addresses: 127.0.1.1 is 198.19.1.1 over
// TAP, as no packet may come from outside with the former.
func near(text string) string {
	if *overTap {
		return nearest.Replace(text)
	}
	return text
}

var nearest = strings.NewReplacer("127.0.0.0/8", "198.18.0.0/15", "127.0.", "198.19.")

// insist has the kernel ask for neighbours on a device for longer than 3 s, which
// penstock may need to answer on a busy machine: who connects would be told that
// there is no route.
func insist(dev string) {
	for _, family := range []string{"ipv4", "ipv6"} {
		at := family + "/neigh/" + dev + "/"
		tune(map[string]string{at + "mcast_solicit": "30", at + "ucast_solicit": "30"})
	}
}

// tune sets values of the kernel. What can't be set is what it is.
func tune(values map[string]string) {
	for name, value := range values {
		os.WriteFile("/proc/sys/net/"+name, []byte(value), 0)
	}
}

// furnish makes a new network namespace fit for the tests.
func furnish() error {
	tune(map[string]string{
		"ipv4/conf/all/rp_filter": "0", "ipv4/conf/default/rp_filter": "0",
		"ipv6/conf/all/disable_ipv6": "0", "ipv6/conf/default/disable_ipv6": "0",
		// All who are released at once are dialled at once.
		"core/somaxconn": "16384", "ipv4/tcp_max_syn_backlog": "16384",
	})
	if err := run("link set lo up\nroute replace local 198.19.0.0/16 dev lo\n", "ip", "-batch", "-"); err != nil || !*forward {
		return err
	}
	return homes()
}
