package flow

import "penstock/stack/tap/track"

// link puts a flow where a side's key is looked for.
func (t *Table) link(s track.Side, i uint32, f *Flow, k *Key) {
	x := &t.by[s]
	head := x.buckets.Of(x.hash(k))
	f.next[s], *head = *head, i
	for x.used++; x.buckets.Crowded(x.used); { // two times at most
		t.split(s)
	}
}

// unlink takes it out.
func (t *Table) unlink(s track.Side, i uint32, f *Flow) {
	x, k := &t.by[s], t.key(f, s)
	p := x.buckets.Of(x.hash(&k))
	for *p != i {
		p = &t.flows.At(*p).next[s]
	}
	*p, f.next[s] = f.next[s], 0
	x.used--
	for range 8 {
		if x.buckets.Sparse(x.used) {
			t.join(s)
		}
	}
}

// split makes one more bucket.
func (t *Table) split(s track.Side) {
	x := &t.by[s]
	from, to, number := x.buckets.Grow()
	for *from != 0 {
		i := *from
		f := t.flows.At(i)
		if k := t.key(f, s); x.buckets.Number(x.hash(&k)) != number {
			from = &f.next[s]
			continue
		}
		*from = f.next[s]
		f.next[s], *to = *to, i
	}
}

// join makes one bucket less.
func (t *Table) join(s track.Side) {
	from, to := t.by[s].buckets.Shrink()
	for *to != 0 {
		to = &t.flows.At(*to).next[s]
	}
	*to, *from = *from, 0
}
