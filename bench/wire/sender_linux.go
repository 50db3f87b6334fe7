package wire

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// Batch is how many frames are handed over in one call at most. More gain
	// nothing: the call itself costs a fiftieth then.
	Batch = 64

	// Most is the largest frame of a Sender.
	Most = 2048
)

// ErrFull says that the device's queue has no room: the frame is dropped,
// unless it is tried again.
var ErrFull = errors.New("the device has no room")

// Sender collects frames and sends them.
type Sender struct {
	fd     int
	name   string
	queued [Batch]unix.Mmsghdr
	pieces [Batch]unix.Iovec
	frames [Batch][Most]byte
	from   int // the first that is not sent
	to     int // behind the last
}

// NewSender makes one for a device.
func NewSender(p Port) (*Sender, error) {
	fd, err := open(p, 0, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1)
	})
	if err != nil {
		return nil, err
	}
	s := &Sender{fd: fd, name: p.Name}
	for i := range s.queued {
		s.pieces[i].Base = &s.frames[i][0]
		s.queued[i].Hdr.Iov = &s.pieces[i]
		s.queued[i].Hdr.SetIovlen(1)
	}
	return s, nil
}

// Close closes it. What is not sent is lost.
func (s *Sender) Close() { unix.Close(s.fd) }

// Queued is how many frames wait for Flush; Batch of them are all there is room
// for.
func (s *Sender) Queued() int { return s.to - s.from }

// Next is room for the next frame, of n bytes, which the caller fills. There
// must be room.
func (s *Sender) Next(n int) []byte {
	if s.from == s.to {
		s.from, s.to = 0, 0
	}
	i := s.to
	s.to++
	s.pieces[i].SetLen(n)
	return s.frames[i][:n]
}

// Room says whether there is room for one more.
func (s *Sender) Room() bool { return s.to < Batch || s.from == s.to }

// Flush sends what waits. After ErrFull the first frame that is left can be
// tried again by the next Flush, or dropped by Drop.
func (s *Sender) Flush() error {
	for s.from < s.to {
		n, _, e := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.queued[s.from])),
			uintptr(s.to-s.from), unix.MSG_DONTWAIT, 0, 0)
		switch e {
		case 0:
			s.from += int(n)
		case unix.EINTR:
		case unix.ENOBUFS, unix.EAGAIN:
			return ErrFull
		default:
			return fmt.Errorf("send on %s: %w", s.name, e)
		}
	}
	return nil
}

// Drop leaves out the first frame that waits.
func (s *Sender) Drop() { s.from++ }
