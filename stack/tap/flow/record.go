package flow

import (
	"encoding/binary"

	"penstock/stack/tap/frame"
	"penstock/stack/tap/track"
)

// Key names a flow to one side: the client's address and port, as that side has
// them, and a number of the owner's for what the segment is to (the client's) or
// comes from (the server's).
type Key struct {
	Addr      frame.Addr
	Port, Tag uint16
}

// Flow is one connection. Its exported fields are the owner's, and begin at zero.
//
// The table's come first: records are 112 bytes apart in rows that begin a cache
// line, so that each 16 bytes lie in one line, and 80 in two. Who is not found at
// the first record of a chain has read the first 16 of it.
type Flow struct {
	next [2]uint32 // by track.Side, as all pairs here: of the same bucket; 0: the last
	ip   uint32    // the client's IPv4 address, or index of an annex
	port [2]uint16

	tag   [2]uint16
	via   uint16 // what the server has as its client's address; 0: the client's own
	Hop   uint16
	flags flags

	Mark, Code uint8

	Active uint32 // milliseconds; when the last segment came
	Conn   track.Conn

	Packets   [2]uint32 // of each side that were passed on, modulo 2^32
	bytesLow  [2]uint32
	bytesHigh [2]uint16
	Connect   uint32 // microseconds that the server took

	// From here on nothing is needed for a segment that passes.
	Since, Granted int64  // when the client came and when it got its slot
	Held           uint64 // the slot
	Attempt        uint32
}

type flags uint8

const (
	annexed flags = 1 << iota // ip is an index
	left                      // the client's key is somebody else's now
)

// Count notes a segment from a side, with so many bytes; it may take back some that
// were counted before.
func (f *Flow) Count(from track.Side, bytes int) {
	f.Packets[from]++
	n := f.Bytes(from) + uint64(bytes)
	f.bytesLow[from], f.bytesHigh[from] = uint32(n), uint16(n>>32)
}

// Bytes returns how many a side has sent, as counted, modulo 2^48.
func (f *Flow) Bytes(from track.Side) uint64 {
	return uint64(f.bytesHigh[from])<<32 | uint64(f.bytesLow[from])
}

// is4 returns the address as a number if it is an IPv4 one.
func is4(a *frame.Addr) (ip uint32, ok bool) {
	return binary.BigEndian.Uint32(a[12:]), frame.Is4(a)
}

func addr4(ip uint32) (a frame.Addr) {
	binary.BigEndian.PutUint64(a[8:], 0xffff<<32|uint64(ip))
	return a
}
