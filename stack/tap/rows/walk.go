package rows

// Due lets the walk come by cell i in time. Needed when the cell may be due
// sooner than it was, not when it has longer. The unit of times is the table's.
func (s *Store[T]) Due(i uint32, at int64) {
	n := s.noteOf(i)
	n.due = min(n.due, at)
}

// Soonest is when some cell is due, or earlier: Never if none will be.
func (s *Store[T]) Soonest() int64 {
	at := int64(Never)
	for _, n := range s.notes {
		at = min(at, n.due)
	}
	return at
}

// Walk goes on with a walk through all cells in use, over at most budget of them,
// and calls look for each of a row in which one may be due. look says when the
// cell is due next, or Never; it may free cells, its own and others, and its word
// on one that it freed does not count. The walk is done when it has been at all
// rows; then the next call begins anew.
//
// A row is passed over as long as nothing in it can be due, which costs as much
// as one cell.
func (s *Store[T]) Walk(now int64, budget int, look func(i uint32) (due int64)) (done bool) {
	end := uint32(len(s.rows) * Len)
	for ; budget > 0 && s.hand < end; budget-- {
		if s.hand%Len == 0 {
			n := s.noteOf(s.hand + 1)
			if n.due > now {
				s.hand += Len
				continue
			}
			n.due = Never
		}
		s.hand++
		s.look(s.hand, look)
	}
	if s.hand < end {
		return false
	}
	s.hand = 0
	return true
}

// look asks for one cell, if it is in use.
func (s *Store[T]) look(i uint32, look func(i uint32) (due int64)) {
	n := s.noteOf(i)
	if n.isFree(i) {
		return
	}
	due := look(i)
	if !n.isFree(i) {
		n.due = min(n.due, due)
	}
}
