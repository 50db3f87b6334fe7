package load

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poll is an epoll set. Every socket is registered once, for all events,
// edge-triggered; closing it takes it out.
type poll struct {
	fd     int
	events [256]unix.EpollEvent
}

const everything = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff

const (
	ended  = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	broken = unix.EPOLLHUP | unix.EPOLLERR
)

func newPoll() (*poll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return &poll{fd: fd}, err
}

func (p *poll) close() { unix.Close(p.fd) }

// add registers a socket; its events bear the id.
func (p *poll) add(fd, id int) error { return p.control(unix.EPOLL_CTL_ADD, fd, id) }

// again makes the events of a socket come once more, behind those of others,
// if it is still ready: for who stops in the middle so as to let others work.
func (p *poll) again(fd, id int) error { return p.control(unix.EPOLL_CTL_MOD, fd, id) }

func (p *poll) control(op, fd, id int) error {
	ev := unix.EpollEvent{Events: everything, Fd: int32(id)}
	if _, _, e := unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(p.fd), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(&ev)), 0, 0); e != 0 {
		return e
	}
	return nil
}

// wait returns the next events, none after the given milliseconds.
func (p *poll) wait(ms int) []unix.EpollEvent {
	n, err := unix.EpollWait(p.fd, p.events[:], ms)
	if err != nil && err != unix.EINTR {
		panic(fmt.Sprintf("epoll_wait(%d): %v", p.fd, err))
	}
	return p.events[:max(n, 0)]
}
