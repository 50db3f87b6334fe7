// Package queue holds the waiters that a home has taken over from the rings,
// in the order in which they are to be served: oldest ticket first over all
// loops.
//
// A Queue belongs to its home alone and is not safe for use by two threads.
// All waiters of one Queue want the same thing (same virtual server, same
// persisted member if any, same members already tried in vain), so if its
// head can't be served, none in it can.
//
// Waiters who left stay in the queue until they come to its head or the home
// calls Compact; the queue itself does not know who is alive.
package queue
