package monitor

import (
	"container/heap"
	"time"

	rules "penstock/lb/monitor"
)

// agenda has the targets by the time when something is to be done about them.
type agenda []*target

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at < a[j].at }

func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i, j
}

func (a *agenda) Push(x any) {
	t := x.(*target)
	t.index = len(*a)
	*a = append(*a, t)
}

func (a *agenda) Pop() any {
	last := len(*a) - 1
	t := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	return t
}

// move sets the time of t.
func (a *agenda) move(t *target, at time.Duration) {
	t.at = at
	heap.Fix(a, t.index)
}

// first returns the soonest time; Never if there is none.
func (a agenda) first() time.Duration {
	if len(a) == 0 {
		return rules.Never
	}
	return a[0].at
}
