package load

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Server answers. Made by Listen; Serve runs it once.
type Server struct {
	cfg   ServerConfig
	loops []*serverLoop
	open  gauge
}

// Counts is what a server has done.
type Counts struct {
	Accepted int64 `json:"accepted"`
	MaxOpen  int64 `json:"max_open"` // most connections at one time
	Requests int64 `json:"requests"`
	Bytes    int64 `json:"bytes"` // sent
}

// Listen takes the address: connections made from now on wait for Serve.
func Listen(cfg ServerConfig) (*Server, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg}
	for range cfg.Loops {
		l, err := newServerLoop(s)
		if err != nil {
			s.close()
			return nil, err
		}
		s.loops = append(s.loops, l)
		s.cfg.Listen = l.address // with its port, if it was 0
	}
	return s, nil
}

func (s *Server) close() {
	for _, l := range s.loops {
		l.close()
	}
}

// Address is where the server listens.
func (s *Server) Address() netip.AddrPort { return s.cfg.Listen }

// Serve runs the loops until ctx is done, closes everything, and tells what
// was done.
func (s *Server) Serve(ctx context.Context) (Counts, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var working sync.WaitGroup
	errs := make([]error, len(s.loops))
	for i, l := range s.loops {
		working.Go(func() {
			errs[i] = l.run(ctx)
			stop() // one that fails ends all
		})
	}
	working.Wait()
	s.close()
	sum := Counts{MaxOpen: s.open.most.Load()}
	for _, l := range s.loops {
		sum.Accepted += l.counts.Accepted
		sum.Requests += l.counts.Requests
		sum.Bytes += l.counts.Bytes
	}
	return sum, errors.Join(errs...)
}

// gauge counts what is open over all loops, and the most there ever was.
type gauge struct{ now, most atomic.Int64 }

func (g *gauge) inc() {
	n := g.now.Add(1)
	for m := g.most.Load(); n > m && !g.most.CompareAndSwap(m, n); m = g.most.Load() {
	}
}

func (g *gauge) dec() { g.now.Add(-1) }

const (
	// sendMost is how much is sent at once, from a buffer that stays in the
	// cache. Copying it costs 0.08 s/GB; sendfile from a file in memory cost
	// 0.09, since it goes page by page, and MSG_ZEROCOPY copies on loopback.
	sendMost = 256 << 10

	// turn is how much one connection may send before the others.
	turn = 4 << 20

	// forever is owed by a stream.
	forever = 1 << 62
)

// serverLoop serves the connections that its listener accepted.
type serverLoop struct {
	// Constant after creation.
	server   *Server
	listener int
	address  netip.AddrPort
	response []byte
	poll     *poll

	// Owned by the loop.
	conns  []conn // by descriptor
	counts Counts
}

// conn is one connection. Its zero value is closed.
type conn struct {
	open bool
	got  int // bytes of a request not yet whole
	owed int // bytes of responses not yet sent
}

func newServerLoop(s *Server) (l *serverLoop, err error) {
	l = &serverLoop{server: s, listener: -1, response: make([]byte, sendMost)}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.poll, err = newPoll(); err != nil {
		return l, err
	}
	if l.listener, err = listen(s.cfg.Listen); err != nil {
		return l, err
	}
	if l.address, err = local(l.listener); err != nil {
		return l, err
	}
	return l, l.poll.add(l.listener, l.listener)
}

// close closes the loop's own descriptors, then its connections.
func (l *serverLoop) close() {
	if l.poll != nil {
		l.poll.close()
	}
	if l.listener >= 0 {
		shut(l.listener)
	}
	for fd := range l.conns {
		if l.conns[fd].open {
			l.hangUp(fd)
		}
	}
}

func (l *serverLoop) run(ctx context.Context) error {
	const check = 50 // ms between looks at ctx
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for ctx.Err() == nil {
		for _, ev := range l.poll.wait(check) {
			if fd := int(ev.Fd); fd != l.listener {
				l.ready(fd, ev.Events)
			} else if err := l.accept(); err != nil {
				return err
			}
		}
	}
	return nil
}

// accept takes all that wait. A request is often there already, and then a
// short connection is over before it would be registered.
func (l *serverLoop) accept() error {
	for {
		fd, err := accept(l.listener)
		if err == errAgain {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		for len(l.conns) <= fd {
			l.conns = append(l.conns, conn{})
		}
		l.conns[fd] = conn{open: true}
		l.counts.Accepted++
		l.server.open.inc()
		if l.ready(fd, unix.EPOLLIN); !l.conns[fd].open {
			continue
		}
		if err := l.poll.add(fd, fd); err != nil {
			return fmt.Errorf("register: %w", err)
		}
	}
}

// ready goes on with a connection until it has to wait or is over. The events
// are all that hold now, not only the new ones, so a request that came while
// a response was stuck is not forgotten.
func (l *serverLoop) ready(fd int, events uint32) {
	c := &l.conns[fd]
	for drained := events&(unix.EPOLLIN|ended) == 0; ; {
		if c.owed > 0 && !l.push(fd, c) || drained {
			return
		}
		drained = l.pull(fd, c, events)
	}
}

// pull receives requests, and says whether all that came was received. Less
// than was asked for is all, unless the client's end is there to be seen too.
func (l *serverLoop) pull(fd int, c *conn, events uint32) (drained bool) {
	n, err := discard(fd, discardMost)
	if err == errAgain {
		return true
	}
	if err != nil || n == 0 {
		l.hangUp(fd)
		return true
	}
	c.got += n
	whole := c.got / l.server.cfg.Request
	c.got %= l.server.cfg.Request
	l.answer(c, whole)
	return n < discardMost && events&ended == 0
}

// answer begins the responses to whole requests.
func (l *serverLoop) answer(c *conn, requests int) {
	if requests == 0 {
		return
	}
	l.counts.Requests += int64(requests)
	switch l.server.cfg.Then {
	case Stay:
		c.owed = requests * l.server.cfg.Response
	case Close:
		c.owed = l.server.cfg.Response
	case Stream:
		c.owed = forever
	}
}

// push sends what is owed. It says whether the connection can go on: not if it
// has to wait or is over.
func (l *serverLoop) push(fd int, c *conn) bool {
	for sent := 0; c.owed > 0; {
		n, err := send(fd, l.response[:min(c.owed, sendMost)])
		if err == errAgain {
			return false
		}
		if err != nil {
			l.hangUp(fd)
			return false
		}
		c.owed -= n
		sent += n
		l.counts.Bytes += int64(n)
		if sent >= turn && c.owed > 0 {
			l.poll.again(fd, fd) // not registered yet? add does the same
			return false
		}
	}
	if l.server.cfg.Then == Close {
		l.hangUp(fd)
	}
	return c.open
}

// hangUp closes a connection; in order, if all that came was received.
func (l *serverLoop) hangUp(fd int) {
	l.conns[fd] = conn{}
	l.server.open.dec()
	shut(fd)
}
