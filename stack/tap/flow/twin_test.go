package flow

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"penstock/stack/tap/frame"
	"penstock/stack/tap/track"
)

// twin is the table as anybody would write it: maps, and everything by name.
type twin struct {
	limit   int
	all     map[uint32]*kept
	clients map[Key]uint32
	servers map[Key]uint32
}

type kept struct {
	client, server Key
	left           bool
	due            int64
	packets        [2]uint32
	bytes          [2]uint64
	held           uint64 // what the owner wrote
}

// machine drives the table and its twin side by side.
type machine struct {
	*Table
	twin
	now  int64
	held uint64
	keys *rapid.Generator[Key]
}

func (m *machine) draw(t *rapid.T) (uint32, *kept) {
	if len(m.all) == 0 {
		t.Skip("empty")
	}
	all := slices.Sorted(maps.Keys(m.all))
	i := all[rapid.IntRange(0, len(all)-1).Draw(t, "flow")]
	return i, m.all[i]
}

func (m *machine) add(t *rapid.T, client, server Key) {
	c, s := m.FindClient(&client), m.FindServer(&server)
	if c != m.clients[client] || s != m.servers[server] {
		t.Fatalf("found %d for %v and %d for %v, should be %d and %d", c, client, s, server, m.clients[client], m.servers[server])
	}
	if c != 0 || s != 0 {
		return
	}
	i, ok := m.Table.Add(client, server)
	if ok != (len(m.all) < m.limit) {
		t.Fatalf("Add says %v with %d flows of %d", ok, len(m.all), m.limit)
	}
	if !ok {
		return
	}
	f := m.At(i)
	if f.Held != 0 || f.Since != 0 || f.Packets != [2]uint32{} || f.Bytes(track.Client) != 0 || f.Bytes(track.Server) != 0 {
		t.Fatalf("flow %d does not begin at zero: %+v", i, *f)
	}
	m.held++
	f.Held = m.held
	m.all[i] = &kept{client: client, server: server, due: Never, held: m.held}
	m.clients[client], m.servers[server] = i, i
}

func (m *machine) Add_(t *rapid.T) {
	client := m.keys.Draw(t, "client")
	server := client
	server.Tag = rapid.Uint16Range(0, 2).Draw(t, "server")
	if rapid.Bool().Draw(t, "snat") {
		server = m.keys.Draw(t, "server")
	}
	m.add(t, client, server)
}

// Burst adds many, so that buckets are split and rows filled.
func (m *machine) Burst(t *rapid.T) {
	client, server := m.keys.Draw(t, "client"), m.keys.Draw(t, "server")
	for range rapid.IntRange(1, 9000/slower).Draw(t, "n") {
		client.Port++
		server.Port += 7
		m.add(t, client, server)
	}
}

func (m *machine) gone(i uint32) {
	k := m.all[i]
	delete(m.all, i)
	delete(m.servers, k.server)
	if !k.left {
		delete(m.clients, k.client)
	}
}

// Lull frees most of them.
func (m *machine) Lull(t *rapid.T) {
	every := rapid.Uint32Range(1, 40).Draw(t, "every")
	for i := m.Next(0); i != 0; i = m.Next(i) {
		if i%every != 0 {
			m.gone(i)
			m.Table.Free(i)
		}
	}
}

func (m *machine) Free_(t *rapid.T) {
	i, _ := m.draw(t)
	m.gone(i)
	m.Table.Free(i)
}

func (m *machine) Leave_(t *rapid.T) {
	i, k := m.draw(t)
	m.Table.Leave(i)
	if !k.left {
		delete(m.clients, k.client)
	}
	k.left = true
	if rapid.Bool().Draw(t, "again") { // the client's new flow, while the old one lasts
		server := m.keys.Draw(t, "server")
		m.add(t, k.client, server)
	}
}

func (m *machine) Count_(t *rapid.T) {
	i, k := m.draw(t)
	side := track.Side(rapid.IntRange(0, 1).Draw(t, "side"))
	n := rapid.IntRange(0, 1<<31).Draw(t, "n")
	m.At(i).Count(side, n)
	k.packets[side]++
	k.bytes[side] += uint64(n)
}

