package relay

import (
	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// Ends are connections that are no kernel sockets. Their calls are like those
// of package sys: nothing waits, EAGAIN says that nothing could be done, and
// reading nothing without an error is the end of the stream.
type Ends interface {
	Recv(conn uint32, b []byte) (n int, e sys.Errno)
	Send(conn uint32, b []byte) (n int, e sys.Errno)
	ShutdownWrite(conn uint32) sys.Errno
	// ReadTo passes what can be read on to a kernel socket, at most about most
	// bytes. Two errors: the connection's own, and the socket's.
	ReadTo(conn uint32, fd, most int) (n int, own, to sys.Errno)
	// WriteFrom sends n bytes at most that the socket has ready to be read; n
	// must not be more than that.
	WriteFrom(conn uint32, fd, n int) (int, sys.Errno)
}

// onePiece is from how many bytes on they may have come in more than one piece.
const onePiece = 512

// endBytes is turnBytes where one of the Ends is: it does TCP's work here, and
// what the kernel does of that besides is not to be had for nothing either.
const endBytes = 256 << 10

// EndSide is the side of a connection of the worker's Ends.
func EndSide(conn uint32) Side { return Side{FD: -2 - int32(conn)} }

// End says which of the worker's Ends a side is; not ok for a kernel socket.
func (s *Side) End() (conn uint32, ok bool) { return uint32(-2 - s.FD), s.FD < -1 }

// pumpEnd is Pump from one of the Ends to a kernel socket. It needs no buffer:
// what the socket does not take stays where it is.
func (w *Worker) pumpEnd(f *Flow, src, dst *Side, last bool) Status {
	conn, _ := src.End()
	for before := f.Bytes; f.Bytes-before < endBytes; {
		if f.held > 0 {
			if s := w.flush(f, dst); s != moved {
				return s
			}
		}
		if f.state&ended != 0 {
			return w.finish(f, dst, last)
		}
		if dst.Ready&sys.Out == 0 || src.Ready&sys.In == 0 {
			return Stuck
		}
		n, own, to := w.Ends.ReadTo(conn, int(dst.FD), endBytes)
		if f.Bytes += uint64(n); n >= onePiece || n > 0 && f.Bytes > uint64(n) {
			f.atOnce(dst) // also lets go what was held back just now
		}
		switch {
		case to == unix.EAGAIN:
			dst.Ready &^= sys.Out
			return Stuck
		case to != 0:
			return DstGone
		case n == 0 || own != 0:
			if s := f.got(n, own, src); s != moved {
				return s
			}
		}
	}
	return More
}

// fillEnd reads once from a kernel socket for one of the Ends. When much comes,
// it goes straight into the connection's segments.
func (w *Worker) fillEnd(f *Flow, src *Side, conn uint32, dst *Side) Status {
	if f.full >= spliceAfter && src.Ready&sys.Unsure == 0 {
		if n := sys.Queued(int(src.FD)); n > 0 {
			return w.straight(f, src, conn, dst, n)
		}
		f.full = spliceAfter - 1 // empty, or at its end: a read tells which
	}
	n, e := sys.Recv(int(src.FD), w.space)
	if s := f.got(n, e, src); s != moved {
		return s
	}
	if n < len(w.space) {
		f.full = 0
		f.shortRead(src)
	} else if f.full < spliceAfter {
		f.full++
	}
	return w.send(f, w.space[:n], dst)
}

// straight passes on n bytes that the socket has.
func (w *Worker) straight(f *Flow, src *Side, conn uint32, dst *Side, n int) Status {
	if n < len(w.space) {
		f.full = 0 // a trickle: copying is cheaper
	}
	n, e := w.Ends.WriteFrom(conn, int(src.FD), min(n, endBytes))
	switch {
	case e == unix.EAGAIN:
		dst.Ready &^= sys.Out
		return Stuck
	case e != 0:
		return DstGone
	}
	f.Bytes += uint64(n)
	return moved
}

// write sends to a side, whatever it is.
func (w *Worker) write(dst *Side, b []byte) (int, sys.Errno) {
	if conn, ok := dst.End(); ok {
		return w.Ends.Send(conn, b)
	}
	return sys.Send(int(dst.FD), b)
}

func (w *Worker) shutdown(dst *Side) sys.Errno {
	if conn, ok := dst.End(); ok {
		return w.Ends.ShutdownWrite(conn)
	}
	return sys.ShutdownWrite(int(dst.FD))
}
