package term

import (
	"io"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip"

	"penstock/stack/sys"
)

// Recv reads into b. 0 bytes without an error is the end of the stream. EAGAIN:
// nothing there. ECONNRESET, ETIMEDOUT and the like: the connection broke off,
// and all that came before has been read; it stays so.
func (s *Stack) Recv(conn uint32, b []byte) (n int, e sys.Errno) {
	return s.recv(s.conns[conn], b, false)
}

// Peek reads without taking anything out.
func (s *Stack) Peek(conn uint32, b []byte) (n int, e sys.Errno) {
	return s.recv(s.conns[conn], b, true)
}

func (s *Stack) recv(c *conn, b []byte, peek bool) (int, sys.Errno) {
	s.sink = sink{b: b, fd: -1}
	n, e := c.read(&s.sink, peek)
	s.sink.b = nil
	return n, e
}

// ReadTo passes what can be read on to a kernel socket, at most about most
// bytes. What the socket does not take stays in the connection. There are two
// errors: own, the connection's, as Recv has it, and to, the socket's. n may be
// more than 0 in spite of to. The end of the stream is 0, 0, 0.
func (s *Stack) ReadTo(conn uint32, fd, most int) (n int, own, to sys.Errno) {
	s.sink = sink{fd: fd, left: most}
	n, own = s.conns[conn].read(&s.sink, false)
	return n, own, s.sink.e
}

// read has netstack write what it has into w.
func (c *conn) read(w *sink, peek bool) (int, sys.Errno) {
	res, err := c.ep.Read(w, tcpip.ReadOptions{Peek: peek})
	if err != nil {
		return 0, c.readError(err)
	}
	if !peek {
		c.tune(res.Count)
	}
	return res.Count, 0
}

func (c *conn) readError(err tcpip.Error) sys.Errno {
	switch err.(type) {
	case *tcpip.ErrWouldBlock:
		return unix.EAGAIN
	case *tcpip.ErrBadBuffer:
		return 0 // the sink took nothing, and knows why
	case *tcpip.ErrClosedForReceive:
		return c.settle()
	}
	return c.fail(err)
}

// tuneEvery is after how many bytes netstack hears of what was read, by which it
// lets the window grow. It costs a lock, and small pieces tell nothing.
const tuneEvery = 16 << 10

func (c *conn) tune(n int) {
	if c.copied += n; c.copied >= tuneEvery {
		c.ep.ModerateRecvBuf(c.copied)
		c.copied = 0
	}
}

// sink is where netstack writes received bytes to: into b, or if that is nil to
// a kernel socket. It writes piece by piece, and takes out of the connection
// as many bytes as the sink says that it took.
type sink struct {
	b    []byte
	fd   int
	left int       // at most, to fd
	e    sys.Errno // fd's
}

// Write implements io.Writer.
func (w *sink) Write(p []byte) (n int, err error) {
	if w.fd < 0 {
		n = copy(w.b, p)
		w.b = w.b[n:]
	} else if w.left > 0 {
		n, w.e = sys.Send(w.fd, p[:min(len(p), w.left)])
		w.left -= n
	}
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// Send takes as much of b as there is room for. EAGAIN: none. EPIPE: behind
// ShutdownWrite. ECONNRESET and the like: broken off.
func (s *Stack) Send(conn uint32, b []byte) (n int, e sys.Errno) {
	s.source = source{b: b, fd: -1, left: len(b)}
	n, e = s.conns[conn].write(&s.source)
	s.source.b = nil
	return n, e
}

// WriteFrom sends n bytes at most that a kernel socket has ready to be read; n
// must not be more than that (sys.Queued). Returns how many it took: fewer, if
// there is less room. The socket's bytes go straight into what is sent, and
// stay in the socket when there is no room.
func (s *Stack) WriteFrom(conn uint32, fd, n int) (int, sys.Errno) {
	s.source = source{fd: fd, left: n}
	c := s.conns[conn]
	if n < fillLeast || s.inline.queue == nil {
		return c.write(&s.source)
	}
	n, err := c.fill(s.net.Clock(), &s.source)
	return c.wrote(n, err)
}

// write has netstack read what there is room for.
func (c *conn) write(r *source) (int, sys.Errno) {
	// Atomic has netstack keep its locks while it reads. Otherwise it lets go of
	// them, and what it read is lost if there is less room afterwards.
	n, err := c.ep.Write(r, tcpip.WriteOptions{Atomic: true})
	return c.wrote(int(n), err)
}

// wrote is what came of n bytes being handed over.
func (c *conn) wrote(n int, err tcpip.Error) (int, sys.Errno) {
	switch err.(type) {
	case nil:
		return n, 0
	case *tcpip.ErrWouldBlock:
		return 0, unix.EAGAIN
	case *tcpip.ErrBadBuffer:
		// The socket had less than was said. What netstack had read of it is
		// lost, so that nothing may follow.
		c.fail(err)
		reset(c.ep)
		return 0, c.failed
	case *tcpip.ErrClosedForSend:
		if e := c.settle(); e != 0 {
			return 0, e
		}
		return 0, unix.EPIPE
	}
	return 0, c.fail(err)
}

// source is where netstack reads bytes to send from: b, or if that is nil a
// kernel socket. Netstack relies on Len: it asks until it has got so many, or
// an error by which it loses them.
type source struct {
	b    []byte
	fd   int
	left int
}

// Len implements tcpip.Payloader.
func (r *source) Len() int { return r.left }

// Read implements io.Reader. Netstack calls it without a buffer to see whether
// the end is near.
func (r *source) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.fd < 0 {
		n = copy(p, r.b)
		r.b = r.b[n:]
	} else {
		var e sys.Errno
		if n, e = sys.Recv(r.fd, p); e != 0 {
			return 0, e
		}
	}
	if n == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return n, nil
}
