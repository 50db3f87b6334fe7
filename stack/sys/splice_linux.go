package sys

import "golang.org/x/sys/unix"

// Pipe is a pipe's two ends.
type Pipe struct{ R, W int }

// NewPipe opens a pipe that holds size bytes, or as many as the kernel grants
// a user without privileges.
func NewPipe(size int) (p Pipe, capacity int, e Errno) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		return p, 0, err.(unix.Errno)
	}
	p = Pipe{fds[0], fds[1]}
	if n, err := unix.FcntlInt(uintptr(p.W), unix.F_SETPIPE_SZ, size); err == nil {
		return p, n, 0
	}
	n, _ := unix.FcntlInt(uintptr(p.W), unix.F_GETPIPE_SZ, 0)
	return p, n, 0
}

// Close closes both ends.
func (p Pipe) Close() {
	Close(p.R)
	Close(p.W)
}

// Splice moves up to n bytes from one descriptor to another, one of which is
// a pipe, without copying them through this process. EAGAIN does not tell
// whether the source is empty or the pipe is full. SPLICE_F_MORE is never
// said: the kernel would hold the last piece back (golang/go#10948).
func Splice(from, to, n int) (int, Errno) {
	for {
		r, _, e := unix.RawSyscall6(unix.SYS_SPLICE, uintptr(from), 0, uintptr(to), 0, uintptr(n),
			unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return 0, e
		}
		return int(r), 0
	}
}
