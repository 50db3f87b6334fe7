// Package dispatch decides what becomes of every connection: proceed, wait or
// refuse; and who is next when a slot frees. It is pure: events and a time go
// in, decisions come out. There is no socket, no clock and no goroutine in it.
//
// In order of use:
//
//	d := dispatch.New(config, wake)       once
//	l := d.Loop(i)                        one for each event loop; only that loop's thread uses it
//	v := l.Arrive(now, virtual, conn, since)
//	    v.Kind == Proceed                 dial v.Path; then Dialled or Failed; at the end Release
//	    v.Kind == Wait                    park; the outcome comes through Next
//	    v.Kind == Refuse                  v.Reason says why
//	l.Leave(now, waiter, since)            the client of a parked connection left
//	o, ok := l.Next()                     outcomes of this loop's waiters, until !ok
//	l.Run(now)                            when Due has come, or wake was called for this loop
//
// The rule that all of the program keeps: each Proceed, and each Granted
// outcome, ends in exactly one Release or Failed. Nothing else takes or gives
// a slot.
//
// # How a slot finds its waiter
//
// Limits are tokens (package limit). A loop that finds a whole path free, and
// nobody waiting, takes it without talking to anyone. Otherwise it parks the
// connection: an entry goes into the loop's ring, and it kicks the home.
//
// A home serves the pools that share a counter. It is no thread, but a state
// and a baton: who kicks and wins the baton runs the pass on its own loop; who
// loses leaves a latch set, and the holder looks at it again after letting go.
// So a release that frees a slot for a waiter of the same loop dials without
// a wake-up, and one for another loop costs one.
//
// A flag is set before the last sweep, and a depositor looks at the flag after
// it deposited: one of the two must see the other. That is why nobody waits
// while a slot is free. The protocol is checked state by state in tools/model.
//
// # Invariants (the code names them where it relies on them)
//
//  1. Tokens are conserved per counter; in-use never exceeds the limit.
//  2. At rest nobody waits while a whole path is free for them.
//  3. A grant carries the slot: taken before the waiter is woken.
//  4. Exactly one of grant, expire and leave wins a waiter.
//  5. A failed dial puts the waiter back at its original ticket.
//  6. Eligibility is checked again when dequeuing.
//  7. No eligible member left: the waiters are handled by when-down.
//  8. Work in one pass is bounded by a budget.
//  9. All counters are zero when nothing is connected.
//  10. A member's own waiters move to the pool when it takes nobody.
package dispatch
