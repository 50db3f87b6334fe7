package flow

import (
	"reflect"
	"testing"
	"unsafe"

	"penstock/stack/small"
	"penstock/stack/tap/frame"
)

// Records are small and without pointers, and what a passing segment needs stands at
// their beginning.
func TestRecord(t *testing.T) {
	small.Record[Flow](t, 112)
	flow := reflect.TypeFor[Flow]()
	if n := flow.Size(); n%16 != 0 {
		t.Errorf("%d bytes apart: not all begin at a multiple of 16", n)
	}
	for name, most := range map[string]uintptr{"next": 16, "ip": 16, "port": 16, "tag": 32, "flags": 32, "Conn": 80, "Connect": 80} {
		f, _ := flow.FieldByName(name)
		if end := f.Offset + f.Type.Size(); end > most {
			t.Errorf("%s ends at %d, behind %d", name, end, most)
		}
	}
	table := New(10, 1, nil)
	i, _ := table.Add(client4(1), server4(1))
	if at := uintptr(unsafe.Pointer(table.At(i))); at%64 != 0 {
		t.Errorf("a row begins at %#x, in the midst of a cache line", at)
	}
}

// client4 is flow n's key to its client; server4 to its server, which sees the
// client's own address, and via4 one of four others.
func client4(n uint32) Key {
	return Key{Addr: addr4(198<<24 | 18<<16 | n>>4&0x1ffff), Port: uint16(1024 + n>>21<<4 + n&15), Tag: 3}
}

func server4(n uint32) Key {
	k := client4(n)
	k.Tag = uint16(7 + n%3)
	return k
}

func via4(n uint32) Key {
	return Key{Addr: addr4(10<<24 | n>>15&3), Port: uint16(1024 + n&0x7fff), Tag: uint16(n >> 17)}
}

func client6(n uint32) Key {
	k := client4(n)
	ip := k.Addr
	k.Addr = frame.Addr{0x20, 1, 0xd, 0xb8}
	copy(k.Addr[12:], ip[12:])
	return k
}

func server6(n uint32) Key {
	k := client6(n)
	k.Tag = 9
	return k
}

func fill(t testing.TB, table *Table, client, server func(uint32) Key, n uint32) {
	for i := range n {
		if _, ok := table.Add(client(i), server(i)); !ok {
			t.Fatalf("flow %d was refused", i)
		}
	}
}

// A million flows cost no more than 128 bytes each, all in.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name           string
		client, server func(uint32) Key
		most           float64
	}{
		{"IPv4", client4, server4, 128},
		{"IPv4 by SNAT", client4, via4, 128},
		{"IPv6", client6, server6, 144},
	} {
		t.Run(c.name, func(t *testing.T) {
			if slower > 1 {
				t.Skip("long")
			}
			const n = 1_000_000
			table := small.Each(t, n, c.most, func() *Table {
				table := New(n, 1, nil)
				fill(t, table, c.client, c.server, n)
				return table
			})
			if _, ok := table.Add(c.client(n), c.server(n)); ok {
				t.Error("one more than the most got in")
			}
			for i := uint32(0); i < n; i += 997 {
				client, server := c.client(i), c.server(i)
				if f := table.FindClient(&client); f == 0 || table.FindServer(&server) != f {
					t.Fatalf("flow %d is not there", i)
				}
			}
		})
	}
}
