package main

import (
	"strings"
	"testing"
)

// TestScenarios: no run of the small scenarios breaks an invariant.
func TestScenarios(t *testing.T) {
	for _, sc := range scenarios {
		if !sc.small {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			if r := explore(sc, noFault); r.broken != "" {
				t.Error(trace(r))
			}
		})
	}
}

// TestFaults: every seeded fault that a small scenario is for is caught.
func TestFaults(t *testing.T) {
	for f := noFault + 1; f < faults; f++ {
		in := named(seeds[f].in)
		if !in[0].small {
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			if r := (task{in, f}).run(); r.broken == "" {
				t.Errorf("not caught in %v", seeds[f].in)
			}
		})
	}
}

// TestSeeds: every fault has a name and scenarios that exist.
func TestSeeds(t *testing.T) {
	for f := noFault + 1; f < faults; f++ {
		if f.String() == "" || len(named(seeds[f].in)) != len(seeds[f].in) || len(seeds[f].in) == 0 {
			t.Errorf("fault %d: name %q, scenarios %v", f, f, seeds[f].in)
		}
	}
}

// TestCycle: a run without an end is noticed.
func TestCycle(t *testing.T) {
	e := explorer{
		parent: []uint32{0, 0, 1},
		by:     make([]move, 3),
		first:  []uint32{0, 1, 2, 3},
		edges:  []uint32{1, 2, 1},
	}
	e.checkCycles()
	if e.report.broken == "" {
		t.Error("cycle 1-2-1 not found")
	}
}

func trace(r report) string {
	var b strings.Builder
	printTrace(&b, r)
	return b.String()
}
