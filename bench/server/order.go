package server

import (
	"cmp"
	"slices"

	"penstock/bench/tally"
)

// mostSeats bounds how many connections are kept for the order: 64 MB.
const mostSeats = 4 << 20

// roll is the order in which connections came, each with its token. The place
// is taken when a connection is accepted and the token entered when it comes:
// a request that is slow on its way doesn't change who was first.
//
// A seat's number is never used again, so a connection from before clear can't
// enter its token.
type roll struct {
	seats   []seat
	before  int64 // numbers given before the first in seats
	dropped int64
	most    int // mostSeats, less in tests
}

type seat struct {
	at    int64 // ns; accepted
	token int64 // ns; 0: none came
}

// full is the number of who found no place.
const full = -1

// enter gives a connection its number, above 0, or full.
func (r *roll) enter(now int64) int64 {
	if len(r.seats) >= r.most {
		return full
	}
	r.seats = append(r.seats, seat{at: now})
	return r.before + int64(len(r.seats))
}

// tell enters the token of a connection. 0 is the number of one that came when
// nothing was counted.
func (r *roll) tell(number, token int64) {
	switch {
	case number == full:
		r.dropped++
	case number > r.before:
		r.seats[number-r.before-1].token = token
	}
}

// clear forgets all.
func (r *roll) clear() {
	r.before += int64(len(r.seats))
	r.seats = r.seats[:0]
	r.dropped = 0
}

// orderOf looks at the rolls of all loops together. Far is what is counted as
// far, in ns.
func orderOf(rolls []*roll, far int64) tally.Order {
	var seats []seat
	var dropped int64
	for _, r := range rolls {
		dropped += r.dropped
		for _, s := range r.seats {
			if s.token != 0 {
				seats = append(seats, s)
			}
		}
	}
	if len(rolls) > 1 {
		slices.SortStableFunc(seats, func(a, b seat) int { return cmp.Compare(a.at, b.at) })
	}
	tokens := make([]int64, len(seats))
	for i, s := range seats {
		tokens[i] = s.token
	}
	o := inOrder(tokens, far)
	o.Dropped = dropped
	return o
}

// inOrder says how far tokens are from being sorted. Equal ones are in order.
func inOrder(tokens []int64, far int64) (o tally.Order) {
	o.Tokens = int64(len(tokens))
	ranks := make([]rank, len(tokens))
	latest := int64(0)
	for i, t := range tokens {
		if i == 0 {
			latest = t
		}
		if behind := latest - t; behind > 0 {
			o.Overtaken++
			o.Behind = max(o.Behind, behind)
			if behind > far {
				o.Far++
			}
		}
		latest = max(latest, t)
		ranks[i].token = t
	}
	for _, r := range sorted(ranks) {
		o.Inversions += r.overtakers
		o.Places = max(o.Places, r.overtakers)
	}
	return o
}

// rank is a token, and how many later ones stood before it.
type rank struct{ token, overtakers int64 }

// sorted is a merge sort from below, which counts: each time one of the right
// run is taken, what is left of the left run stood before it and is later. It
// returns one of two buffers, the argument is the other.
func sorted(ranks []rank) []rank {
	from, to := ranks, make([]rank, len(ranks))
	for width := 1; width < len(ranks); width *= 2 {
		for lo := 0; lo < len(ranks); lo += 2 * width {
			mid, hi := min(lo+width, len(ranks)), min(lo+2*width, len(ranks))
			merge(to[lo:hi], from[lo:mid], from[mid:hi])
		}
		from, to = to, from
	}
	return from
}

func merge(to, left, right []rank) {
	for k := range to {
		if len(right) == 0 || len(left) > 0 && left[0].token <= right[0].token {
			to[k], left = left[0], left[1:]
			continue
		}
		to[k], right = right[0], right[1:]
		to[k].overtakers += int64(len(left))
	}
}
