package flow

import "testing"

// However many flows there are, finding one means to look at 1.3 records in the
// mean and 10 at most, where 1.26 is what chance gives if all buckets are alike.
func TestChainsAreShort(t *testing.T) {
	for name, keys := range map[string][2]func(uint32) Key{
		"IPv4": {client4, server4}, "SNAT": {client4, via4}, "IPv6": {client6, server6},
	} {
		table := New(1<<20, 1, nil)
		for n := range uint32(150_000 / slower) {
			table.Add(keys[0](n), keys[1](n))
			if n == 0 || n%(20_000/slower) != 0 {
				continue
			}
			for side := range table.by {
				met, longest := chains(table, side)
				if mean := float64(met) / float64(n+1); mean > 1.33 || longest > 10 {
					t.Errorf("%s, side %d, %d flows: %.2f in the mean, %d at most", name, side, n+1, mean, longest)
				}
			}
		}
	}
}

// chains adds up how many records are looked at to find each flow once.
func chains(t *Table, side int) (met, longest int) {
	for i := t.Next(0); i != 0; i = t.Next(i) {
		x, n := &t.by[side], 1
		k := [2]func(uint32) Key{t.ClientKey, t.ServerKey}[side](i)
		for j := *x.buckets.Of(x.hash(&k)); j != i; n++ {
			j = t.At(j).next[side]
		}
		met += n
		longest = max(longest, n)
	}
	return met, longest
}
