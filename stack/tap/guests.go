package tap

import (
	"encoding/binary"
	"math/bits"

	"penstock/stack/sys"
)

// guests counts netstack's connections by a hash of their clients. A flood's SYNs are
// of nobody who has one, and netstack takes longer to say so than it takes to park them.
type guests struct {
	count []uint32
	of    []uint16 // by connection: where it is counted
}

const guestBits = 16

func newGuests() guests { return guests{count: make([]uint32, 1<<guestBits)} }

func guestHash(p *sys.Peer) uint16 {
	hi, lo := binary.LittleEndian.Uint64(p.Addr[:8]), binary.LittleEndian.Uint64(p.Addr[8:])
	const spread = 0x9e3779b97f4a7c15
	return uint16((lo*spread ^ bits.RotateLeft64(hi, 32) ^ uint64(p.Port)<<20) * spread >> (64 - guestBits))
}

// add counts a connection, remove does so no more.
func (g *guests) add(conn uint32, p *sys.Peer) {
	for int(conn) >= len(g.of) {
		g.of = append(g.of, make([]uint16, 1024)...)
	}
	g.of[conn] = guestHash(p)
	g.count[g.of[conn]]++
}

func (g *guests) remove(conn uint32) { g.count[g.of[conn]]-- }

// none says that a client surely has no connection.
func (g *guests) none(p *sys.Peer) bool { return g.count[guestHash(p)] == 0 }
