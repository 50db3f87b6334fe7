package stage

import (
	"errors"
	"fmt"
	"net/netip"
)

// Two devices, of one kind: one before the proxy and one behind it. Clients and
// servers are in a network of their own each, and the proxy on the stage:
//
//	Taps    clients -- their kernel -- tap0 == the proxy == tap1 -- kernel -- servers
//	Veths   clients -- their kernel -- veth0 == veth1 -- the proxy's kernel -- the proxy
//	                                        ... -- veth2 == veth3 -- kernel -- servers
//
// A TAP device can't be opened from elsewhere, but it can be moved when it is
// open: Part does that, and only then there is a way to the clients and servers.
// So they are in the same places with both.
//
// Servers bind to an address of their place's loopback, which is there from the
// start. They have a route to all clients by the proxy's address, should they
// get to know of a client's own.

// Addresses of the servers' side.
var (
	ProxyBehind   = netip.MustParsePrefix("10.18.0.1/24") // the proxy's
	ServerAddress = netip.MustParseAddr("10.18.0.2")      // that servers listen at
	NobodyBehind  = netip.MustParseAddr("10.18.0.3")      // free, for one that has no kernel
)

const (
	tapBehind  = "tap1"
	vethBehind = "veth2"
	serverVeth = "veth3"
)

// Taps makes a link whose proxy reads two TAP devices, which are there already.
// When it has opened them they are to be parted.
func (s *Stage) Taps() (*Link, error) {
	if err := s.Links(); err != nil {
		return nil, err
	}
	l := &Link{Device: tapDevice, Beyond: tapBehind, stage: s}
	var err error
	if l.Clients, err = l.place(); err == nil {
		err = l.serverPlace()
	}
	if err == nil {
		err = l.tap(tapDevice)
	}
	if err == nil {
		err = l.tap(tapBehind)
	}
	return l.made(err)
}

// Part moves the devices to the clients and servers. There is nothing to do with
// veths.
func (l *Link) Part() error {
	if l.Beyond != tapBehind || l.away {
		return nil
	}
	l.away = true
	for i, to := range []*Place{l.Clients, l.Servers} {
		d := &l.devices[i]
		if err := d.where.ip(fmt.Sprintf("link set dev %s netns %d", d.device, to.thread())); err != nil {
			return err
		}
		d.where = to
	}
	if err := l.Clients.ip(clientSide(tapDevice)...); err != nil {
		return err
	}
	return l.Servers.ip(serverSide(tapBehind)...)
}

// Veths makes a link whose proxy has a device to its clients and one to its
// servers.
func (s *Stage) Veths() (*Link, error) {
	if err := s.Links(); err != nil {
		return nil, err
	}
	l := &Link{Device: clientVeth, Beyond: serverVeth, stage: s}
	err := l.clientVeth()
	if err == nil {
		err = l.serverPlace()
	}
	if err == nil {
		err = l.veth(vethBehind, serverVeth, l.Servers)
	}
	if err == nil {
		err = s.ip(fmt.Sprintf("addr add %v dev %s", ProxyBehind, vethBehind))
	}
	if err == nil {
		err = l.Servers.ip(serverSide(serverVeth)...)
	}
	if err == nil {
		err = errors.Join(s.carries(vethBehind), l.Servers.carries(serverVeth))
	}
	return l.made(err)
}

// serverPlace makes the servers' place, and their address.
func (l *Link) serverPlace() (err error) {
	if l.Servers, err = l.place(); err != nil {
		return err
	}
	return l.Servers.ip(fmt.Sprintf("addr add %v/32 dev lo", ServerAddress))
}

// serverSide sets up a device for servers.
func serverSide(device string) []string {
	return []string{
		"link set dev " + device + " up addrgenmode none",
		fmt.Sprintf("route add %v dev %s src %v", ProxyBehind.Masked(), device, ServerAddress),
		fmt.Sprintf("route add %v via %v dev %s onlink", ProxyAddress.Masked(), ProxyBehind.Addr(), device),
	}
}
