package kernel

import (
	"time"

	"github.com/panjf2000/gnet/v2/pkg/netpoll"
	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

func (l *Loop) listenerOf(fd int) int {
	for i := range l.listeners {
		if l.listeners[i].fd == fd {
			return i
		}
	}
	return -1
}

// accept takes connections off a backlog. The registration is level-triggered,
// so it may stop before the backlog is empty: it takes as many as the last
// turn suggests, and so seldom makes the call that finds nothing.
func (l *Loop) accept(i int) {
	ln := l.listeners[i]
	got := 0
	for got < ln.batch {
		if !l.budget.accept() {
			l.pause(0)
			break
		}
		fd, from, e := l.acceptor.Accept(ln.fd)
		if e == 0 {
			got++
			l.handler.Accepted(ln.index, fd, from, l.now)
			continue
		}
		l.budget.unaccept()
		if again := l.acceptFailed(e); !again {
			break
		}
	}
	if len(l.listeners) <= i || l.listeners[i].fd != ln.fd {
		return // the handler closed it
	}
	if got == ln.batch {
		l.listeners[i].batch = min(2*got, acceptMost)
	} else {
		l.listeners[i].batch = max(got, 1)
	}
}

// acceptFailed says whether to try on. Nothing ends a listener but us.
func (l *Loop) acceptFailed(e sys.Errno) (again bool) {
	switch e {
	case unix.EAGAIN:
		return false
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		l.warn("accept failed, pausing", "error", e.Error())
		l.pause(retryPause)
		return false
	default: // ECONNABORTED, EPROTO, EPERM, network errors: of that client
		return true
	}
}

// pause stops accepting until there is room, or for the given time.
func (l *Loop) pause(retry time.Duration) {
	if l.paused {
		return
	}
	l.paused = true
	l.retryAt = 0
	if retry > 0 {
		l.retryAt = l.now + int64(retry)
	}
	for i := range l.listeners {
		l.poller.Delete(l.listeners[i].fd)
	}
	l.budget.paused.Add(1)
	if retry == 0 {
		l.warn("full, not accepting for now", "descriptors", l.budget.Used(), "of", l.budget.Max(),
			"clients", l.budget.Clients(), "most", l.budget.clients)
		if l.budget.room() { // one was freed before the pause could be seen
			l.Wake()
		}
	}
}

// tryResume starts accepting again if there is room.
func (l *Loop) tryResume() {
	if l.retryAt > l.now {
		return
	}
	l.retryAt = 0
	if !l.budget.room() {
		return
	}
	l.paused = false
	l.budget.paused.Add(-1)
	for i := range l.listeners {
		if err := l.poller.AddRead(&netpoll.PollAttachment{FD: l.listeners[i].fd}, false); err != nil {
			l.warn("resume listener", "error", err)
			l.pause(retryPause)
			return
		}
	}
}

// warn writes a line unless one was written a moment ago.
func (l *Loop) warn(msg string, args ...any) {
	if l.lastWarn != 0 && l.now-l.lastWarn < int64(warnPause) {
		return
	}
	l.lastWarn = l.now
	l.log.Warn(msg, args...)
}
