package monitor

import (
	"slices"
	"testing"
	"time"

	rules "penstock/lb/monitor"
)

// members makes targets, whose last check failed or not.
func members(n int, doubtful bool) (ts []*target) {
	for range n {
		t := &target{state: rules.New(rules.Rule{}, 0, 0)}
		if doubtful {
			t.state.Begin(0)
			t.state.Failed(time.Second, "refused")
		}
		ts = append(ts, t)
	}
	return ts
}

// Neither kind takes all the room. Of one kind, who came first goes first, and
// who was removed meanwhile takes no room.
func TestRoom(t *testing.T) {
	for _, first := range []bool{true, false} { // the doubtful, or the well, are many and early
		var r room
		many, few := members(100, first), members(20, !first)
		many[1].gone = true
		begin := func(asking []*target) (began []*target) {
			for _, m := range asking {
				r.ask(m)
			}
			for m := r.next(); m != nil; m = r.next() {
				began = append(began, m)
			}
			return began
		}
		want := slices.Concat(many[:1], many[2:49])
		if got := begin(many); !slices.Equal(got, want) {
			t.Errorf("doubtful first %v: %d of the many may begin, want 48", first, len(got))
		}
		if got := begin(few); !slices.Equal(got, few[:16]) {
			t.Errorf("doubtful first %v: %d of the few may begin, want 16", first, len(got))
		}
		r.leave(few[0])
		if got := begin(nil); !slices.Equal(got, few[16:17]) {
			t.Errorf("doubtful first %v: a place is free, and %d take it", first, len(got))
		}
	}
}

// A change that was found before its target was removed is not told after it.
func TestNothingIsToldOfTheRemoved(t *testing.T) {
	m, reports := watch(t)
	m.Set([]Target{{Key: "a", Address: nobody(t), Interval: time.Hour}})
	m.mu.Lock()
	a := m.targets["a"]
	m.mu.Unlock()
	m.Set(nil)
	m.tell(change{of: a})
	if len(reports) > 0 {
		t.Errorf("%+v", <-reports)
	}
}