func (m *machine) Due_(t *rapid.T) {
	i, k := m.draw(t)
	at := m.now + rapid.Int64Range(-10, 1000).Draw(t, "in")
	m.Table.Due(i, at)
	k.due = min(k.due, at)
}

// Walk_ goes once over all, in portions. Of those that are looked at some go,
// one takes its neighbour with it, and some want to be looked at again.
func (m *machine) Walk_(t *rapid.T) {
	m.now += rapid.Int64Range(0, 500).Draw(t, "wait")
	budget := rapid.IntRange(1, 700).Draw(t, "budget")
	every := rapid.Uint32Range(1, 5).Draw(t, "every")
	want := map[uint32]bool{}
	for i, k := range m.all {
		want[i] = k.due <= m.now
	}
	looked := map[uint32]bool{}
	look := func(i uint32) int64 {
		k := m.all[i]
		if k == nil || looked[i] {
			t.Fatalf("%d is not there, or looked at twice", i)
		}
		looked[i] = true
		if i%every == 0 {
			for _, j := range []uint32{i, i + 1} {
				if m.all[j] != nil {
					m.gone(j)
					m.Table.Free(j)
					delete(want, j)
				}
			}
			return 0
		}
		if k.due <= m.now {
			k.due = m.now + int64(i%700)*int64(i%3)
			if i%7 == 0 {
				k.due = Never
			}
		}
		return k.due
	}
	for !m.Table.Walk(m.now, budget, look) {
	}
	for i, due := range want {
		if due && !looked[i] {
			t.Fatalf("%d is due and was not looked at", i)
		}
	}
}

// check is after each step.
func (m *machine) check(t *rapid.T) {
	if m.Len() != len(m.all) {
		t.Fatalf("%d flows, should be %d", m.Len(), len(m.all))
	}
	seen := 0
	for i := m.Next(0); i != 0; i = m.Next(i) {
		seen++
		m.checkFlow(t, i)
	}
	if seen != len(m.all) {
		t.Fatalf("Next goes over %d flows of %d", seen, len(m.all))
	}
}

func (m *machine) checkFlow(t *rapid.T, i uint32) {
	k := m.all[i]
	if k == nil || m.ClientKey(i) != k.client || m.ServerKey(i) != k.server {
		t.Fatalf("flow %d has keys %v and %v, should be %+v", i, m.ClientKey(i), m.ServerKey(i), k)
	}
	if got := m.FindClient(&k.client); got != m.clients[k.client] {
		t.Fatalf("%v: found %d, should be %d", k.client, got, m.clients[k.client])
	}
	if got := m.FindServer(&k.server); got != i {
		t.Fatalf("%v: found %d, should be %d", k.server, got, i)
	}
	f := m.At(i)
	if f.Held != k.held || f.Packets != k.packets || f.Bytes(track.Client) != k.bytes[track.Client] || f.Bytes(track.Server) != k.bytes[track.Server] {
		t.Fatalf("flow %d is %+v, should be %+v", i, *f, *k)
	}
}

func keysDrawn() *rapid.Generator[Key] {
	return rapid.Custom(func(t *rapid.T) Key {
		k := Key{Port: rapid.Uint16().Draw(t, "port"), Tag: rapid.Uint16Range(0, 2).Draw(t, "tag")}
		if rapid.Bool().Draw(t, "v4") {
			k.Addr = addr4(rapid.Uint32Range(0, 3).Draw(t, "ip"))
			return k
		}
		k.Addr = frame.Addr{0: rapid.ByteRange(0, 1).Draw(t, "hi"), 15: rapid.ByteRange(0, 2).Draw(t, "lo")}
		return k
	})
}

func TestAgainstMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{3, 1000, 40_000}).Draw(t, "most")
		m := &machine{
			Table: New(most, rapid.Uint64().Draw(t, "seed"), nil),
			twin:  twin{most, map[uint32]*kept{}, map[Key]uint32{}, map[Key]uint32{}},
			keys:  keysDrawn(),
		}
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "add": m.Add_, "add more": m.Add_, "burst": m.Burst, "lull": m.Lull, "free": m.Free_,
			"leave": m.Leave_, "count": m.Count_, "due": m.Due_, "walk": m.Walk_,
		})
	})
}
