package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Poll asks what a socket is ready for at this moment.
func Poll(fd int) Ready {
	p := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN | unix.POLLOUT | unix.POLLRDHUP}
	var now unix.Timespec
	if _, _, e := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0); e != 0 {
		return Unsure
	}
	return ReadyOf(uint32(uint16(p.Revents)))
}
