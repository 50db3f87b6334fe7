package dispatch

import (
	"encoding/binary"
	"net/netip"
)

// Source is a client's address as IPv6, IPv4 mapped into it.
type Source struct{ Hi, Lo uint64 }

// unknown is the address of a client whose address is not known.
var unknown Source

// mapped is the upper half of Lo of an IPv4 address.
const mapped = 0xffff << 32

// SourceOf returns a's address as a Source.
func SourceOf(a netip.Addr) Source {
	if !a.IsValid() {
		return Source{}
	}
	b := a.As16()
	return Source{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

func (s Source) is4() bool { return s.Hi == 0 && s.Lo>>32 == mapped>>32 }

// on says whether anything of an address counts.
func (p Prefix) on() bool { return p.V4 != 0 || p.V6 != 0 }

// of returns the part of s that counts.
func (p Prefix) of(s Source) Source {
	if s.is4() {
		return s.masked(96 + int(p.V4))
	}
	return s.masked(int(p.V6))
}

// masked keeps the first bits of s.
func (s Source) masked(bits int) Source {
	if bits < 64 {
		return Source{Hi: s.Hi &^ (1<<(64-bits) - 1)}
	}
	return Source{s.Hi, s.Lo &^ (1<<(128-bits) - 1)}
}

// class is a ClassRule made ready.
type class struct {
	net  Source
	bits int
	rank uint8
}

func newClass(r ClassRule) class {
	bits := r.Prefix.Bits()
	if r.Prefix.Addr().Is4() {
		bits += 96
	}
	return class{SourceOf(r.Prefix.Addr()).masked(bits), bits, min(r.Class, topClass)}
}

// classOf returns the class of a client: that of the longest prefix it is in.
func (v *virtual) classOf(s Source) uint8 {
	for i := range v.classes { // longest first
		if c := &v.classes[i]; s.masked(c.bits) == c.net {
			return c.rank
		}
	}
	return v.class
}
