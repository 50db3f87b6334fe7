package proxy

import "testing"

// The slot frees while its waiter's reset is not yet known: the grant for a
// client that is gone serves the next (invariant 4, C22).
func TestC22ResetAndGrantTogether(t *testing.T) {
	s := hold(t)
	r := startStill(t, member(s.addr(), 1))
	for range 20 {
		holder := r.dial()
		server := s.next(t)
		pass(t, holder, server)
		head, second := r.park(), r.park()
		r.hold()
		reset(holder)
		reset(head)
		r.untilBroken(2)
		r.run()
		up := s.next(t)
		pass(t, second, up) // had the dead one been dialled, this were its server
		second.Close()
		up.Close()
		for range 3 {
			r.end()
		}
		r.untilInUse(0)
	}
}
