package hop

import (
	"testing"

	"penstock/stack/tap/frame"
)

func TestNumbers(t *testing.T) {
	h := New()
	if m := h.MAC(0); m != (frame.MAC{}) {
		t.Error(m)
	}
	for round := range 2 {
		for i := range mostNumbers {
			if n := h.Intern(hops(i)); n != uint16(i+1) || h.MAC(n) != hops(i) {
				t.Fatalf("round %d: number %d of hop %d is of %v", round, n, i, h.MAC(n))
			}
		}
	}
	// All are given out: the oldest goes, then the next.
	for i := range 3 {
		if n := h.Intern(hops(100_000 + i)); n != uint16(i+1) || h.MAC(n) != hops(100_000+i) {
			t.Errorf("number %d is of %v", n, h.MAC(n))
		}
	}
	if n := h.Intern(hops(0)); n != 4 {
		t.Errorf("an address that lost its number has %d", n)
	}
	if n := h.Intern(hops(9)); n != 10 {
		t.Errorf("number %d", n)
	}
	if len(h.of) != mostNumbers || len(h.macs) != mostNumbers {
		t.Error(len(h.of), len(h.macs))
	}
}

func TestUnknownNumber(t *testing.T) {
	h := New()
	h.Intern(hops(1))
	if m := h.MAC(2); m != (frame.MAC{}) {
		t.Error(m)
	}
}
