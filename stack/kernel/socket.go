package kernel

import (
	"github.com/panjf2000/gnet/v2/pkg/netpoll"

	"penstock/stack/sys"
)

// Watch registers a socket under ref, which must not be 0 and is below 2^31.
// The first event comes at once if there is one. False, with a line in the log,
// if the kernel refuses.
func (l *Loop) Watch(fd int, ref uint32) bool {
	l.table.put(fd, ref)
	if err := l.poller.AddReadWrite(&netpoll.PollAttachment{FD: fd}, true); err != nil {
		l.warn("can't watch a connection", "error", err)
		return false
	}
	return true
}

// Dial starts to connect to a server, within the budget. EMFILE says that
// there is no descriptor. The caller owns the socket and has to Watch it; Out
// tells that it is connected.
func (l *Loop) Dial(to *sys.Address) (fd int, e sys.Errno) {
	if !l.budget.dial() {
		return -1, emfile
	}
	fd, e = sys.Dial(to)
	if fd < 0 {
		l.budget.give()
	}
	return fd, e
}

// Close closes a client's or server's socket.
func (l *Loop) Close(fd int) {
	l.table.drop(fd)
	sys.Close(fd)
	l.budget.give()
}

// Reset closes a socket with RST.
func (l *Loop) Reset(fd int) {
	l.table.drop(fd)
	sys.Reset(fd)
	l.budget.give()
}

// Departed gives the place of a client back whose session is over.
func (l *Loop) Departed() { l.budget.left() }

// WatchRead registers a descriptor that is no connection's: Ready is called as
// long as there is something to read.
func (l *Loop) WatchRead(fd int, ref uint32) bool {
	l.table.put(fd, ref)
	if err := l.poller.AddRead(&netpoll.PollAttachment{FD: fd}, false); err != nil {
		l.warn("can't watch a descriptor", "error", err)
		return false
	}
	return true
}

// Unwatch ends that; the descriptor stays open.
func (l *Loop) Unwatch(fd int) {
	l.poller.Delete(fd)
	l.table.drop(fd)
}

// Admits says whether there is a place for one client more.
func (l *Loop) Admits() bool { return l.budget.open.Load() < l.budget.clients }

// Joined takes a place for a client that came in without a descriptor. It goes
// back with Departed.
func (l *Loop) Joined() { l.budget.open.Add(1) }
