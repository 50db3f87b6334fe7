package kernel

import (
	"slices"

	"penstock/stack/sys"
)

// Listeners returns the descriptors of the listeners that were opened under
// an index, in the order of their opening.
func (l *Loop) Listeners(index int) (fds []int) {
	for _, ln := range l.listeners {
		if ln.index == index {
			fds = append(fds, ln.fd)
		}
	}
	return fds
}

// Indices returns the indices that all its listeners were opened under, in the
// order of their opening.
func (l *Loop) Indices() (all []int) {
	for _, ln := range l.listeners {
		all = append(all, ln.index)
	}
	return all
}

// SetOptions gives a listener other options. Connections that it accepted
// before keep theirs.
func (l *Loop) SetOptions(fd int, o Options) {
	clearOptions(fd)
	o.Apply(fd)
}

// CloseListener stops accepting for good at one listener. What waits in its
// backlog is cut off, unless DrainListener was called. False if there is none
// with that descriptor.
func (l *Loop) CloseListener(fd int) bool {
	i := l.listenerOf(fd)
	if i >= 0 {
		sys.Close(fd)
		l.listeners = slices.Delete(l.listeners, i, i+1)
	}
	return i >= 0
}

// DrainListener accepts what waits in a listener's backlog, as far as the
// budget allows.
func (l *Loop) DrainListener(fd int) {
	if i := l.listenerOf(fd); i >= 0 {
		l.now = Clock()
		l.listeners[i].batch = 1 << 16
		l.accept(i)
	}
}

// CloseListeners closes all of them, and what waits in their backlogs is cut
// off, unless DrainBacklog was called.
func (l *Loop) CloseListeners() {
	for i := range l.listeners {
		sys.Close(l.listeners[i].fd)
	}
	l.listeners = nil
	if l.paused {
		l.paused = false
		l.budget.paused.Add(-1)
	}
}

// DrainBacklog accepts what waits in all backlogs.
func (l *Loop) DrainBacklog() {
	for _, ln := range slices.Clone(l.listeners) {
		l.DrainListener(ln.fd)
	}
}
