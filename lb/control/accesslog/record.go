package accesslog

import (
	"net/netip"
	"slices"
	"time"

	"penstock/stack/proxy"
)

// record is a connection's end as it lies in a ring. It has no pointers, so
// that the garbage collector does not look at the rings.
type record struct {
	ended    int64 // Unix time in nanoseconds
	total    time.Duration
	wait     time.Duration
	connect  time.Duration
	up, down uint64
	client   [16]byte
	position uint32
	member   int32     // -1 none
	packets  [2]uint32 // up and down; zeros: not forwarded
	port     uint16
	virtual  uint16
	code     proxy.Code
	left     uint8 // index into lefts
	closer   uint8 // index into closers
}

// The words of proxy.Ended. The first of each stands for any other.
var (
	lefts   = []string{"unknown", "-", "served", "expired", "abandoned", "refused", "failed", "cut", "early", "shed", "flushed"}
	closers = []string{"unknown", "client", "server", "proxy"}
)

func index(words []string, s string) uint8 { return uint8(max(0, slices.Index(words, s))) }

func newRecord(e *proxy.Ended, now time.Time) record {
	return record{
		ended: now.UnixNano(), total: e.Accepted, wait: e.Wait, connect: e.Connect,
		up: e.Up, down: e.Down, position: uint32(e.Position),
		packets: [2]uint32{e.PacketsUp, e.PacketsDown},
		client:  e.Client.Addr().As16(), port: e.Client.Port(),
		member: int32(e.Member), virtual: uint16(e.Virtual),
		code: e.Code, left: index(lefts, e.Left), closer: index(closers, e.Closer),
	}
}

func (r *record) addr() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(r.client).Unmap(), r.port)
}
