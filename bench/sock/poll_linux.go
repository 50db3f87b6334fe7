package sock

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Poll is an epoll set. Every socket is registered once, for all events,
// edge-triggered; closing it takes it out.
type Poll struct {
	fd     int
	events [256]unix.EpollEvent
}

const everything = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff

// What an event may hold: Readable and Writable, Ended if the peer has sent
// its end or the socket is broken, Broken if both directions are over.
const (
	Readable = unix.EPOLLIN
	Writable = unix.EPOLLOUT
	Ended    = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	Broken   = unix.EPOLLHUP | unix.EPOLLERR
)

// Event says what holds now of the socket that was added with this id.
type Event = unix.EpollEvent

// NewPoll returns an empty set, which the caller closes.
func NewPoll() (*Poll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return &Poll{fd: fd}, err
}

// Close closes the set, not the sockets in it.
func (p *Poll) Close() { unix.Close(p.fd) }

// Add registers a socket; its events bear the id in Fd.
func (p *Poll) Add(fd, id int) error { return p.control(unix.EPOLL_CTL_ADD, fd, id) }

// Again makes the events of a socket come once more, behind those of others,
// if it is still ready: for who stops in the middle so as to let others work.
func (p *Poll) Again(fd, id int) error { return p.control(unix.EPOLL_CTL_MOD, fd, id) }

func (p *Poll) control(op, fd, id int) error { return p.controlFor(op, fd, id, everything) }

func (p *Poll) controlFor(op, fd, id int, events uint32) error {
	ev := unix.EpollEvent{Events: events, Fd: int32(id)}
	if _, _, e := unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(p.fd), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(&ev)), 0, 0); e != 0 {
		return e
	}
	return nil
}

// Wait returns the next events, none after the given milliseconds. They are
// good until the next Wait.
func (p *Poll) Wait(ms int) []Event {
	n, err := unix.EpollWait(p.fd, p.events[:], ms)
	if err != nil && err != unix.EINTR {
		panic(fmt.Sprintf("epoll_wait(%d): %v", p.fd, err))
	}
	return p.events[:max(n, 0)]
}

// WaitFor is Wait for a time that may be less than a millisecond. Less than
// nothing is nothing.
func (p *Poll) WaitFor(d time.Duration) []Event {
	ts := unix.NsecToTimespec(int64(max(d, 0)))
	n, _, e := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events)), uintptr(len(p.events)),
		uintptr(unsafe.Pointer(&ts)), 0, 0)
	switch e {
	case 0:
		return p.events[:n]
	case unix.EINTR:
		return nil
	case unix.ENOSYS: // before Linux 5.11
		return p.Wait(int((max(d, 0) + time.Millisecond - 1) / time.Millisecond))
	}
	panic(fmt.Sprintf("epoll_pwait2(%d): %v", p.fd, e))
}

// AddReader registers a socket that nobody waits to write to: unlike with Add,
// no event comes merely because it is writable. Again makes it as if added.
func (p *Poll) AddReader(fd, id int) error {
	return p.controlFor(unix.EPOLL_CTL_ADD, fd, id, everything&^unix.EPOLLOUT)
}
