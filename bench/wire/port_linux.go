package wire

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// MAC is an Ethernet address.
type MAC [6]byte

func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// Broadcast is everybody's.
var Broadcast = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// Port is a device, as its host sees it.
type Port struct {
	Name  string
	Index int
	MAC   MAC
	MTU   int
}

// Find looks a device up, which must be Ethernet.
func Find(name string) (Port, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return Port{}, fmt.Errorf("device %q: %w", name, err)
	}
	p := Port{Name: name, Index: i.Index, MTU: i.MTU}
	if copy(p.MAC[:], i.HardwareAddr) != len(p.MAC) {
		return Port{}, fmt.Errorf("device %q: it has no Ethernet address", name)
	}
	return p, nil
}

// The numbers of protocols in an Ethernet header.
const (
	typeIPv4 = unix.ETH_P_IP
	typeARP  = unix.ETH_P_ARP
)

// HeaderSize is that of Ethernet.
const HeaderSize = 14

// open makes a socket of a device's frames of a type; of type 0 none come. It
// is bound last, so that setup can do before the first frame comes.
func open(p Port, kind uint16, setup func(fd int) error) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err == nil {
		err = errors.Join(setup(fd), unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: kind<<8 | kind>>8, Ifindex: p.Index}))
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("packet socket on %s: %w", p.Name, err)
	}
	return fd, nil
}
