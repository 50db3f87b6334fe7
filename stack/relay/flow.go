package relay

import (
	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// Side is one socket of a connection: its descriptor and what is known to be
// possible with it. Events add to Ready; Pump takes off what is used up.
type Side struct {
	FD    int32
	Ready sys.Ready
	// Nagle says that small pieces may be held back on the way out. It is
	// switched off before the second one: the first never waits, and a short
	// connection then needs no call for it.
	Nagle bool
}

// Flow is one direction of a proxied connection, without pointers. The zero
// value is the start of one.
type Flow struct {
	Bytes uint64 // passed on so far, of the source's

	held  uint32 // bytes read and not yet passed on, in the pipe or the buffer
	pipe  uint32 // index plus one into the worker's pipes
	buf   uint32 // index plus one into the worker's buffers
	full  uint8  // full reads in a row; from spliceAfter on the flow splices
	state flowState
}

type flowState uint8

const (
	ended     flowState = 1 << iota // the source's end has been read
	done                            // ... and passed on
	cut                             // an end of the source is no clean one
	preloaded                       // what is held is not the source's, and not counted
)

// Status is what Pump came to.
type Status uint8

const (
	moved    Status = iota // go on; Pump does not return it
	Stuck                  // until an event says more
	More                   // its turn is over, there is more to do
	Done                   // the end was passed on
	SrcReset               // the source broke off; all it had sent was passed on
	DstGone                // the destination takes no more; what was held is lost
)

const (
	turnBytes   = 1 << 20 // most that a flow moves before others get their turn
	spliceAfter = 2       // full reads
	pipeSize    = 1 << 20 // 64 KiB to 1 MiB: fewer calls the larger, see BENCHMARKS.md
)

// Cut marks the source as broken: when all it sent is read, Pump returns
// SrcReset, even if the kernel reports a clean end by then.
func (f *Flow) Cut() { f.state |= cut }

// Done says whether the flow's end was passed on.
func (f *Flow) Done() bool { return f.state&done != 0 }

// Fresh says that nothing was read of the source's yet, but perhaps its end.
func (f *Flow) Fresh() bool { return f.Bytes == 0 && f.held == 0 }

// Pump moves bytes from src to dst until one of them can't, or the flow's
// turn is over. last says that dst's other direction is over too: its socket
// is about to be closed, which sends the FIN that Pump then need not send.
func (w *Worker) Pump(f *Flow, src, dst *Side, last bool) Status {
	if f.state&done != 0 {
		return Done
	}
	if _, ok := src.End(); ok {
		return w.pumpEnd(f, src, dst, last)
	}
	most := uint64(turnBytes)
	if _, ok := dst.End(); ok {
		most = endBytes
	}
	for before := f.Bytes; f.Bytes-before < most; {
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
		if s := w.fill(f, src, dst); s != moved {
			return s
		}
	}
	return More
}

// finish passes the end on.
func (w *Worker) finish(f *Flow, dst *Side, last bool) Status {
	if f.state&cut != 0 {
		return SrcReset
	}
	f.state |= done
	if last {
		return Done
	}
	if e := w.shutdown(dst); e != 0 && e != unix.ENOTCONN {
		return DstGone
	}
	return Done
}

// fill reads once. Nothing is held when it is called, so the pipe is empty.
func (w *Worker) fill(f *Flow, src, dst *Side) Status {
	if conn, ok := dst.End(); ok {
		return w.fillEnd(f, src, conn, dst)
	}
	if f.full >= spliceAfter && src.Ready&sys.Unsure == 0 && w.borrow(f) {
		return w.splice(f, src)
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

// got sorts out the result of a read.
func (f *Flow) got(n int, e sys.Errno, src *Side) Status {
	switch {
	case e == unix.EAGAIN:
		src.Ready &^= sys.In | sys.Unsure
		return Stuck
	case e != 0:
		src.Ready &^= sys.In
		return SrcReset
	case n == 0:
		src.Ready &^= sys.In
		f.state |= ended
		if f.state&cut != 0 {
			return SrcReset
		}
	}
	return moved
}

// shortRead draws the conclusion from a read that left room: nothing is left,
// so there is no need to ask again. What comes later makes a new event. If FIN
// had come, and nothing worse, this was the end.
func (f *Flow) shortRead(src *Side) {
	switch {
	case src.Ready&sys.Unsure != 0:
	case src.Ready&sys.Err != 0: // the error is still to be read
	case src.Ready&sys.Fin != 0:
		f.state |= ended
	default:
		src.Ready &^= sys.In
	}
}

// send passes bytes on; what does not fit is held.
func (w *Worker) send(f *Flow, b []byte, dst *Side) Status {
	if len(b) == 0 {
		return moved
	}
	f.atOnce(dst)
	n, e := w.write(dst, b)
	if e != 0 && e != unix.EAGAIN {
		return DstGone
	}
	f.Bytes += uint64(n)
	if n < len(b) {
		dst.Ready &^= sys.Out
		w.hold(f, b[n:])
		return Stuck
	}
	return moved
}

// atOnce sees to it that the second piece and those behind it are not held
// back.
func (f *Flow) atOnce(dst *Side) {
	if dst.Nagle && f.Bytes > 0 {
		sys.NoDelay(int(dst.FD))
		dst.Nagle = false
	}
}

// splice reads into the flow's pipe, which is empty, so EAGAIN can't mean that
// the pipe is full (sozu-proxy/sozu#1323). But splice stops at urgent data, and
// says then that the socket is empty or at its end, so in both cases a read
// has the last word. A short splice proves nothing: the pipe may have run out
// of slots.
func (w *Worker) splice(f *Flow, src *Side) Status {
	n, e := sys.Splice(int(src.FD), w.pipes[f.pipe-1].W, pipeSize)
	if e == unix.EAGAIN || e == 0 && n == 0 {
		w.giveBack(f)
		f.full = spliceAfter - 1
		return moved
	}
	if e != 0 {
		w.giveBack(f)
		return f.got(0, e, src)
	}
	if n < len(w.space) {
		f.full = 0 // a trickle: copying is cheaper
	}
	f.held = uint32(n)
	return moved
}

// flush passes on what is held, all of it or until dst has no room.
func (w *Worker) flush(f *Flow, dst *Side) Status {
	f.atOnce(dst)
	for f.held > 0 {
		if dst.Ready&sys.Out == 0 {
			return Stuck
		}
		n, e := w.flushOnce(f, dst)
		if e == unix.EAGAIN {
			dst.Ready &^= sys.Out
			return Stuck
		}
		if e != 0 {
			return DstGone
		}
		f.held -= uint32(n)
		if f.state&preloaded == 0 {
			f.Bytes += uint64(n)
		}
	}
	f.state &^= preloaded
	w.giveBack(f)
	return moved
}

func (w *Worker) flushOnce(f *Flow, dst *Side) (int, sys.Errno) {
	if f.pipe != 0 {
		return sys.Splice(w.pipes[f.pipe-1].R, int(dst.FD), int(f.held))
	}
	b := w.buffers[f.buf-1].B
	return w.write(dst, b[len(b)-int(f.held):])
}
