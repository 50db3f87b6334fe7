package load

import (
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file and poll_linux.go are the only ones that call the kernel. The calls that every
// request makes are non-blocking and so go through RawSyscall: they tell the
// scheduler nothing and allocate nothing.

// address is a socket address in the form the kernel reads.
type address struct {
	raw unix.RawSockaddrInet6 // large enough for either family
	len uintptr
}

func makeAddress(ap netip.AddrPort) (a address) {
	port := ap.Port()<<8 | ap.Port()>>8
	if ip := ap.Addr().Unmap(); ip.Is4() {
		*(*unix.RawSockaddrInet4)(unsafe.Pointer(&a.raw)) = unix.RawSockaddrInet4{
			Family: unix.AF_INET, Port: port, Addr: ip.As4(),
		}
		a.len = unix.SizeofSockaddrInet4
		return a
	}
	a.raw = unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: port, Addr: ap.Addr().As16()}
	a.len = unix.SizeofSockaddrInet6
	return a
}

func (a *address) family() uintptr { return uintptr(a.raw.Family) }

// dial begins to connect and returns the socket, which the caller owns. The
// source may be nil.
//
// The source's port is chosen by connect, not by bind: bind would want a port
// that is free for every target, connect one that is free for this target.
func dial(source, target *address) (int, error) {
	fd, _, e := unix.RawSyscall(unix.SYS_SOCKET, target.family(), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if e != 0 {
		return -1, e
	}
	if source != nil {
		on := int32(1)
		unix.RawSyscall6(unix.SYS_SETSOCKOPT, fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT,
			uintptr(unsafe.Pointer(&on)), 4, 0)
		_, _, e = unix.RawSyscall(unix.SYS_BIND, fd, uintptr(unsafe.Pointer(&source.raw)), source.len)
	}
	if e == 0 {
		_, _, e = unix.RawSyscall(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&target.raw)), target.len)
	}
	if e != 0 && e != unix.EINPROGRESS {
		shut(int(fd))
		return -1, e
	}
	return int(fd), nil
}

// listen returns a listening socket. Several may share an address.
func listen(ap netip.AddrPort) (fd int, err error) {
	a := makeAddress(ap)
	fd, err = unix.Socket(int(a.family()), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer func() {
		if err != nil {
			unix.Close(fd)
			err = fmt.Errorf("listen on %v: %w", ap, err)
		}
	}()
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 1); err != nil {
			return fd, err
		}
	}
	if _, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&a.raw)), a.len); e != 0 {
		return fd, e
	}
	const backlog = 65535 // the kernel lowers it to net.core.somaxconn
	return fd, unix.Listen(fd, backlog)
}

// local returns the address of a listener on loopback.
func local(fd int) (netip.AddrPort, error) {
	sa, err := unix.Getsockname(fd)
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port)), err
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port)), err
	}
	return netip.AddrPort{}, err
}

// accept returns the next connection, which the caller owns, or EAGAIN.
func accept(listener int) (int, error) {
	fd, _, e := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(listener), 0, 0, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	return count(fd, e)
}

func send(fd int, b []byte) (int, error) {
	n, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, 0, 0)
	return count(n, e)
}

// discard receives up to max bytes and throws them away in the kernel: with
// MSG_TRUNC, TCP copies nothing. 0 without an error is the end of the stream.
func discard(fd, max int) (int, error) {
	n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), 0, uintptr(max), unix.MSG_TRUNC|unix.MSG_DONTWAIT, 0, 0)
	return count(n, e)
}

func count(n uintptr, e unix.Errno) (int, error) {
	if e != 0 {
		return 0, errno(e)
	}
	return int(n), nil
}

// errno makes the frequent error without an allocation.
func errno(e unix.Errno) error {
	if e == unix.EAGAIN {
		return errAgain
	}
	return e
}

var errAgain error = unix.EAGAIN

// socketError returns and clears what went wrong on a socket.
func socketError(fd int) error {
	e, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && e != 0 {
		err = unix.Errno(e)
	}
	return err
}

func shut(fd int) { unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }
