// Package park keeps handshakes that nobody has answered yet: a client's SYN as
// a small record, until there is a slot for it.
//
// A Table is one loop's. In use:
//
//	i := t.Find(&key)                    // is it a repeated SYN?
//	t.Repeat(i, &syn, hop, now)          // yes: remember the fresh one
//	i, ok := t.Add(&key, &syn, hop, now) // no: a new record
//	done := t.Silent(now, budget, gone)  // from a timer: who gave up?
//	syn := t.Syn(i, now)                 // released: the SYN, as if it came now
//	t.Free(i)
//
// What else there is for SYNs that may be forged: Cookie makes an answer that
// needs no memory and knows it again when it comes back; Shares counts the
// records of each source prefix.
//
// It is pure: frames and a time in monotonic nanoseconds go in. No clock, no
// lock, no goroutine.
//
// What it costs: 56 bytes a record and 4 of hash, in all less than 64 (24 more
// for an IPv6 address, or once a cookie has come back). Records have no
// pointers, so there is nothing in them for the garbage collector to read. The
// hash grows by one bucket at a time and shrinks by four, so no call is long; with
// no more records than lately, nothing is allocated. What a burst needed is used
// again first, low indices before high ones, and what nobody needed for ten
// seconds is given back (see trim).
package park
