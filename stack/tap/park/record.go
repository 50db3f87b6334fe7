package park

import (
	"encoding/binary"

	"penstock/stack/tap/frame"
)

// Key names a handshake: a client's address and port, and the owner's number of
// the address that it wants.
type Key struct {
	Peer          frame.Addr
	Port, Virtual uint16
}

// Syn is what a client says in its SYN.
type Syn struct {
	Seq     uint32
	Window  uint16
	Options frame.Options
}

// Record is one handshake. Its fields are the owner's; the table sets Since,
// Virtual and Hop, and starts with the rest at zero.
type Record struct {
	next uint32 // of the same bucket; 0: the last
	peer uint32 // IPv4 address, or index of an annex
	port uint16

	Virtual uint16 // part of the key: to be read only
	isn     uint32

	Since     int64  // when it was added
	Slot, Gen uint32 // of a dispatch.Waiter while it is parked, or what the owner likes
	Position  uint32
	tsval     uint32 // of the last SYN
	last      uint32 // milliseconds; when that came
	gap       uint16 // longest time between two SYNs so far, in units of gapUnit; 0: there was one only
	window    uint16
	mss       uint16
	Hop       uint16 // where the last SYN came from
	State     uint8
	flags     flags
	ws        int8
	Mark      uint8 // for whatever else the owner wants to know
}

type flags uint8

const (
	annexed   flags = 1 << iota // peer is an index
	stamped                     // the last SYN had timestamps
	selective                   // and permitted SACK
	steady                      // the client's timestamps count milliseconds
	doubted                     // but the last two SYNs did not say so
	expected                    // more SYNs will come as long as the client is there
)

// annex is what does not fit into a record: an IPv6 address, and what a client
// was told in a cookie. Proven IPv4 clients have one, too.
type annex struct {
	addr       frame.Addr
	iss, tsval uint32
}

// put notes what a SYN says, but not when it came.
func (r *Record) put(s *Syn) {
	o := &s.Options
	r.isn, r.window, r.mss, r.ws, r.tsval = s.Seq, s.Window, o.MSS, o.WS, o.TSVal
	r.flags &^= stamped | selective
	if o.TS {
		r.flags |= stamped
	}
	if o.SACK {
		r.flags |= selective
	}
}

// said is the way back.
func (r *Record) said() Syn {
	return Syn{Seq: r.isn, Window: r.window, Options: frame.Options{
		TSVal: r.tsval, MSS: r.mss, WS: r.ws,
		SACK: r.flags&selective != 0, TS: r.flags&stamped != 0,
	}}
}

// words are an address as two numbers. Of an IPv4 address hi is 0 and lo is
// mapped and the address.
func words(a *frame.Addr) (hi, lo uint64) {
	return binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(a[8:])
}

const mapped = uint64(0xffff) << 32

func addr4(ip uint32) (a frame.Addr) {
	binary.BigEndian.PutUint64(a[8:], mapped|uint64(ip))
	return a
}

// is4 returns the address as a number if it is an IPv4 one.
func is4(a *frame.Addr) (ip uint32, ok bool) {
	hi, lo := words(a)
	return uint32(lo), hi == 0 && lo>>32 == 0xffff
}
