// Package ring is the way by which waiters travel from a loop to the home of
// their pool: a lock-free queue with one producer and one consumer.
//
// It grows by chunks, so its memory follows the number of entries in it, and
// a spent chunk goes back to the producer, so that a ring in steady use
// allocates nothing. When T has no pointers the garbage collector looks at
// eight bytes of a chunk.
//
// "One producer" and "one consumer" mean one at a time: the role may move to
// another thread if the hand-over is ordered by an atomic operation, as the
// baton of a home is.
package ring
