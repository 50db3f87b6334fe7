package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Poll asks what a socket is ready for at this moment.
func Poll(fd int) (r Ready) {
	p := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN | unix.POLLOUT | unix.POLLRDHUP}
	var now unix.Timespec
	if _, _, e := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0); e != 0 {
		return Unsure
	}
	if p.Revents&unix.POLLIN != 0 {
		r |= In
	}
	if p.Revents&unix.POLLOUT != 0 {
		r |= Out
	}
	if p.Revents&(unix.POLLRDHUP|unix.POLLHUP) != 0 {
		r |= In | Fin
	}
	if p.Revents&unix.POLLERR != 0 {
		r |= In | Out | Err
	}
	return r
}
