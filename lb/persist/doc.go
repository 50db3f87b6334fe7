// Package persist remembers which member a client's address went to, so that
// its next connections go there too.
//
// A Table maps a source prefix to a member. All loops use one table at once:
// there is no lock, nothing is allocated to look something up, and a lookup of
// a record that was used in the same tenth of a second writes nothing. In use:
//
//	m, ok := t.Find(now, hi, lo)              // is there a record?
//	m = t.Claim(now, hi, lo, want, usable)    // make one, or take the one there
//	t.Move(now, hi, lo, from, to)             // the member changed after all
//
// Records expire when they were not used for the timeout. Nothing is deleted
// for that: records live in generations, and a whole generation is let go when
// all in it must have expired.
//
// What it costs: 16 bytes a slot, at most 7 slots of 8 in use, and while
// records come or stay less than 64 bytes for each, all generations counted.
// The slots have no pointers, for the collector there is nothing to read. A
// table grows by segments of 16 KiB, so no call allocates more than a few of
// them at once.
//
// What it does not promise: two prefixes whose 64-bit hashes are the same
// share a record, and so a member. That hurts nobody, happens with a chance of
// one in ten million among a million IPv6 sources (and never between IPv4
// addresses), and can't be brought about from outside, since the hash is
// seeded. A table at its most (see mostRecords) forgets the records that were
// not used for longest before their time. And memory is let go by those who use
// the table: a table that nobody uses keeps what it has.
package persist
