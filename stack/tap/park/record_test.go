package park

import (
	"math/rand/v2"
	"testing"

	"penstock/stack/small"
	"penstock/stack/tap/frame"
	"penstock/stack/tap/rows"
)

func TestRecords(t *testing.T) {
	small.Record[Record](t, 56)
	small.Record[annex](t, 24)
	small.Record[Shares](t, 256<<10+16)
}

const second = int64(1e9)

// key4 and key6 are client n's key: neighbours of one /24 or /48 with many ports.
func key4(n uint32) Key {
	return Key{Peer: addr4(198<<24 | 18<<16 | n>>4&0x1ffff), Port: uint16(1024 + n>>21<<4 + n&15), Virtual: 3}
}

func key6(n uint32) Key {
	k := key4(n)
	ip := k.Peer
	k.Peer = frame.Addr{0x20, 1, 0xd, 0xb8}
	copy(k.Peer[12:], ip[12:])
	return k
}

// linux is a SYN as Linux sends it.
func linux(seq, tsval uint32) Syn {
	return Syn{Seq: seq, Window: 64240, Options: frame.Options{TSVal: tsval, MSS: 1460, WS: 7, SACK: true, TS: true}}
}

// A million records cost no more than 64 bytes each, all in; four million don't
// either.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name string
		key  func(uint32) Key
		n    uint32
		most float64
	}{
		{"IPv4", key4, 1_000_000, 64},
		{"IPv6", key6, 1_000_000, 96},
		{"4M", key4, 4_000_000, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.n > 1_000_000 && (testing.Short() || slower > 1) {
				t.Skip("long")
			}
			table := small.Each(t, int(c.n), c.most, func() *Table {
				table := New(int(c.n), 1)
				fill(t, table, c.key, c.n)
				return table
			})
			k := c.key(c.n)
			s := linux(0, 0)
			if _, ok := table.Add(&k, &s, 0, 0); ok {
				t.Error("one more than the most got in")
			}
			for n := uint32(0); n < c.n; n += 997 {
				k := c.key(n)
				if i := table.Find(&k); i == 0 || table.Seq(i) != n {
					t.Fatalf("record %d is not there", n)
				}
			}
		})
	}
}

func fill(t testing.TB, table *Table, key func(uint32) Key, n uint32) {
	for i := range n {
		k, s := key(i), linux(i, i)
		if _, ok := table.Add(&k, &s, 1, int64(i)*1000); !ok {
			t.Fatalf("record %d was refused", i)
		}
	}
}

// With as many records as there were, nothing is allocated, whoever comes and
// goes.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	const held = 100_000
	table := New(1<<20, 1)
	fill(t, table, key4, held)
	rnd := rand.New(rand.NewPCG(1, 1))
	next, now := uint32(held), int64(0)
	gone := func(uint32) {}
	step := func() {
		k := key4(next - held)
		table.Free(table.Find(&k))
		k, s := key4(next), linux(next, next)
		i, _ := table.Add(&k, &s, 1, now)
		s.Options.TSVal++
		table.Repeat(i, &s, 1, now)
		table.Syn(i, now)
		next++
		now += rnd.Int64N(100_000)
		table.Silent(now, 10, gone)
	}
	if n := testing.AllocsPerRun(200_000, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The memory of a burst goes, and what was there before the burst stays.
func TestMemoryAfterABurst(t *testing.T) {
	const kept, burst = 10_000, 300_000
	table := New(1<<20, 1)
	fill(t, table, key4, kept+burst)
	full := table.Bytes()
	for n := uint32(kept); n < kept+burst; n++ {
		k := key4(n)
		table.Free(table.Find(&k))
	}
	leave := func(uint32) {}
	walk := func(now int64) {
		for !table.Silent(now, 1000, leave) {
		}
	}
	for _, now := range []int64{20, 29} {
		walk(now * second)
		if n := table.Bytes(); n < full*9/10 {
			t.Errorf("%d bytes of %d soon after the burst: they may be needed again", n, full)
		}
	}
	walk(31 * second)
	if n := table.Bytes(); n > full/10 {
		t.Errorf("%d bytes of %d for %d records of %d", n, full, kept, kept+burst)
	}
	for n := range uint32(kept) {
		k := key4(n)
		if table.Find(&k) == 0 {
			t.Fatalf("record %d is lost", n)
		}
	}
	for n := uint32(kept); n < kept+burst; n++ { // and it comes back
		k, s := key4(n), linux(n, n)
		table.Add(&k, &s, 1, 0)
	}
	if n := table.Bytes(); n != full {
		t.Errorf("%d bytes at the second burst, %d at the first", n, full)
	}
}

// What is needed again and again within ten seconds is not given back.
func TestMemoryOfBurstsStays(t *testing.T) {
	table := New(1<<20, 1)
	burst := func() {
		fill(t, table, key4, 50*rows.Len)
		for i := table.Next(0); i != 0; i = table.Next(i) {
			table.Free(i)
		}
	}
	burst()
	full := table.records.Bytes()
	for now := int64(0); now < 60*second; now += 8 * second {
		for !table.Silent(now, 1000, func(uint32) {}) {
		}
		if n := table.records.Bytes(); n != full {
			t.Fatalf("%d bytes of %d at %d s", n, full, now/second)
		}
		burst()
	}
}
