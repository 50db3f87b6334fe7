package flow

import (
	"math/rand/v2"
	"testing"

	"penstock/stack/tap/track"
)

// Tables that grow and shrink between nothing and 60,000 find all they have.
func TestGrowAndShrink(t *testing.T) {
	table := New(1<<20, 7, nil)
	keys := func(n uint32) (client, server Key) {
		switch n % 3 {
		case 0:
			return client6(n), server6(n)
		case 1:
			return client4(n), via4(n)
		}
		return client4(n), server4(n)
	}
	first, next := uint32(0), uint32(0) // those there are
	for round, to := range []uint32{60_000, 100, 30_000, 0, 5_000, 4_000, 60_000, 0} {
		for ; next-first < to; next++ {
			client, server := keys(next)
			i, _ := table.Add(client, server)
			table.At(i).Held = uint64(next)
		}
		for ; next-first > to; first++ {
			client, server := keys(first)
			i := table.FindClient(&client)
			if first%2 == 0 {
				table.Leave(i)
				table.Leave(i)
				if table.FindClient(&client) != 0 {
					t.Fatalf("flow %d left and is found", first)
				}
				i = table.FindServer(&server)
			}
			table.Free(i)
		}
		for n := first; n < next; n++ {
			client, server := keys(n)
			i := table.FindClient(&client)
			if i == 0 || table.FindServer(&server) != i || table.At(i).Held != uint64(n) {
				t.Fatalf("round %d: flow %d is not there", round, n)
			}
		}
		if table.Len() != int(to) {
			t.Errorf("%d flows, should be %d", table.Len(), to)
		}
	}
	if n := table.annex.Used(); n != 0 {
		t.Errorf("%d addresses are left over", n)
	}
	for s := range table.by {
		if x := &table.by[s]; x.used != 0 || x.buckets.Sparse(0) {
			t.Errorf("side %d has %d flows, or more than the fewest buckets for nothing", s, x.used)
		}
	}
}

// With as many flows as there were, nothing is allocated, whoever comes and goes.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	const held = 100_000 / slower
	for name, keys := range map[string][2]func(uint32) Key{
		"IPv4": {client4, server4}, "SNAT": {client4, via4}, "IPv6": {client6, server6},
	} {
		table := New(1<<20, 1, nil)
		fill(t, table, keys[0], keys[1], held)
		rnd := rand.New(rand.NewPCG(1, 1))
		next, now := uint32(held), int64(0)
		look := func(uint32) int64 { return now + 1000 }
		step := func() {
			client, server := keys[0](next-held), keys[1](next-held)
			i := table.FindClient(&client)
			table.At(i).Count(track.Client, 1000)
			table.Leave(i)
			table.Free(table.FindServer(&server))
			i, _ = table.Add(keys[0](next), keys[1](next))
			table.Due(i, now)
			next++
			now += rnd.Int64N(100_000)
			table.Walk(now, 10, look)
		}
		if n := testing.AllocsPerRun(100_000/slower, step); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// The memory of a burst goes after ten seconds, and comes back when needed.
func TestMemoryAfterABurst(t *testing.T) {
	const kept, burst, second = 10_000, 300_000, int64(1e9)
	table := New(1<<20, 1, nil)
	fill(t, table, client6, server6, kept+burst)
	full := table.Bytes()
	for n := uint32(kept); n < kept+burst; n++ {
		k := client6(n)
		table.Free(table.FindClient(&k))
	}
	walk := func(now int64) {
		for !table.Walk(now, 1000, func(uint32) int64 { return Never }) {
		}
	}
	walk(20 * second)
	walk(29 * second)
	if n := table.Bytes(); n < full*9/10 {
		t.Errorf("%d bytes of %d soon after the burst: they may be needed again", n, full)
	}
	walk(31 * second)
	if n := table.Bytes(); n > full/10 {
		t.Errorf("%d bytes of %d for %d flows of %d", n, full, kept, kept+burst)
	}
	for n := uint32(kept); n < kept+burst; n++ {
		table.Add(client6(n), server6(n))
	}
	if n := table.Bytes(); n != full {
		t.Errorf("%d bytes at the second burst, %d at the first", n, full)
	}
}

// A walk goes over at most its budget, and over what can't be due in one step a
// row.
func TestWalkIsBounded(t *testing.T) {
	table := New(1<<20, 1, nil)
	fill(t, table, client4, server4, 5120)
	walk := func(now int64, budget int) (calls, looked, most int) {
		for done := false; !done; calls++ {
			told := 0
			done = table.Walk(now, budget, func(uint32) int64 { told++; return now + 100 })
			looked += told
			most = max(most, told)
		}
		return calls, looked, most
	}
	if calls, looked, _ := walk(1, 1); calls != 10 || looked != 0 {
		t.Errorf("%d steps and %d looked at in 10 rows that are not due", calls, looked)
	}
	table.Due(513, 1)
	if calls, looked, most := walk(1, 64); looked != 512 || most != 64 || calls != 9 {
		t.Errorf("%d looked at of one row, at most %d, in %d steps", looked, most, calls)
	}
	if _, looked, _ := walk(100, 64); looked != 0 {
		t.Errorf("%d looked at, too soon", looked)
	}
	if _, looked, _ := walk(101, 64); looked != 512 {
		t.Errorf("%d looked at again", looked)
	}
}

// More bytes than 32 bits count.
func TestBytes(t *testing.T) {
	var f Flow
	var want uint64
	for range 100_000 {
		f.Count(track.Server, 65_535)
		want += 65_535
	}
	if f.Bytes(track.Server) != want || f.Bytes(track.Client) != 0 || f.Packets != [2]uint32{0, 100_000} {
		t.Errorf("%d and %d bytes, %v packets", f.Bytes(track.Server), f.Bytes(track.Client), f.Packets)
	}
}

// More addresses than can be numbered.
func TestTooManyAddresses(t *testing.T) {
	table := New(1<<20, 1, nil)
	for n := range uint32(1 << 16) {
		server := Key{Addr: addr4(n), Port: 1}
		_, ok := table.Add(client6(n), server)
		if ok != (n < 1<<16-1) {
			t.Fatalf("flow with address %d: %v", n, ok)
		}
	}
	if table.Len() != 1<<16-1 || table.annex.Used() != table.Len() {
		t.Errorf("%d flows, %d addresses", table.Len(), table.annex.Used())
	}
}
