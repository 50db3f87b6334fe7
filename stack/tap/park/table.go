package park

import (
	"unsafe"

	"penstock/stack/tap/rows"
)

// Table holds the handshakes of one loop.
type Table struct {
	most  int
	seeds rows.Seeds

	records rows.Store[Record]
	annex   rows.Store[annex]
	buckets rows.Buckets

	trimmed int64 // milliseconds; when memory was last given back
}

// New returns an empty table for at most so many handshakes. The seed should be
// random: who knows it can choose addresses that make the table slow.
func New(most int, seed uint64) *Table {
	t := &Table{most: min(most, 1<<32-1-rows.Len), seeds: rows.NewSeeds(seed)}
	t.buckets.Start(10, nil)
	return t
}

// Len returns how many records there are.
func (t *Table) Len() int { return t.records.Used() }

// At returns a record, which stays where it is until it is freed.
func (t *Table) At(i uint32) *Record { return t.records.At(i) }

// Next returns the first record behind i, in no order that means anything; 0 if
// there is none. Begin with 0. Any may be freed meanwhile.
func (t *Table) Next(i uint32) uint32 { return t.records.Next(i) }

// Find returns the record with that key, or 0.
func (t *Table) Find(k *Key) uint32 {
	for i := *t.buckets.Of(t.hash(k)); i != 0; {
		r := t.records.At(i)
		if t.is(r, k) {
			return i
		}
		i = r.next
	}
	return 0
}

func (t *Table) is(r *Record, k *Key) bool {
	if r.port != k.Port || r.Virtual != k.Virtual {
		return false
	}
	if r.flags&annexed != 0 {
		return t.annex.At(r.peer).addr == k.Peer
	}
	ip, ok := is4(&k.Peer)
	return ok && ip == r.peer
}

// Add makes a record for a SYN that came just now, over hop. There must be none
// with that key. It is not ok if the table is full.
func (t *Table) Add(k *Key, s *Syn, hop uint16, now int64) (i uint32, ok bool) {
	if t.records.Used() >= t.most {
		return 0, false
	}
	i = t.records.Alloc()
	r := t.records.At(i)
	r.port, r.Virtual, r.Since, r.Hop = k.Port, k.Virtual, now, hop
	if ip, ok := is4(&k.Peer); ok {
		r.peer = ip
	} else {
		t.toAnnex(r, k)
	}
	r.put(s)
	r.last = uint32(now / ms)
	r.flags |= expected
	t.wait(i, r, now)
	head := t.buckets.Of(t.hash(k))
	r.next, *head = *head, i
	if t.buckets.Crowded(t.records.Used()) {
		t.split()
	}
	return i, true
}

// toAnnex puts the client's address where there is more room.
func (t *Table) toAnnex(r *Record, k *Key) {
	r.peer = t.annex.Alloc()
	r.flags |= annexed
	t.annex.At(r.peer).addr = k.Peer
}

// Free gives a record up.
func (t *Table) Free(i uint32) {
	r := t.records.At(i)
	k := t.Key(i)
	p := t.buckets.Of(t.hash(&k))
	for *p != i {
		p = &t.records.At(*p).next
	}
	*p = r.next
	if r.flags&annexed != 0 {
		t.annex.Free(r.peer)
	}
	t.records.Free(i)
	for range 4 {
		if t.buckets.Sparse(t.records.Used()) {
			t.join()
		}
	}
}

// split makes one more bucket.
func (t *Table) split() {
	from, to, number := t.buckets.Grow()
	for *from != 0 {
		i := *from
		r := t.records.At(i)
		if k := t.Key(i); t.buckets.Number(t.hash(&k)) != number {
			from = &r.next
			continue
		}
		*from = r.next
		r.next, *to = *to, i
	}
}

// join makes one bucket less.
func (t *Table) join() {
	from, to := t.buckets.Shrink()
	for *to != 0 {
		to = &t.records.At(*to).next
	}
	*to, *from = *from, 0
}

// Key returns a record's key.
func (t *Table) Key(i uint32) Key {
	r := t.records.At(i)
	k := Key{Port: r.port, Virtual: r.Virtual}
	if r.flags&annexed != 0 {
		k.Peer = t.annex.At(r.peer).addr
	} else {
		k.Peer = addr4(r.peer)
	}
	return k
}

// Seq returns the sequence number of a record's SYN.
func (t *Table) Seq(i uint32) uint32 { return t.records.At(i).isn }

// Prove notes that the client has echoed a cookie, and what it was told: the
// cookie's sequence number and our timestamp, from the segment that echoed it.
// Such a client is connected and sends no more SYNs.
func (t *Table) Prove(i, iss, tsval uint32) {
	r := t.records.At(i)
	if r.flags&annexed == 0 {
		k := t.Key(i)
		t.toAnnex(r, &k)
	}
	a := t.annex.At(r.peer)
	a.iss, a.tsval = iss, tsval
	r.flags &^= expected
}

// Told returns what Prove noted; zeros if it didn't.
func (t *Table) Told(i uint32) (iss, tsval uint32) {
	r := t.records.At(i)
	if r.flags&annexed == 0 {
		return 0, 0
	}
	a := t.annex.At(r.peer)
	return a.iss, a.tsval
}

// Bytes returns the memory that the table holds.
func (t *Table) Bytes() int {
	return int(unsafe.Sizeof(*t)) + t.records.Bytes() + t.annex.Bytes() + t.buckets.Bytes()
}

func (t *Table) hash(k *Key) uint32 {
	return t.seeds.Hash(&k.Peer, uint32(k.Port)<<16|uint32(k.Virtual))
}
