// Package pass hands whole frames from loop to loop, without a lock: those that
// came to another queue than their flow's owner has.
//
// There is one ring of bytes for each ordered pair of loops, so each has one
// writer and one reader. A frame is copied in once and changed in place by who
// takes it. In use:
//
//	m := pass.New(loops, bytes, wake)
//	m.Put(own, owner, tag, &vnet, head, tail) // the loop that read it
//	for m.Take(own, most, f) { ... }          // each turn of the owner's
//
// What is full is full: Put says so, and the frame is lost as on any queue.
//
// # Who is woken, and why nobody sleeps on
//
// A loop that has taken all goes to sleep when its turn is over. wake is a system
// call, so a loop is woken once for all frames that come while it sleeps, and not
// at all while it takes. Each loop has a word, asleep.
//
//	Put:   publish the frame (its ring's tail)       Take:  ... all rings are empty
//	       asleep is set, and this one clears it?           set asleep
//	           wake the loop                                all rings are still empty?
//	                                                            return false: it may sleep
//	                                                        clear asleep, go on
//
// All of these are sequentially consistent, as atomics of Go are. Put publishes
// before it looks at asleep, and Take sets asleep before it looks at the rings.
// So of a frame that the second look of Take did not see, Put comes to asleep
// when it is set: it clears it and wakes, or somebody else has cleared it since
// Take set it, who wakes. Either way wake is called after asleep was set, so for
// this sleep; and wake is sticky, so that a loop which has not gone to sleep yet
// does not. When it has been woken it takes all there is, whoever woke it.
//
// Rejected: to wake if the ring was empty. It is as safe, but a loop that keeps
// up is woken for each frame, and each Put has to read what the taker just wrote.
package pass
