// Package flow keeps the connections that are forwarded: one record each, found
// by what either side's segments say.
//
// A Table is one loop's. In use:
//
//	i, ok := t.Add(client, server) // the client's SYN is sent on
//	i := t.FindClient(&key)        // a segment of the client; 0: of nobody
//	i := t.FindServer(&key)        // one of the server, by the address it answers to
//	f := t.At(i)                   // f.Conn, f.Count(side, n), f.Held and so on
//	t.Due(i, at)                   // look at it by then
//	t.Walk(now, budget, look)      // from a timer
//	t.Leave(i)                     // its client may begin anew, though it lasts
//	t.Free(i)
//
// It knows nothing of TCP: that is track's, whose Conn is a field of the record.
// Times are nanoseconds that go in. No clock, no lock, no goroutine.
//
// What a connection costs: 112 bytes of record and twice 7.6 of hash, in all less
// than 128; 16 more if the client has an IPv6 address. There are no pointers in
// it for the garbage collector to read. The two hashes grow by one or two
// buckets at a time and shrink by eight at most, so no call is long, and with no
// more flows than lately nothing is allocated. What nobody needed for ten seconds is given back,
// as park does.
//
// At a million flows each look-up meets memory that is in no cache, and that is
// what it costs. So a record's first 80 bytes are all that a segment which passes
// needs, and lie in two cache lines wherever it stands; there are nearly two
// buckets for each flow, so that 1.3 records are looked at in the mean; and the
// table can be had in large pages, since else each of these misses is one of the
// page table, too.
package flow
