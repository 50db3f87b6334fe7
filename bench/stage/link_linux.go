package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"time"

	"penstock/bench/wire"
)

// Link joins clients and a proxy by a network device, in place of loopback:
//
//	Tap     clients -- their kernel -- tap0 == the proxy, which is the other end
//	Veth    clients -- their kernel -- veth0 == veth1 -- the proxy's kernel -- the proxy
//
// So each packet of a client's goes through one device, and each end of a
// connection is dealt with once: with a TAP in the proxy, with a veth in a
// kernel.
//
// The proxy is on the stage, and servers are behind it on the stage's loopback.
// With a veth the clients have a network of their own, since between two
// addresses of one network nothing goes through a device. With a TAP they are on
// the stage too: the device is the other side for them, and its reader can't open
// it from elsewhere. Servers can be behind a device as well: see links_linux.go.
type Link struct {
	Clients *Place // where the clients are
	Device  string // their end
	Servers *Place // where the servers are
	Beyond  string // their end of a device; empty: there is none

	stage   *Stage
	owned   []*Place // that end with the link
	devices []placed
	away    bool // TAPs are where they belong
}

// placed is a device of the link's, by one of its ends.
type placed struct {
	where  *Place
	device string
}

// Addresses of a link, all in 198.18.0.0/15, which is for benchmarks. Those from
// ClientNet on, a /24 each, are of the clients' kernel; those from 198.19.0.0 on
// are nobody's, so that a generator can have them.
var (
	ProxyAddress = netip.MustParsePrefix("198.18.0.100/15")
	hostAddress  = netip.MustParsePrefix("198.18.0.1/15") // of the clients' kernel, and the proxy's way to all
)

// ClientNet is the first address of a network of the clients, from 1 to 255.
func ClientNet(n byte) netip.Addr { return netip.AddrFrom4([4]byte{198, 18, n, 0}) }

// ErrLink says that there can be no links here.
var ErrLink = errors.New("a network device between clients and proxy needs root, ip (Debian: iproute2) and /dev/net/tun")

const (
	tapDevice  = "tap0"
	clientVeth = "veth0"
	proxyVeth  = "veth1"
)

// Links says whether there can be links: nil, or an ErrLink.
func (s *Stage) Links() error {
	if !s.own {
		return fmt.Errorf("%w: the stage is %s", ErrLink, s.Network)
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return fmt.Errorf("%w: %w", ErrLink, err)
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		return fmt.Errorf("%w: %w", ErrLink, err)
	}
	return nil
}

// Tap makes a link whose proxy reads a TAP device, which is there already, with
// several queues. One link can be at a time; its maker closes it.
func (s *Stage) Tap() (*Link, error) {
	if err := s.Links(); err != nil {
		return nil, err
	}
	l := &Link{Clients: s.Place, Device: tapDevice, Servers: s.Place, stage: s}
	err := l.tap(tapDevice)
	if err == nil {
		err = s.ip(clientSide(tapDevice)...)
	}
	return l.made(err)
}

// tap makes a TAP device on the stage.
func (l *Link) tap(device string) error {
	if err := l.stage.ip("tuntap add dev " + device + " mode tap multi_queue"); err != nil {
		return err // somebody else's stays
	}
	l.devices = append(l.devices, placed{l.stage.Place, device})
	return l.stage.ip("link set dev " + device + " up addrgenmode none")
}

// Veth makes a link whose proxy listens on a device, as on any.
func (s *Stage) Veth() (*Link, error) {
	if err := s.Links(); err != nil {
		return nil, err
	}
	l := &Link{Device: clientVeth, Servers: s.Place, stage: s}
	return l.made(l.clientVeth())
}

