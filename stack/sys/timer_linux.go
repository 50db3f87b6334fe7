package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// NewTimer opens a timerfd, not running.
func NewTimer() (fd int, err error) {
	return unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
}

// SetTimer makes the timerfd readable once, in ns nanoseconds (at least 1).
func SetTimer(fd int, ns int64) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(ns, 1))}
	unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(fd), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}

// NewWaker opens an eventfd, by which a thread wakes another one's poller.
func NewWaker() (fd int, err error) {
	return unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
}

// Wake makes the eventfd readable.
func Wake(fd int) {
	one := uint64(1)
	unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&one)), 8)
}
