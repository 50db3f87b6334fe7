package kernel

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"sync"

	"github.com/panjf2000/gnet/v2/pkg/socket"
	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// Address is where a virtual server listens.
type Address struct {
	netip.AddrPort
	Dual bool // all addresses of both families, on AddrPort's port; of IPv4 if that is all there is
}

func (a Address) String() string {
	if a.Dual {
		return ":" + strconv.Itoa(int(a.Port()))
	}
	return a.AddrPort.String()
}

// backlog is more than any kernel has: as long as net.core.somaxconn allows.
const backlog = 1 << 20

// Bind opens the socket of a loop's own listener (SO_REUSEPORT). Nobody can
// connect to it yet; see Take. The caller owns it. It returns the address, with
// the port that was chosen if a.Port is 0.
func Bind(a Address, o Options) (fd int, at Address, err error) {
	fd, err = unix.Socket(a.family(), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		if err = bind(fd, a, o); err != nil {
			sys.Close(fd)
		}
	}
	if err != nil {
		return -1, a, fmt.Errorf("listen on %v: %w", a, err)
	}
	if a.Port() == 0 {
		a.AddrPort = netip.AddrPortFrom(a.Addr(), boundPort(fd))
	}
	return fd, a, nil
}

func bind(fd int, a Address, o Options) error {
	for _, set := range []func(int, int) error{socket.SetReuseAddr, socket.SetReuseport, socket.SetNoDelay} {
		if err := set(fd, 1); err != nil {
			return err
		}
	}
	if err := smallStart(fd, parkedBuffer); err != nil {
		return err
	}
	o.Apply(fd)
	a.oneFamily(fd)
	return unix.Bind(fd, a.sockaddr())
}

// Free returns an error if somebody listens on the address. SO_REUSEPORT alone
// would let a second process in: two limits and two queues for one service.
func (a Address) Free() error {
	if a.Port() == 0 {
		return nil
	}
	fd, err := unix.Socket(a.family(), unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil // Bind will tell
	}
	defer unix.Close(fd)
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	a.oneFamily(fd)
	if err := unix.Bind(fd, a.sockaddr()); err != nil {
		return fmt.Errorf("listen on %v: %w", a, err)
	}
	return nil
}

func (a Address) is4() bool {
	if a.Dual {
		return !ipv6()
	}
	return a.Addr().Unmap().Is4()
}

// ipv6 says whether the kernel has sockets for IPv6: not if it was started with
// ipv6.disable=1.
var ipv6 = sync.OnceValue(func() bool {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return !errors.Is(err, unix.EAFNOSUPPORT)
})

func (a Address) family() int {
	if a.is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// oneFamily keeps IPv4 out of a socket for IPv6, and lets it in for Dual,
// whatever the host's default is.
func (a Address) oneFamily(fd int) {
	if a.is4() {
		return
	}
	only := 1
	if a.Dual {
		only = 0
	}
	sys.SetInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only)
}

func (a Address) sockaddr() unix.Sockaddr {
	switch {
	case a.Dual && a.is4():
		return &unix.SockaddrInet4{Port: int(a.Port())}
	case a.Dual:
		return &unix.SockaddrInet6{Port: int(a.Port())}
	case a.is4():
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().Unmap().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

func boundPort(fd int) uint16 {
	switch sa, _ := unix.Getsockname(fd); sa := sa.(type) {
	case *unix.SockaddrInet4:
		return uint16(sa.Port)
	case *unix.SockaddrInet6:
		return uint16(sa.Port)
	}
	return 0
}
