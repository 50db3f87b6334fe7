package device

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// What Send holds back: small frames, which go to the kernel in one system call
// (io_uring). It saves the call, and more than that: for as long as it lasts
// nobody whom the frames wake up takes the processor from us, only to wait for
// the next frame. Large frames would not gain, and are in no need of a copy.
//
// Reading the same way was tried: a read that finds nothing costs as much as it
// saves to read two frames at once.
const (
	holdMost  = 64      // frames; the kernel takes some 2 µs for each, in one go
	holdBytes = 2 << 10 // of a frame with its header
	holdRoom  = 64 << 10
)

// held is owned by the loop.
type held struct {
	ring  *sys.Ring // made by the first Send
	plain bool      // there can't be one
	sent  int       // frames by the ring since Flush
	rest  rest
}

// room returns where to put a frame of n bytes; nil: it is not to be held back,
// or Flush comes first.
func (s *held) room(fd, n int) []byte {
	if n > holdBytes || s.plain {
		return nil
	}
	if s.ring == nil {
		var e sys.Errno
		if s.ring, e = sys.OpenRing(holdMost, holdRoom); e != 0 {
			s.plain = true
			return nil
		}
	}
	return s.ring.Add(fd, n)
}

func (s *held) len() int {
	if s.ring == nil {
		return 0
	}
	return s.ring.Len()
}

func (s *held) close() {
	if s.ring != nil {
		s.ring.Close()
	}
	s.ring, s.plain = nil, true
}

// Send writes a frame of two parts, the second of which may be empty. It may be
// held back until Flush, and be overtaken by what is written otherwise; what is
// sent stays in order. The parts and h are only lent. That the frame was dropped
// is counted. Loop only.
func (q *Queue) Send(h *VNet, head, tail []byte) {
	b := q.hold(h, len(head)+len(tail))
	if b == nil {
		v := [3]unix.Iovec{part(h.bytes()), part(head), part(tail)}
		q.write(v[:])
		return
	}
	copy(b, head)
	copy(b[len(head):], tail)
}

// SendParts is Send for a frame of any number of parts. Loop only.
func (q *Queue) SendParts(h *VNet, parts [][]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	b := q.hold(h, n)
	if b == nil {
		q.Write(h, parts)
		return
	}
	for _, p := range parts {
		b = b[copy(b, p):]
	}
}

// hold returns where to put a frame of n bytes that is held back, with h before
// it. nil: it is to be written, and nothing is held any more.
func (q *Queue) hold(h *VNet, n int) []byte {
	n += sizeofVNet
	b := q.held.room(q.fd, n)
	if b == nil {
		q.flush()
		if b = q.held.room(q.fd, n); b == nil {
			return nil
		}
	}
	return b[copy(b, h.bytes()):]
}

// Held says whether Flush has something to write. Loop only.
func (q *Queue) Held() bool { return q.held.len() > 0 }

// Last returns the frame that was held back last, whose bytes may be changed, and
// what stands before it. nil: it has left, or was not held. Loop only.
func (q *Queue) Last() (h *VNet, frame []byte) {
	n := q.held.len()
	if n == 0 {
		return nil, nil
	}
	b, _, _ := q.held.ring.Write(n - 1)
	return (*VNet)(unsafe.Pointer(unsafe.SliceData(b))), b[sizeofVNet:]
}

// Flush writes what is held back. Call it when all is sent that is to be sent
// now: after a good many frames it lets others run. Loop only.
func (q *Queue) Flush() {
	q.flush()
	if q.held.sent >= restAfter {
		q.held.rest.take()
	}
	q.held.sent = 0
}

func (q *Queue) flush() {
	r := q.held.ring
	switch q.held.len() {
	case 0:
		return
	case 1: // cheaper without
		b, _, _ := r.Write(0)
		q.writeHeld(b)
		r.Clear()
	default:
		q.submit(r)
	}
}

func (q *Queue) writeHeld(b []byte) {
	v := [1]unix.Iovec{part(b)}
	q.write(v[:])
}

// submit writes what is held, all at once, or one by one what the ring did not
// do. One that can't be relied on is given up.
func (q *Queue) submit(r *sys.Ring) {
	failed := r.Submit()
	q.held.sent += r.Len()
	frames, bytes, undone := 0, 0, 0
	for i := range r.Len() {
		b, n, e := r.Write(i)
		switch e {
		case 0:
			frames++
			bytes += n - sizeofVNet
		case unix.EOPNOTSUPP:
			undone++
			q.writeHeld(b)
		default:
			q.out.drop(e)
		}
	}
	q.out.frames.Add(uint64(frames))
	q.out.bytes.Add(uint64(bytes))
	r.Clear()
	if undone > 0 && failed != unix.EAGAIN && failed != unix.EBUSY {
		q.held.close()
	}
}
