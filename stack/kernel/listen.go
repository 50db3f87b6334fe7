package kernel

import (
	"fmt"
	"time"

	"github.com/panjf2000/gnet/v2/pkg/netpoll"
	"github.com/panjf2000/gnet/v2/pkg/socket"
	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// Options are what a listener's connections inherit, so that none of them
// needs a call of its own.
type Options struct {
	Keepalive   time.Duration // idle before the first probe; 0: no keep-alive
	UserTimeout time.Duration // TCP_USER_TIMEOUT; 0: the kernel's
}

const (
	keepInterval = 10 // seconds between probes
	keepProbes   = 3

	// parkedBuffer is how much a client that is not read may send. The kernel
	// doubles it for its own book-keeping.
	parkedBuffer = 8 << 10

	// soBufLock is SO_BUF_LOCK (Linux 5.15). Setting it to 0 lets the kernel
	// tune a buffer again whose size was set: connections start with a small
	// window, with the full window scale, and grow once they are read.
	soBufLock = 72

	acceptMost = 64 // accepted before other sockets get their turn

	retryPause = 100 * time.Millisecond // after EMFILE and its like
	warnPause  = 10 * time.Second       // between two lines about it
)

const emfile = unix.EMFILE

type listener struct {
	fd    int
	index int // as the handler knows it
	batch int // how many to accept before looking elsewhere
}

// Listen opens this loop's own listener and starts accepting when the loop
// runs, or has its next turn. index is passed to Accepted. It returns the
// address, with the port that was chosen if a.Port is 0.
func (l *Loop) Listen(index int, a Address, o Options) (Address, error) {
	fd, at, err := Bind(a, o)
	if err != nil {
		return a, err
	}
	if err := l.Take(fd, index); err != nil {
		sys.Close(fd)
		return a, fmt.Errorf("listen on %v: %w", a, err)
	}
	return at, nil
}

// Take makes a socket of Bind a listener of this loop, which owns it from then
// on. After an error it is the caller's still.
func (l *Loop) Take(fd, index int) error {
	if err := unix.Listen(fd, backlog); err != nil {
		return err
	}
	if err := l.admit(fd); err != nil {
		return err
	}
	l.listeners = append(l.listeners, listener{fd: fd, index: index, batch: 1})
	return nil
}

// admit has the poller watch a listener. A loop that pauses does so when it
// goes on.
func (l *Loop) admit(fd int) error {
	if l.paused {
		return nil
	}
	return l.poller.AddRead(&netpoll.PollAttachment{FD: fd}, false)
}

// smallStart bounds what a parked client can make the kernel hold, if the kernel
// knows SO_BUF_LOCK: a locked buffer would cost the connection its window scale.
func smallStart(fd, size int) error {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, soBufLock, 0) != nil {
		return nil
	}
	if err := socket.SetRecvBuffer(fd, size); err != nil {
		return err
	}
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, soBufLock, 0)
}

// Apply sets the options on a socket that did not inherit them. A kernel that
// refuses one goes on with its default.
func (o Options) Apply(fd int) {
	if o.Keepalive > 0 {
		sys.SetInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
		sys.SetInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, int(max(o.Keepalive, time.Second)/time.Second))
		sys.SetInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, keepInterval)
		sys.SetInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, keepProbes)
	}
	if o.UserTimeout > 0 {
		sys.SetInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(o.UserTimeout/time.Millisecond))
	}
}

// clearOptions takes them back.
func clearOptions(fd int) {
	sys.SetInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 0)
	sys.SetInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 0)
}
