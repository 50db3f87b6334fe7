package device

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"penstock/stack/sys"
)

// MaxFrame is the largest frame a queue hands over: 64 KiB that we may cut into
// segments ourselves, with headers.
const MaxFrame = 64<<10 + 64

// VNet stands before each frame: what the kernel left undone when we read it,
// or shall do when we write it (struct virtio_net_hdr, in the machine's byte
// order).
type VNet struct {
	Flags      uint8  // NeedsCsum, DataValid
	GSO        uint8  // GSONone, GSOTCP4, GSOTCP6
	HdrLen     uint16 // Ethernet, IP and TCP header together, if GSO
	GSOSize    uint16 // payload of each segment, if GSO
	CsumStart  uint16 // where summing begins, if NeedsCsum: the TCP header
	CsumOffset uint16 // where the sum goes, from there; the pseudo header's is there already
}

const sizeofVNet = 10

// Values of VNet's Flags and GSO.
const (
	NeedsCsum = 1 // the checksum is the pseudo header's only
	DataValid = 2 // the checksum was found right

	GSONone = 0
	GSOTCP4 = 1
	GSOTCP6 = 4
)

// plain leaves nothing undone.
var plain VNet

// Queue is one queue of a device. All frames of a flow come through one queue,
// which the kernel chooses by addresses and ports, or Config.Steer; unless it is
// steered, writing any frame of the flow through another queue moves it there.
// Fragments have no ports, so that their queue may be another one than the flow's.
type Queue struct {
	// Constant after Open.
	dev *Device
	fd  int

	// Owned by the loop.
	seen   uint32 // the device's word when Check looked last
	failed bool   // a read failed since
	held   held

	in  inCounts
	out outCounts
}

// FD returns the descriptor to watch, the same one until Close.
func (q *Queue) FD() int { return q.fd }

// Waiting says whether there is a frame. Loop only.
func (q *Queue) Waiting() bool { return sys.Poll(q.fd)&sys.In != 0 }

// Read reads a frame, its beginning into a and the rest into b, which together
// should hold MaxFrame: what doesn't fit is lost. n is the frame's length.
// EAGAIN: there is none. Any other error: Check next. Loop only.
func (q *Queue) Read(h *VNet, a, b []byte) (n int, e sys.Errno) {
	v := [3]unix.Iovec{part(h.bytes()), part(a), part(b)}
	n, e = sys.Readv(q.fd, v[:])
	if e == 0 && n > sizeofVNet {
		n -= sizeofVNet
		q.in.frames.Add(1)
		q.in.bytes.Add(uint64(n))
		return n, 0
	}
	if e == 0 {
		e = unix.EBADMSG // there is no frame without a byte
	}
	q.failed = q.failed || e != unix.EAGAIN
	return 0, e
}

func (h *VNet) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(h)), sizeofVNet) }

func part(b []byte) unix.Iovec {
	return unix.Iovec{Base: unsafe.SliceData(b), Len: uint64(len(b))}
}

// mostParts is how many a frame may have before they are put together here.
const mostParts = 32

// Write writes one frame, whose parts follow each other. An error means that it
// was dropped, and is counted. The kernel takes a frame of any size, so one
// larger than the MTU must be GSO. Any goroutine.
func (q *Queue) Write(h *VNet, parts [][]byte) sys.Errno {
	if len(parts) > mostParts {
		return q.writeJoined(h, parts)
	}
	var v [1 + mostParts]unix.Iovec
	v[0] = part(h.bytes())
	for i, p := range parts {
		v[1+i] = part(p)
	}
	return q.write(v[:1+len(parts)])
}

// WriteFrame writes a frame with nothing left undone. Any goroutine.
func (q *Queue) WriteFrame(b []byte) sys.Errno {
	v := [2]unix.Iovec{part(plain.bytes()), part(b)}
	return q.write(v[:])
}

// joined are buffers for frames of too many parts.
var joined = sync.Pool{New: func() any { return new([]byte) }}

func (q *Queue) writeJoined(h *VNet, parts [][]byte) sys.Errno {
	all := joined.Get().(*[]byte)
	b := (*all)[:0]
	for _, p := range parts {
		b = append(b, p...)
	}
	v := [2]unix.Iovec{part(h.bytes()), part(b)}
	e := q.write(v[:])
	*all = b
	joined.Put(all)
	return e
}

func (q *Queue) write(v []unix.Iovec) sys.Errno {
	n, e := sys.Writev(q.fd, v)
	if e != 0 {
		q.out.drop(e)
		return e
	}
	q.out.frames.Add(1)
	q.out.bytes.Add(uint64(n - sizeofVNet))
	return 0
}
