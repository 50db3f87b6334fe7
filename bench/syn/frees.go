package syn

import "penstock/bench/tally"

// frees are the times at which slots were freed, on the clock of frames. Whose
// SYN was sent before has waited for the oldest of them, and takes it: once
// when its SYN-ACK comes, and once with its first byte.
type frees struct{ released, served queue }

// add notes that a slot is free.
func (f *frees) add(at int64) {
	f.released = append(f.released, at)
	f.served = append(f.served, at)
}

// queue is in order, the oldest first.
type queue []int64

// take is how long ago the oldest slot was freed, for who has waited since.
func (q *queue) take(since, at int64) (span int64, ok bool) {
	if len(*q) == 0 || (*q)[0] < since {
		return 0, false
	}
	span = at - (*q)[0]
	*q = (*q)[1:]
	return span, true
}

// note records a span if there is one to be counted.
func note(h *tally.Histogram, counting bool, span int64, ok bool) {
	if ok && counting {
		h.Record(span)
	}
}
