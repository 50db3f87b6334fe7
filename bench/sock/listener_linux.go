package sock

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Free is an error if somebody listens at an address already: Listen would
// share it, with a server of the same user even unasked.
func Free(ap netip.AddrPort) error {
	a := MakeAddress(ap)
	fd, err := unix.Socket(int(a.family()), unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return err
	}
	if e := bind(fd, &a); e != 0 {
		return fmt.Errorf("listen on %v: %w", ap, e)
	}
	return nil
}

// StopListening makes a listener refuse: who waits to be accepted is reset,
// and so is every SYN. The socket keeps its port until Relisten or Shut: the kernel
// chooses it for nobody else, if Listen was called with it and not with port 0.
func StopListening(fd int) error { return unix.Shutdown(fd, unix.SHUT_RD) }

// Relisten ends what StopListening began.
func Relisten(fd int) error { return unix.Listen(fd, backlog) }

// Watched is a connection for Ends to look at.
type Watched = unix.PollFd

// Watch makes one.
func Watch(fd int) Watched { return Watched{Fd: int32(fd), Events: unix.POLLRDHUP} }

// Ends counts the connections whose peer has sent its end, or that are broken,
// as the kernel knows it now: also those with bytes before the end that nobody
// has received yet. Revents is 0 in the others afterwards.
func Ends(conns []Watched) (n int, err error) {
	for {
		n, err = unix.Poll(conns, 0)
		if err != unix.EINTR {
			return n, err
		}
	}
}
