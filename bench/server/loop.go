package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"time"

	"penstock/bench/due"
	"penstock/bench/sock"
	"penstock/bench/tally"
)

// loop serves the connections that its listeners accepted. Every member has a
// listener in every loop.
type loop struct {
	// Constant after listen.
	server    *Server
	poll      *sock.Poll
	listeners []int // by member
	response  []byte
	request   []byte // what was just received
	random    *rand.Rand

	// Owned by the loop.
	conns  []conn   // by descriptor; listeners have one too
	delays due.Heap // of responses, by descriptor
	open   int64
	mode   Mode
	change int64 // ns; when the schedule's next step begins
	skew   int64 // ns; the server's, as that was found out
	hungry int64 // ns; accept lacked a descriptor: when to try again; 0: it didn't

	// What it has counted, from the start.
	requests, sent, received int64
	samples                  tally.Series

	// What it has counted since it heeded the server's last count, if there was one.
	counts         int64
	paused         bool
	wait, handover *tally.Histogram
	roll           roll
}

const (
	// look is how often a loop looks at its context.
	look = 50 * time.Millisecond

	// fast is how long accept waits for a descriptor, if none gets free.
	fast = 10 * time.Millisecond
)

func newLoop(s *Server, number int) *loop {
	return &loop{
		server:   s,
		response: make([]byte, tokenSize+sendMost),
		request:  make([]byte, receiveMost),
		random:   rand.New(rand.NewPCG(s.cfg.Seed, uint64(number))),
		wait:     tally.NewHistogram(),
		handover: tally.NewHistogram(),
		roll:     roll{most: mostSeats / s.cfg.Loops},
	}
}

// due says whether a connection has a request, read or not, that is still to be
// answered.
func (l *loop) due(fd int) bool {
	if c := &l.conns[fd]; c.asked > 0 || c.owed > 0 {
		return true
	}
	var b [1]byte
	n, _ := sock.Peek(fd, b[:])
	return n > 0
}

// listen opens the listeners. The first loop finds the ports that are any.
func (l *loop) listen() (err error) {
	if l.poll, err = sock.NewPoll(); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	for i, m := range l.server.members {
		if m.guard != nil && l.server.cfg.HalfClose {
			m.guard.due = l.due
		}
		fd, err := l.listenAt(m.address)
		if err != nil {
			return err
		}
		l.listeners = append(l.listeners, fd)
		*l.at(fd) = conn{state: listening, member: int32(i)}
		if m.address, err = sock.Local(fd); err != nil {
			return err
		}
		if err := l.poll.Add(fd, fd); err != nil {
			return fmt.Errorf("register: %w", err)
		}
	}
	return nil
}

// listenAt is sock.Listen, but a port that the kernel chose is then taken by
// its number, so that StopListening keeps it; and one that was given must be
// free, because only loops of one server may share it.
func (l *loop) listenAt(ap netip.AddrPort) (int, error) {
	first := l == l.server.loops[0]
	if first && ap.Port() != 0 {
		if err := sock.Free(ap); err != nil {
			return -1, err
		}
	}
	fd, err := sock.Listen(ap)
	if err != nil || ap.Port() != 0 {
		return fd, err
	}
	defer sock.Shut(fd)
	if ap, err = sock.Local(fd); err != nil {
		return -1, err
	}
	return sock.Listen(ap)
}

// close closes all descriptors of the loop.
func (l *loop) close() {
	if l.poll != nil {
		l.poll.Close()
	}
	for _, fd := range l.listeners {
		sock.Shut(fd)
	}
	for fd := range l.conns {
		if l.conns[fd].state == opened {
			l.leave(fd)
			sock.Shut(fd)
		}
	}
}

// at returns the connection of a descriptor. It is good until the next call.
func (l *loop) at(fd int) *conn {
	for len(l.conns) <= fd {
		l.conns = append(l.conns, conn{})
	}
	return &l.conns[fd]
}

func (l *loop) run(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for ctx.Err() == nil {
		now := l.server.clock.Now()
		l.samples.Sample(now, l.open)
		if err := l.turn(now); err != nil {
			return err
		}
		if l.mode == Stalling {
			time.Sleep(min(look, time.Duration(l.change-now)))
		} else if err := l.serve(now); err != nil {
			return err
		}
	}
	return nil
}

// serve does what there is to do, once.
func (l *loop) serve(now int64) error {
	for _, ev := range l.poll.WaitFor(time.Duration(l.wakeUp(now) - now)) {
		fd := int(ev.Fd)
		switch c := &l.conns[fd]; c.state {
		case opened:
			l.ready(fd, ev.Events)
		case listening:
			if err := l.accept(fd); err != nil {
				return err
			}
		}
	}
	l.respond()
	return l.retry()
}

// wakeUp is when the loop has something to do even if nothing happens.
func (l *loop) wakeUp(now int64) int64 {
	at := min(now+int64(look), l.change)
	if first, ok := l.delays.First(); ok {
		at = min(at, first)
	}
	if l.hungry != 0 {
		at = min(at, l.hungry)
	}
	return at
}

// heed begins to count anew, if it was told to. It comes before whatever is
// counted then, so that what happens after Count is counted for certain.
func (l *loop) heed() {
	l.paused = l.server.paused.Load()
	n := l.server.counts.Load()
	if n == l.counts {
		return
	}
	l.counts = n
	l.wait.Reset()
	l.handover.Reset()
	l.roll.clear()
}

// turn does what the schedule says for this time.
func (l *loop) turn(now int64) error {
	skew := l.server.skew.Load()
	if now < l.change && skew == l.skew {
		return nil
	}
	l.skew = skew
	began := l.server.began - skew
	mode, until := l.server.cfg.Does.At(time.Duration(now - began))
	l.change = int64(after(time.Duration(began), until))
	if mode == l.mode {
		return nil
	}
	was := l.mode
	for _, fd := range l.listeners {
		if err := l.undo(was, fd); err != nil {
			return fmt.Errorf("end %v: %w", was, err)
		}
	}
	l.mode = mode
	for _, fd := range l.listeners {
		if err := begin(mode, fd); err != nil {
			return fmt.Errorf("begin %v: %w", mode, err)
		}
	}
	l.server.turned.Add(1)
	return nil
}

func begin(m Mode, listener int) error {
	switch m {
	case Refusing:
		return sock.StopListening(listener)
	case Silent:
		return sock.Deafen(listener)
	}
	return nil
}

// undo ends a mode at a listener. A connection that became one in the instant
// in which the listener was made deaf is deaf too; it is accepted before that
// ends, because accept makes it hear.
func (l *loop) undo(m Mode, listener int) error {
	switch m {
	case Refusing:
		return sock.Relisten(listener)
	case Silent:
		for more := true; more; {
			var err error
			if more, err = l.acceptSome(listener); err != nil {
				return err
			}
		}
		return sock.Hear(listener)
	}
	return nil
}
