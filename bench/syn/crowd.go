package syn

import (
	"encoding/binary"
	"net/netip"

	"penstock/bench/wire"
)

const (
	firstPort = 1024
	ports     = 1<<16 - firstPort
)

// crowd gives each number an address and a port: addresses in turn, and when
// all had one port the next. After all of them it begins again.
//
// Where it begins differs from run to run: else who comes would be met by what is
// left in TIME_WAIT of who had the same port a minute ago.
type crowd struct {
	first uint32 // address
	hosts uint32
	begin uint64 // the place of number 0
	seed  uint64
}

// newCrowd leaves the first and the last address out, which are no host's. Two
// crowds of a different now begin elsewhere.
func newCrowd(from netip.Prefix, seed, now uint64) crowd {
	a := from.Masked().Addr().As4()
	c := crowd{first: binary.BigEndian.Uint32(a[:]) + 1, hosts: 1<<(32-from.Bits()) - 2, seed: seed}
	c.begin = mix(now) % c.places()
	return c
}

func (c *crowd) flow(n uint32) wire.Flow {
	at := (c.begin + uint64(n)) % c.places()
	return wire.Flow{IP: c.first + uint32(at%uint64(c.hosts)), Port: uint16(firstPort + at/uint64(c.hosts))}
}

// places are all that there are.
func (c *crowd) places() uint64 { return uint64(c.hosts) * ports }

// number is the other way round, of the first that has the flow.
func (c *crowd) number(f wire.Flow) (n uint32, ok bool) {
	host := f.IP - c.first
	if host >= c.hosts || f.Port < firstPort {
		return 0, false
	}
	at := uint64(f.Port-firstPort)*uint64(c.hosts) + uint64(host)
	at = (at + c.places() - c.begin) % c.places()
	return uint32(at), at <= 1<<32-1
}

// stranger is one of a flood: the numbers' flows in an order that looks like
// chance. Multiplying by an odd number gives each its own.
func (c *crowd) stranger(n uint32) wire.Flow { return c.flow(n * 0x9e3779b1) }

// secrets are the initial sequence number of a handshake and what its clock was
// at the start.
func (c *crowd) secrets(n uint32) (isn, clock uint32) {
	x := mix(c.seed<<32 | uint64(n))
	return uint32(x), uint32(x >> 32)
}

// mix is splitmix64.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// state is how far a handshake is.
//
//	waiting --SYN-ACK--> up --served, or lost--> over
//	   `------reset------------------------------^
type state uint8

const (
	waiting state = iota
	up
	over
)

// record is what is kept of a handshake.
type record struct {
	start uint32 // µs after the run's beginning
	conn  uint32 // while up
	state state
}

// records are by number, in pages that never move.
type records struct {
	pages []*[pageSize]record
	n     uint32
}

const pageSize = 1 << 16

func (r *records) add(start uint32) (n uint32) {
	n = r.n
	if n%pageSize == 0 {
		r.pages = append(r.pages, new([pageSize]record))
	}
	r.n++
	r.at(n).start = start
	return n
}

func (r *records) at(n uint32) *record { return &r.pages[n/pageSize][n%pageSize] }
