package sock

import (
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Address is a socket address in the form the kernel reads.
type Address struct {
	raw unix.RawSockaddrInet6 // large enough for either family
	len uintptr
}

// MakeAddress makes one; port 0 is any.
func MakeAddress(ap netip.AddrPort) (a Address) {
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

func (a *Address) family() uintptr { return uintptr(a.raw.Family) }

// Dial begins to connect and returns the socket. The source may be nil.
//
// The source's port is chosen by connect, not by bind: bind would want a port
// that is free for every target, connect one that is free for this target.
func Dial(source, target *Address) (int, error) {
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
		Shut(int(fd))
		return -1, e
	}
	return int(fd), nil
}

// Listen returns a listening socket. Several may share an address.
func Listen(ap netip.AddrPort) (fd int, err error) {
	a := MakeAddress(ap)
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
	if e := bind(fd, &a); e != 0 {
		return fd, e
	}
	return fd, unix.Listen(fd, backlog)
}

const backlog = 65535 // the kernel lowers it to net.core.somaxconn

func bind(fd int, a *Address) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&a.raw)), a.len)
	return e
}

// Local returns the address of a listener.
func Local(fd int) (netip.AddrPort, error) {
	sa, err := unix.Getsockname(fd)
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port)), err
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port)), err
	}
	return netip.AddrPort{}, err
}

// Accept returns the next connection, or ErrAgain.
func Accept(listener int) (int, error) {
	fd, _, e := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(listener), 0, 0, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	return count(fd, e)
}

// Send sends what the socket takes at once, or says ErrAgain.
func Send(fd int, b []byte) (int, error) {
	n, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, 0, 0)
	return count(n, e)
}

// Receive receives what is there, up to len(b), or says ErrAgain. 0 without an
// error is the end of the stream.
func Receive(fd int, b []byte) (int, error) {
	return receive(fd, unsafe.Pointer(unsafe.SliceData(b)), len(b), 0)
}

// Peek is Receive that leaves the bytes where they are.
func Peek(fd int, b []byte) (int, error) {
	return receive(fd, unsafe.Pointer(unsafe.SliceData(b)), len(b), unix.MSG_PEEK)
}

// Discard receives up to max bytes and throws them away in the kernel: with
// MSG_TRUNC, TCP copies nothing. 0 without an error is the end of the stream.
func Discard(fd, max int) (int, error) { return receive(fd, nil, max, unix.MSG_TRUNC) }

func receive(fd int, to unsafe.Pointer, max, flags int) (int, error) {
	n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(to), uintptr(max), uintptr(flags)|unix.MSG_DONTWAIT, 0, 0)
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
		return ErrAgain
	}
	return e
}

// ErrAgain says that the socket has to be waited for.
var ErrAgain error = unix.EAGAIN

// Error returns and clears what went wrong on a socket.
func Error(fd int) error {
	e, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && e != 0 {
		err = unix.Errno(e)
	}
	return err
}

// Shut closes a descriptor; a connection ends in order, if all that came was
// received.
func Shut(fd int) { unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// Cut closes a connection by a reset.
func Cut(fd int) {
	unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	Shut(fd)
}

// HalfClose sends the end, and can still receive.
func HalfClose(fd int) error { return unix.Shutdown(fd, unix.SHUT_WR) }

// Deafen makes a socket drop every packet that comes, unacknowledged: a
// connection is as if its machine had vanished, and a listener answers no SYN.
// What it queues to send is still sent.
//
// It is a socket filter that accepts no byte (see socket(7), SO_ATTACH_FILTER).
func Deafen(fd int) error {
	drop := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop})
}

// Hear ends what Deafen began.
func Hear(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) }
