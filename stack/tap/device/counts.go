package device

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// Counts is what went through a queue so far; In is from the kernel.
type Counts struct {
	InFrames, InBytes   uint64
	OutFrames, OutBytes uint64
	// Frames that could not be written, by reason.
	DroppedDown    uint64 // the link was down
	DroppedGone    uint64 // there was no device
	DroppedMemory  uint64 // the kernel had no room
	DroppedInvalid uint64 // the kernel did not take it for a frame
}

// Counts returns the queue's counters. Any goroutine.
func (q *Queue) Counts() Counts {
	return Counts{
		InFrames: q.in.frames.Load(), InBytes: q.in.bytes.Load(),
		OutFrames: q.out.frames.Load(), OutBytes: q.out.bytes.Load(),
		DroppedDown: q.out.down.Load(), DroppedGone: q.out.gone.Load(),
		DroppedMemory: q.out.memory.Load(), DroppedInvalid: q.out.invalid.Load(),
	}
}

// inCounts are written by the loop, on cache lines of their own.
type inCounts struct {
	_             [64]byte
	frames, bytes atomic.Uint64
	_             [64]byte
}

// outCounts are written by whoever writes frames.
type outCounts struct {
	frames, bytes               atomic.Uint64
	down, gone, memory, invalid atomic.Uint64
	_                           [64]byte
}

func (c *outCounts) drop(e sys.Errno) {
	switch e {
	case unix.EIO:
		c.down.Add(1)
	case unix.EBADFD, unix.EBADF:
		c.gone.Add(1)
	case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM:
		c.memory.Add(1)
	default:
		c.invalid.Add(1)
	}
}
