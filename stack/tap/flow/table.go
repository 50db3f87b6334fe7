package flow

import (
	"unsafe"

	"penstock/stack/tap/frame"
	"penstock/stack/tap/rows"
	"penstock/stack/tap/track"
)

// Table holds the flows of one loop.
type Table struct {
	most  int
	flows rows.Store[Flow]
	annex rows.Store[frame.Addr] // of clients with IPv6 addresses
	vias  vias
	by    [2]index // by track.Side

	trimmed int64 // when memory was last given back
}

// index is what finds flows by one side's keys.
type index struct {
	seeds   rows.Seeds
	buckets rows.Buckets
	used    int // flows in it: not those that left
}

func (x *index) hash(k *Key) uint32 {
	return x.seeds.Hash(&k.Addr, uint32(k.Port)<<16|uint32(k.Tag))
}

// New returns an empty table for at most so many flows. The seed should be
// random: who knows it can choose addresses that make the table slow. made is told
// of the table's memory, and may have it in large pages.
func New(most int, seed uint64, made rows.Made) *Table {
	t := &Table{most: min(most, 1<<32-1-rows.Len)}
	t.flows.Made = made
	for s := range t.by {
		x := &t.by[s]
		x.seeds = rows.NewSeeds(rows.Mix(seed + uint64(s)))
		x.buckets.Start(bucketTenths, made)
	}
	return t
}

// bucketTenths is how many buckets there are for ten flows: as many as leave a
// flow at less than 128 bytes, since each record that is met on the way to
// another one is memory in no cache.
const bucketTenths = 19

// Len returns how many flows there are.
func (t *Table) Len() int { return t.flows.Used() }

// At returns a flow, which stays where it is until it is freed.
func (t *Table) At(i uint32) *Flow { return t.flows.At(i) }

// Next returns the first flow behind i, in no order that means anything; 0 if
// there is none. Begin with 0. Any may be freed meanwhile.
func (t *Table) Next(i uint32) uint32 { return t.flows.Next(i) }

// FindClient returns the flow whose client has that key, or 0.
func (t *Table) FindClient(k *Key) uint32 { return t.find(track.Client, k) }

// FindServer returns the flow whose server knows it by that key, or 0.
func (t *Table) FindServer(k *Key) uint32 { return t.find(track.Server, k) }

func (t *Table) find(s track.Side, k *Key) uint32 {
	x := &t.by[s]
	for i := *x.buckets.Of(x.hash(k)); i != 0; {
		f := t.flows.At(i)
		if f.port[s] == k.Port && f.tag[s] == k.Tag && t.from(f, s, &k.Addr) {
			return i
		}
		i = f.next[s]
	}
	return 0
}

// from says whether a flow's client has that address, to a side.
func (t *Table) from(f *Flow, s track.Side, a *frame.Addr) bool {
	switch {
	case s == track.Server && f.via != 0:
		return *t.vias.at(f.via) == *a
	case f.flags&annexed != 0:
		return *t.annex.At(f.ip) == *a
	}
	ip, ok := is4(a)
	return ok && ip == f.ip
}

// Add makes a flow. server has the address and port that the server gets to see
// as its client's. There must be none with either key. It is not ok if the table
// is full, or if servers would see more than 65,535 addresses that are not their
// clients' own.
func (t *Table) Add(client, server Key) (i uint32, ok bool) {
	if t.flows.Used() >= t.most {
		return 0, false
	}
	via := uint16(0)
	if server.Addr != client.Addr {
		if via, ok = t.vias.number(&server.Addr); !ok {
			return 0, false
		}
	}
	i = t.flows.Alloc()
	f := t.flows.At(i)
	f.port, f.tag, f.via = [2]uint16{client.Port, server.Port}, [2]uint16{client.Tag, server.Tag}, via
	if f.ip, ok = is4(&client.Addr); !ok {
		f.ip = t.annex.Alloc()
		*t.annex.At(f.ip) = client.Addr
		f.flags = annexed
	}
	t.link(track.Client, i, f, &client)
	t.link(track.Server, i, f, &server)
	return i, true
}

// Leave gives a flow's client key up, for another one. The flow is found by its
// server's only from now on.
func (t *Table) Leave(i uint32) {
	f := t.flows.At(i)
	if f.flags&left == 0 {
		t.unlink(track.Client, i, f)
		f.flags |= left
	}
}

// Free gives a flow up.
func (t *Table) Free(i uint32) {
	f := t.flows.At(i)
	if f.flags&left == 0 {
		t.unlink(track.Client, i, f)
	}
	t.unlink(track.Server, i, f)
	if f.flags&annexed != 0 {
		t.annex.Free(f.ip)
	}
	t.flows.Free(i)
}

// ClientKey returns what a flow's client calls it, also if it left.
func (t *Table) ClientKey(i uint32) Key { return t.key(t.flows.At(i), track.Client) }

// ServerKey returns what a flow's server calls it.
func (t *Table) ServerKey(i uint32) Key { return t.key(t.flows.At(i), track.Server) }

func (t *Table) key(f *Flow, s track.Side) Key {
	k := Key{Port: f.port[s], Tag: f.tag[s]}
	switch {
	case s == track.Server && f.via != 0:
		k.Addr = *t.vias.at(f.via)
	case f.flags&annexed != 0:
		k.Addr = *t.annex.At(f.ip)
	default:
		k.Addr = addr4(f.ip)
	}
	return k
}

// Bytes returns the memory that the table holds.
func (t *Table) Bytes() int {
	n := int(unsafe.Sizeof(*t)) + t.flows.Bytes() + t.annex.Bytes() + t.vias.bytes()
	for s := range t.by {
		n += t.by[s].buckets.Bytes()
	}
	return n
}
