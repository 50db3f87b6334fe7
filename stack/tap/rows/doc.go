// Package rows is what tables of a loop are made of that hold millions of small
// records: cells in rows that never move (Store), the heads of chains over them
// (Buckets), and a hash that nobody outside can foresee (Seeds).
//
// A table keeps records in a Store, names them by number, and links those of the
// same hash by number, beginning at the head that Buckets has for it:
//
//	for i := *buckets.Of(hash); i != 0; i = store.At(i).next { ... }
//
// When one is added it asks Buckets if they are Crowded, and moves one chain's
// part to the new bucket; when one is freed, if they are Sparse. So no call ever
// has to hash all anew. Walk goes through records by the time they want to be
// looked at, and passes over rows in which none does. Trim gives back what a
// burst needed.
//
// Cells have no pointers in them, so there is nothing for the garbage collector
// to read. No clock, no lock, no goroutine: a table is one loop's.
package rows
