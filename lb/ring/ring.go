package ring

import "sync/atomic"

// chunkLen is how many entries one allocation holds. 127 entries of 32 bytes
// and the header fill a 4 KiB size class.
const chunkLen = 127

// Ring is an unbounded first-in first-out queue. The zero value is empty and
// ready. It must not be copied.
type Ring[T any] struct {
	// Owned by the producer.
	tail *chunk[T]

	_ [56]byte // the two ends are written by different cores

	// Owned by the consumer.
	head *chunk[T]
	read uint32

	_ [48]byte

	first atomic.Pointer[chunk[T]] // set once, by the first Push
	spare atomic.Pointer[chunk[T]] // consumer puts, producer takes
}

// chunk is one allocation. Its pointer comes first: the collector scans no
// further than the last pointer of a type.
type chunk[T any] struct {
	next  atomic.Pointer[chunk[T]]
	wrote atomic.Uint32 // entries published; stored after the entry itself
	items [chunkLen]T
}

// Push appends v. Only the producer may call it.
func (r *Ring[T]) Push(v T) {
	c := r.tail
	if c == nil {
		c = new(chunk[T])
		r.tail = c
		r.first.Store(c)
	}
	n := c.wrote.Load()
	if n == chunkLen {
		c = r.grow()
		n = 0
	}
	c.items[n] = v
	c.wrote.Store(n + 1)
}

// grow links a fresh chunk behind the full one. The consumer may drop the old
// chunk from the moment next is set, so the producer does not touch it again.
func (r *Ring[T]) grow() *chunk[T] {
	c := r.spare.Swap(nil)
	if c == nil {
		c = new(chunk[T])
	} else {
		c.wrote.Store(0)
		c.next.Store(nil)
	}
	full := r.tail
	r.tail = c
	full.next.Store(c)
	return c
}

// Peek returns the oldest entry, or nil. It stays valid until the next Pop.
// Only the consumer may call it.
func (r *Ring[T]) Peek() *T {
	c := r.head
	if c == nil {
		if c = r.first.Load(); c == nil {
			return nil
		}
		r.head = c
	}
	if r.read == chunkLen {
		next := c.next.Load()
		if next == nil {
			return nil
		}
		r.spare.Store(c)
		c, r.head, r.read = next, next, 0
	}
	if r.read == c.wrote.Load() {
		return nil
	}
	return &c.items[r.read]
}

// Drop removes the entry that Peek returned.
func (r *Ring[T]) Drop() { r.read++ }

// Pop removes and returns the oldest entry. Only the consumer may call it.
func (r *Ring[T]) Pop() (v T, ok bool) {
	p := r.Peek()
	if p == nil {
		return v, false
	}
	v = *p
	r.read++
	return v, true
}

// Replace takes over the entries of another ring and forgets its own. Only
// for a ring whose two ends are the same thread; o must not be used afterwards.
func (r *Ring[T]) Replace(o *Ring[T]) {
	r.tail, r.head, r.read = o.tail, o.head, o.read
	r.first.Store(o.first.Load())
	r.spare.Store(nil)
}

// Cursor reads a ring's entries without taking them. It is good until the next
// Peek, Drop or Push.
type Cursor[T any] struct {
	at   *chunk[T]
	read uint32
}

// Cursor returns one at the oldest entry. Only the consumer may call it.
func (r *Ring[T]) Cursor() Cursor[T] {
	r.Peek() // finds the first chunk
	return Cursor[T]{r.head, r.read}
}

// Peek returns the entry at the cursor, or nil.
func (c *Cursor[T]) Peek() *T {
	if c.at == nil {
		return nil
	}
	if c.read == chunkLen {
		next := c.at.next.Load()
		if next == nil {
			return nil
		}
		c.at, c.read = next, 0
	}
	if c.read == c.at.wrote.Load() {
		return nil
	}
	return &c.at.items[c.read]
}

// Next moves on.
func (c *Cursor[T]) Next() { c.read++ }