// clientVeth makes the clients' place, and the device there.
func (l *Link) clientVeth() (err error) {
	if l.Clients, err = l.place(); err != nil {
		return err
	}
	if err := l.veth(proxyVeth, clientVeth, l.Clients); err != nil {
		return err
	}
	if err := l.stage.ip(
		fmt.Sprintf("addr add %v/32 dev %s", ProxyAddress.Addr(), proxyVeth),
		fmt.Sprintf("route add %v via %v dev %s onlink", ProxyAddress.Masked(), hostAddress.Addr(), proxyVeth),
	); err != nil {
		return err
	}
	if err := l.Clients.ip(clientSide(clientVeth)...); err != nil {
		return err
	}
	return errors.Join(l.stage.carries(proxyVeth), l.Clients.carries(clientVeth))
}

// carries waits until a veth whose ends are both up passes packets on. That is a
// moment later, as the kernel finds the time for it, and what is sent before is
// lost: a connection would begin with the second that its client waits until it
// asks again.
func (p *Place) carries(device string) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		var d *net.Interface
		var err error
		p.Do(func() { d, err = net.InterfaceByName(device) })
		switch {
		case err != nil:
			return err
		case d.Flags&net.FlagRunning != 0:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("%s carries nothing %v after it was set up", device, patience)
		}
	}
}

// place makes one with a network of its own.
func (l *Link) place() (p *Place, err error) {
	p = newPlace(l.stage.guard)
	l.owned = append(l.owned, p)
	p.Do(func() { _, _, err = enter(l.stage.congestion) })
	return p, err
}

// veth makes a device from the stage to a place.
func (l *Link) veth(near, far string, to *Place) error {
	if err := l.stage.ip(fmt.Sprintf("link add %s type veth peer name %s netns %d", near, far, to.thread())); err != nil {
		return err
	}
	l.devices = append(l.devices, placed{l.stage.Place, near})
	return l.stage.ip("link set dev " + near + " up addrgenmode none")
}

// made undoes what an error has left half made.
func (l *Link) made(err error) (*Link, error) {
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// clientSide sets up a device for clients. All of 198.18.1.0 to 198.18.255.255
// is theirs, without an address for each; with the device the routes go.
func clientSide(device string) []string {
	commands := []string{
		"link set dev " + device + " up addrgenmode none",
		fmt.Sprintf("addr add %v dev %s", hostAddress, device),
	}
	for n, bits := 1, 24; n < 256; n, bits = 2*n, bits-1 {
		commands = append(commands, fmt.Sprintf("route add local %v/%d dev %s", ClientNet(byte(n)), bits, device))
	}
	return commands
}

// Close takes the link away. All processes that use it must have ended.
func (l *Link) Close() (err error) {
	for _, d := range l.devices {
		err = errors.Join(err, d.where.ip("link del "+d.device))
	}
	for _, p := range l.owned {
		p.leave()
	}
	return err
}

// Answers waits until the proxy answers for its address: a TAP's reader listens
// in no table of the kernel's. The proxy is c; its end is an error that quotes
// what it said.
func (l *Link) Answers(ctx context.Context, c *Child, within time.Duration) error {
	const slice = 60 * time.Millisecond
	for deadline := time.Now().Add(within); ; {
		var err error
		l.Clients.Do(func() { err = ask(l.Device, slice) })
		switch {
		case !errors.Is(err, wire.ErrSilent):
			return err
		case c.Ended():
			return fmt.Errorf("%s ended: %s", c.Name(), c.Words())
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline):
			return fmt.Errorf("%s does not answer on %s after %v: %s", c.Name(), l.Device, within, c.Words())
		}
	}
}

func ask(device string, within time.Duration) error {
	port, err := wire.Find(device)
	if err == nil {
		_, err = wire.Resolve(port, hostAddress.Addr(), ProxyAddress.Addr(), within)
	}
	return err
}

// ip has ip(8) do several things in the place's network. What was done before a
// mistake stays done.
func (p *Place) ip(commands ...string) (err error) {
	p.Do(func() {
		cmd := exec.Command("ip", "-batch", "-")
		cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
		out, failed := cmd.CombinedOutput()
		if failed != nil {
			err = fmt.Errorf("ip: %w: %s", failed, bytes.TrimSpace(out))
		}
	})
	return err
}
