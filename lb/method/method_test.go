package method

import "testing"

func TestRoundRobin(t *testing.T) {
	var r RoundRobin
	for i := range 10 {
		first := r.First(3)
		if first != i%3 {
			t.Fatalf("round %d asks member %d first", i, first)
		}
		r.Chose(first)
	}
}

// The turn goes on behind the one that was chosen, not behind the one that
// was asked first.
func TestRoundRobinAfterAFullMember(t *testing.T) {
	var r RoundRobin
	r.Chose(1) // 0 was full
	if first := r.First(3); first != 2 {
		t.Errorf("member %d is asked first, want 2", first)
	}
}

func TestRoundRobinWithFewerMembers(t *testing.T) {
	var r RoundRobin
	r.Chose(4)
	if first := r.First(2); first != 0 {
		t.Errorf("member %d of 2 is asked first", first)
	}
}
