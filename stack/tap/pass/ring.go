package pass

import (
	"encoding/binary"
	"sync/atomic"

	"penstock/stack/tap/device"
)

// ring is a queue of frames with one writer and one reader.
//
// Positions count bytes and never go back; a frame lies at its position modulo
// the size, in one piece: one that begins before the end runs on into the slack
// behind it. The bytes at the beginning that it would have taken are left alone
// until it is gone, so there is room for the next one as if it had wrapped.
type ring struct {
	// Constant.
	mem  []byte // size and slack
	size uint64 // a power of two

	_    [cacheLine]byte
	tail atomic.Uint64 // the writer's: the end of what was put
	free uint64        // the writer's: what head was, or less

	_    [cacheLine]byte
	head atomic.Uint64 // the reader's: the end of what was taken

	_ [cacheLine]byte
}

const cacheLine = 64

// mostRecord is what the largest frame takes.
const mostRecord = headSize + (device.MaxFrame+headSize-1)/headSize*headSize

// newRing makes a ring for at least so many bytes, and for any frame.
func newRing(bytes int) *ring {
	size := uint64(1)
	for size < uint64(max(bytes, mostRecord)) {
		size *= 2
	}
	return &ring{mem: make([]byte, size+mostRecord), size: size}
}

// headSize is the size of what stands before each frame. Frames begin at
// multiples of it, so none of these runs into the slack unless its frame does.
//
//	0  length of the frame
//	4  tag
//	5  device.VNet: flags, GSO
//	8  header length, segment size, checksum's start and offset
const headSize = 16

func recordSize(n int) uint64 { return uint64(headSize+n+headSize-1) &^ (headSize - 1) }

// put appends a frame; its two parts follow each other. Writer only. Not ok: it
// is full.
func (r *ring) put(tag uint8, h *device.VNet, head, tail []byte) bool {
	n := len(head) + len(tail)
	at, size := r.tail.Load(), recordSize(n)
	if at+size-r.free > r.size {
		if r.free = r.head.Load(); at+size-r.free > r.size {
			return false
		}
	}
	b := r.mem[at&(r.size-1):][:size]
	putHead(b, n, tag, h)
	copy(b[headSize:], head)
	copy(b[headSize+len(head):], tail)
	r.tail.Store(at + size)
	return true
}

// empty says whether there is nothing to take; a ring that was never made is.
// Reader only.
func (r *ring) empty() bool { return r == nil || r.head.Load() == r.tail.Load() }

// take calls f with the frames there are, at most so many, and says how many. h
// is where f finds what stands before the frame. Reader only. A frame's room is
// the writer's again when f has returned.
func (r *ring) take(from, most int, h *device.VNet, f func(from int, tag uint8, h *device.VNet, b []byte)) (n int) {
	if r == nil {
		return 0
	}
	at, end := r.head.Load(), r.tail.Load()
	for ; n < most && at != end; n++ {
		b := r.mem[at&(r.size-1):]
		length, tag := getHead(b, h)
		f(from, tag, h, b[headSize:headSize+length:headSize+length])
		at += recordSize(length)
		r.head.Store(at)
	}
	return n
}

var ne = binary.NativeEndian

func putHead(b []byte, n int, tag uint8, h *device.VNet) {
	ne.PutUint32(b, uint32(n))
	b[4], b[5], b[6] = tag, h.Flags, h.GSO
	ne.PutUint16(b[8:], h.HdrLen)
	ne.PutUint16(b[10:], h.GSOSize)
	ne.PutUint16(b[12:], h.CsumStart)
	ne.PutUint16(b[14:], h.CsumOffset)
}

func getHead(b []byte, h *device.VNet) (n int, tag uint8) {
	h.Flags, h.GSO = b[5], b[6]
	h.HdrLen, h.GSOSize = ne.Uint16(b[8:]), ne.Uint16(b[10:])
	h.CsumStart, h.CsumOffset = ne.Uint16(b[12:]), ne.Uint16(b[14:])
	return int(ne.Uint32(b)), b[4]
}
