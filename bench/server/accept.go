package server

import (
	"fmt"
	"syscall"

	"penstock/bench/sock"
)

// acceptMost is how many are accepted before the others have their turn. When
// clients come as fast as they are served, there is always one more.
const acceptMost = 256

// accept takes those that wait, or as many as are its turn.
func (l *loop) accept(listener int) error {
	more, err := l.acceptSome(listener)
	if more {
		l.poll.Again(listener, listener)
	}
	return err
}

// acceptSome says whether more may wait. A request is often there already, and
// then a short connection is over before it would be registered.
func (l *loop) acceptSome(listener int) (more bool, err error) {
	m := l.conns[listener].member
	for range acceptMost {
		fd, err := sock.Accept(listener)
		switch {
		case err == sock.ErrAgain:
			return false, nil
		case err == nil:
			if err := l.welcome(fd, m); err != nil {
				return false, err
			}
		case wants(err):
			l.server.members[m].starved.Add(1)
			l.hungry = l.server.clock.Now() + int64(fast)
			return false, nil
		case err == syscall.EINVAL && l.mode == Refusing:
			return false, nil
		case !passes(err):
			return false, fmt.Errorf("accept: %w", err)
		}
	}
	return true, nil
}

// wants says that accept lacked something that others may give back.
func wants(err error) bool {
	switch err {
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
		return true
	}
	return false
}

// passes says that accept tells of the one connection only (see accept(2)).
func passes(err error) bool {
	switch err {
	case syscall.EINTR, syscall.ECONNABORTED, syscall.EPERM, syscall.EPROTO, syscall.ENETDOWN, syscall.ENOPROTOOPT,
		syscall.EHOSTDOWN, syscall.ENONET, syscall.EHOSTUNREACH, syscall.EOPNOTSUPP, syscall.ENETUNREACH:
		return true
	}
	return false
}

// retry accepts again what there was no descriptor for, when one has become
// free or some time is over. The edge is past: no event will come for it.
func (l *loop) retry() error {
	if l.hungry == 0 || l.hungry > l.server.clock.Now() {
		return nil
	}
	l.hungry = 0
	for _, fd := range l.listeners {
		if err := l.accept(fd); err != nil {
			return err
		}
	}
	return nil
}

// welcome begins a connection of a member. The loop owns it then.
func (l *loop) welcome(fd int, m int32) error {
	l.heed()
	now := l.server.clock.Now()
	c := l.at(fd)
	*c = conn{state: opened, member: m, accepted: now}
	if l.mode == Silent {
		sock.Hear(fd) // most are not deaf, and it fails
	}
	l.open++
	if err := l.come(fd, c, now); err != nil {
		return err
	}
	if l.ready(fd, sock.Readable); c.state != opened {
		return nil
	}
	if err := l.poll.Add(fd, fd); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	return nil
}

// come counts a connection that was accepted.
func (l *loop) come(fd int, c *conn, now int64) error {
	m := l.server.members[c.member]
	m.came()
	if g := m.guard; g != nil {
		if err := g.take(fd, now-l.server.began); err != nil {
			return fmt.Errorf("look for ends: %w", err)
		}
		c.freed = g.succeed()
	}
	if !l.paused {
		c.seat = l.roll.enter(now)
	}
	return nil
}

// leave counts a connection that is over, and forgets it. Its descriptor is
// still open, and the caller's.
func (l *loop) leave(fd int) {
	c := &l.conns[fd]
	m := l.server.members[c.member]
	m.open.Add(-1)
	l.open--
	if m.guard != nil {
		m.guard.release(fd, l.server.clock.Now())
	}
	l.delays.Clear(fd)
	*c = conn{}
	if l.hungry != 0 {
		l.hungry = 1 // a time that is over: retry at once
	}
}
