package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// What the kernel may leave undone in frames it hands to a TAP's reader; see
// SetOffload.
const (
	OffloadChecksum = unix.TUN_F_CSUM
	OffloadTSO4     = unix.TUN_F_TSO4
	OffloadTSO6     = unix.TUN_F_TSO6
)

// OpenTun opens the tun driver in the network namespace of the calling thread.
// The descriptor belongs to no device until Attach, and is non-blocking.
func OpenTun() (fd int, e Errno) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	return fd, errno(err)
}

// Attach makes fd a queue of the named device, which is made if there is none.
// flags are IFF_*. EEXIST: it is one already.
func Attach(fd int, name string, flags uint16) Errno {
	r, e := request(name)
	if e != 0 {
		return e
	}
	r.SetUint16(flags)
	return errno(unix.IoctlIfreq(fd, unix.TUNSETIFF, r))
}

// Attached returns the name of the device that fd is a queue of; EBADFD if it
// is of none.
func Attached(fd int) (name string, e Errno) {
	var r unix.Ifreq
	e = errno(unix.IoctlIfreq(fd, unix.TUNGETIFF, &r))
	return r.Name(), e
}

// SetOffload says what readers of fd's device can take.
func SetOffload(fd int, flags int) Errno {
	return errno(unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, flags))
}

// SetVNetHeader makes the header before each frame size bytes long, in the
// byte order of this machine. It is a property of the device, and may have been
// changed by another program.
func SetVNetHeader(fd, size int) Errno {
	if e := errno(unix.IoctlSetPointerInt(fd, unix.TUNSETVNETHDRSZ, size)); e != 0 {
		return e
	}
	unix.IoctlSetPointerInt(fd, unix.TUNSETVNETBE, 0) // few kernels know it
	return errno(unix.IoctlSetPointerInt(fd, unix.TUNSETVNETLE, 0))
}

// Readv reads into several buffers at once.
func Readv(fd int, v []unix.Iovec) (n int, e Errno) { return vector(unix.SYS_READV, fd, v) }

// Writev writes several buffers at once.
func Writev(fd int, v []unix.Iovec) (n int, e Errno) { return vector(unix.SYS_WRITEV, fd, v) }

func vector(call uintptr, fd int, v []unix.Iovec) (n int, e Errno) {
	for {
		r, _, e := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v)))
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return 0, e
		}
		return int(r), 0
	}
}

// SetSteering has the program of that descriptor choose the queue of each frame
// that goes to fd's device; -1: the kernel chooses by itself. It stays with the
// device.
func SetSteering(fd, program int) Errno {
	return errno(unix.IoctlSetPointerInt(fd, unix.TUNSETSTEERINGEBPF, program))
}
