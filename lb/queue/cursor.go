package queue

import (
	"slices"

	"penstock/lb/ring"
)

// Cursor reads a queue in ticket order without taking anything. It is good
// until the queue changes.
type Cursor struct {
	lanes []ring.Cursor[Entry]
	back  []item
}

// Cursor returns one at the head. It copies those who came with old tickets.
func (q *Queue) Cursor() *Cursor {
	c := &Cursor{back: slices.Clone(q.back.items)}
	for i := range q.lanes {
		c.lanes = append(c.lanes, q.lanes[i].Cursor())
	}
	slices.SortFunc(c.back, func(a, b item) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	return c
}

// Next returns the next entry, or nil.
func (c *Cursor) Next() *Entry {
	var best *Entry
	lane := backLane
	if len(c.back) > 0 {
		best = &c.back[0].Entry
	}
	for i := range c.lanes {
		if e := c.lanes[i].Peek(); e != nil && (best == nil || e.Before(best)) {
			best, lane = e, i
		}
	}
	switch {
	case best == nil:
	case lane == backLane:
		c.back = c.back[1:]
	default:
		c.lanes[lane].Next()
	}
	return best
}
