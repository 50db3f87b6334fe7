package sys

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Errno is a system call's error; 0 is none.
type Errno = unix.Errno

// Address is a socket address in the kernel's form, made in advance.
type Address struct {
	raw    [unix.SizeofSockaddrInet6]byte
	size   uintptr
	family int
}

// NewAddress converts ap.
func NewAddress(ap netip.AddrPort) (a Address) {
	port := ap.Port()
	if ip := ap.Addr().Unmap(); ip.Is4() {
		sa := (*unix.RawSockaddrInet4)(unsafe.Pointer(&a.raw))
		sa.Family, sa.Port, sa.Addr = unix.AF_INET, swap(port), ip.As4()
		a.size, a.family = unix.SizeofSockaddrInet4, unix.AF_INET
		return a
	}
	sa := (*unix.RawSockaddrInet6)(unsafe.Pointer(&a.raw))
	sa.Family, sa.Port, sa.Addr = unix.AF_INET6, swap(port), ap.Addr().As16()
	a.size, a.family = unix.SizeofSockaddrInet6, unix.AF_INET6
	return a
}

func swap(p uint16) uint16 { return p<<8 | p>>8 }

// Peer is a client's address: IPv4 in the mapped form.
type Peer struct {
	Addr [16]byte
	Port uint16
}

// AddrPort converts p for people.
func (p Peer) AddrPort() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(p.Addr).Unmap(), p.Port)
}

// PeerOf is the way back.
func PeerOf(ap netip.AddrPort) Peer { return Peer{ap.Addr().As16(), ap.Port()} }

// Acceptor has the space that accept needs for an address, so that each call
// allocates nothing. One a thread.
type Acceptor struct {
	raw  unix.RawSockaddrInet6
	size uint32
}

// Accept takes a connection off the listener's backlog. The caller owns the
// descriptor, which is non-blocking and closed on exec.
func (a *Acceptor) Accept(listener int) (fd int, from Peer, e Errno) {
	for {
		a.size = unix.SizeofSockaddrInet6
		r, _, e := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(listener), uintptr(unsafe.Pointer(&a.raw)),
			uintptr(unsafe.Pointer(&a.size)), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return -1, from, e
		}
		return int(r), peer(&a.raw), 0
	}
}

func peer(raw *unix.RawSockaddrInet6) (p Peer) {
	p.Port = swap(raw.Port)
	if raw.Family == unix.AF_INET {
		sa := (*unix.RawSockaddrInet4)(unsafe.Pointer(raw))
		p.Addr[10], p.Addr[11] = 0xff, 0xff
		copy(p.Addr[12:], sa.Addr[:])
		return p
	}
	p.Addr = raw.Addr
	return p
}

// Dial opens a socket and starts to connect it. EINPROGRESS and 0 are
// success; on any other error there is no descriptor.
func Dial(to *Address) (fd int, e Errno) {
	r, _, e := unix.RawSyscall(unix.SYS_SOCKET, uintptr(to.family), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if e != 0 {
		return -1, e
	}
	_, _, e = unix.RawSyscall(unix.SYS_CONNECT, r, uintptr(unsafe.Pointer(&to.raw)), to.size)
	if e != 0 && e != unix.EINPROGRESS {
		Close(int(r))
		return -1, e
	}
	return int(r), e
}

// Connected says whether a socket that was dialled has a peer by now.
func Connected(fd int) bool {
	var raw unix.RawSockaddrInet6
	size := uint32(unix.SizeofSockaddrInet6)
	_, _, e := unix.RawSyscall(unix.SYS_GETPEERNAME, uintptr(fd), uintptr(unsafe.Pointer(&raw)), uintptr(unsafe.Pointer(&size)))
	return e == 0
}

// Local returns the address that a socket's peer connected to.
func Local(fd int) Peer {
	var raw unix.RawSockaddrInet6
	size := uint32(unix.SizeofSockaddrInet6)
	unix.RawSyscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&raw)), uintptr(unsafe.Pointer(&size)))
	return peer(&raw)
}

// Recv reads into b. 0 bytes without an error is the end of the stream.
func Recv(fd int, b []byte) (n int, e Errno) { return recv(fd, b, 0) }

// Peek reads without taking anything out.
func Peek(fd int, b []byte) (n int, e Errno) { return recv(fd, b, unix.MSG_PEEK) }

func recv(fd int, b []byte, flags uintptr) (n int, e Errno) {
	for {
		r, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
			uintptr(len(b)), flags, 0, 0)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return 0, e
		}
		return int(r), 0
	}
}

// Send writes b; a peer that is gone is EPIPE and not a signal.
func Send(fd int, b []byte) (n int, e Errno) {
	for {
		r, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
			uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return 0, e
		}
		return int(r), 0
	}
}

// ShutdownWrite sends FIN after what was written.
func ShutdownWrite(fd int) Errno {
	_, _, e := unix.RawSyscall(unix.SYS_SHUTDOWN, uintptr(fd), unix.SHUT_WR, 0)
	return e
}

// Close gives the descriptor up. It must not be used afterwards.
func Close(fd int) { unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// Reset closes with RST, dropping what is not yet sent.
func Reset(fd int) {
	l := unix.Linger{Onoff: 1}
	unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_LINGER,
		uintptr(unsafe.Pointer(&l)), unix.SizeofLinger, 0)
	Close(fd)
}

// SetInt sets an integer option.
func SetInt(fd, level, option, value int) Errno {
	v := int32(value)
	_, _, e := unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(option),
		uintptr(unsafe.Pointer(&v)), 4, 0)
	return e
}

// NoDelay sends small pieces at once.
func NoDelay(fd int) { SetInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) }

// Error returns the socket's pending error, and clears it.
func Error(fd int) Errno {
	var v int32
	size := uint32(4)
	_, _, e := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_ERROR,
		uintptr(unsafe.Pointer(&v)), uintptr(unsafe.Pointer(&size)), 0)
	if e != 0 {
		return e
	}
	return Errno(v)
}

// Unacked returns how many sent bytes the peer has not acknowledged.
func Unacked(fd int) int {
	var v int32
	if _, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCOUTQ, uintptr(unsafe.Pointer(&v))); e != 0 {
		return 0
	}
	return int(v)
}

// Queued returns how many bytes can be read.
func Queued(fd int) int {
	var v int32
	if _, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCINQ, uintptr(unsafe.Pointer(&v))); e != 0 {
		return 0
	}
	return int(v)
}
