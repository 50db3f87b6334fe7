package monitor

import (
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

// Neither kind takes all the room, who came first goes first, and who was
// removed meanwhile takes none.
func TestRoom(t *testing.T) {
	for _, first := range []bool{true, false} { // the doubtful, or the well, are many and early
		var r room
		many, few := members(100, first), members(20, !first)
		many[1].gone = true
		for _, m := range append(many, few...) {
			r.ask(m)
		}
		in := map[*target]bool{}
		for m := r.next(); m != nil; m = r.next() {
			in[m] = true
		}
		if len(in) != most || !in[many[0]] || in[many[1]] || !in[many[share]] || in[many[share+1]] || !in[few[most-share-1]] || in[few[most-share]] {
			t.Errorf("doubtful first %v: %d may begin; %v", first, len(in), r.running)
		}
		r.leave(many[0])
		if m := r.next(); m != few[most-share] && m != many[share+1] {
			t.Errorf("doubtful first %v: the place that was left stays empty, or somebody overtook", first)
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
