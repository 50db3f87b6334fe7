// Package method chooses which member of a pool is asked first.
//
// A method only orders: whether the member can take a connection is for the
// dispatcher to see, which asks the following ones if it can't. Each loop, and
// each pool's home, has a chooser of its own, so choosing shares nothing
// between cores.
//
//	RoundRobin   in turn
//	Ratio        in turn, each as often as its ratio says
//	Load         who has least to do for its ratio: compared, nothing kept
//	Score        by the client's address: compared, nothing kept
//
// The same questions in the same order get the same answers; nothing is drawn
// by lot. Nothing is allocated, but by a Ratio that sees more members than
// before.
package method

// RoundRobin asks the members in turn. The zero value starts with the first.
type RoundRobin struct{ next uint32 }

// First returns the member to ask first, of n (n > 0).
func (r *RoundRobin) First(n int) int {
	if int(r.next) >= n {
		return 0
	}
	return int(r.next)
}

// Chose tells that member i got the connection: the one behind it is next.
func (r *RoundRobin) Chose(i int) { r.next = uint32(i) + 1 }
