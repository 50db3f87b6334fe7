package dispatch

import (
	"net/netip"
	"slices"
	"testing"
)

// jain is the fairness index of Jain, Chiu and Hawe (1984): 1 if all get the
// same, 1/n if one gets all.
func jain(x []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum += v
		squares += v * v
	}
	return sum * sum / (float64(len(x)) * squares)
}

func sender(i int) Source {
	return SourceOf(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
}

// One sender with 99 % of the arrivals against 100 others, all of whom always
// have somebody waiting: with queue-fair each gets the same, without it the one
// gets all but a hundredth.
func TestFairAgainstAFlood(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		index, flood := floodedBy(seed, "32/64")
		t.Logf("index %.4f, the flood's share %.3f", index, flood)
		if index < 0.99 {
			t.Errorf("seed %d: Jain index %.4f", seed, index)
		}
	})
	if index, flood := floodedBy(1, "off"); flood < 0.8 {
		t.Errorf("without it the flood's share is %.3f, the index %.4f: the test shows little", flood, index)
	}
}

// floodedBy returns the index of who was served, and the share of sender 0.
func floodedBy(seed uint64, rule string) (index, flood float64) {
	s := newSim(seed, "pool p fair="+rule+"\nvirtual v\nmember A limit=2\nmember B limit=2")
	s.stay = constant(20e6) // 200 a second
	streams := []stream{{sender: 0, source: sender(0), rate: 29_700}}
	for i := 1; i <= 100; i++ {
		for range 3 {
			s.arrive(i, 0, sender(i))
		}
		streams = append(streams, stream{sender: i, source: sender(i), rate: 3})
	}
	s.run(10e9, streams...)
	got := make([]float64, 101)
	for _, c := range s.all {
		if c.granted != 0 {
			got[c.sender]++
		}
	}
	served, _, _, _ := s.since(0)
	return jain(got), got[0] / served
}

// Ten times as many come as can be served: who can't be in time is told at once,
// and the slots are never idle.
func TestRefuseEarlyUnderOverload(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		s := newSim(seed, "pool p refuse-early=on queue-time=1s\nvirtual v\nmember A limit=10\nmember B limit=10")
		s.stay = func() Tick { return s.wait(50) } // 20 ms on average: 1,000 a second
		load := stream{source: sender(1), rate: 10_000}
		s.run(5e9, load) // until the rate is known
		from := s.now
		s.run(20e9, load)
		served, came, refused, _ := s.since(from)
		t.Logf("came %.0f, served %.0f, refused %v", came, served, refused)
		if served < 0.98*20_000 {
			t.Errorf("seed %d: %.0f served of 20,000 that could be", seed, served)
		}
		if refused[Expired] > 0.005*came || refused[Early] < 0.85*came {
			t.Errorf("seed %d: of %.0f refused %v", seed, came, refused)
		}
	})
}

// Without overload nobody is refused early.
func TestRefuseEarlyWithoutOverload(t *testing.T) {
	s := newSim(1, "pool p refuse-early=on queue-time=1s\nvirtual v\nmember A limit=20")
	s.stay = func() Tick { return s.wait(50) }
	s.run(20e9, stream{source: sender(1), rate: 900})
	if _, _, refused, _ := s.since(0); len(refused) != 0 {
		t.Errorf("refused %v at 90 %% load", refused)
	}
}

// Twice as many come as can be served: with codel those who are served have
// waited a few of its targets, and never longer than it takes to see that a
// queue stands; without it ever longer.
func TestCoDelUnderOverload(t *testing.T) {
	const target = 5e6 // at a rate of 1,000 a second
	seeds(t, func(t *testing.T, seed uint64) {
		for _, rule := range []string{"on", "off"} {
			s := newSim(seed, "pool p codel="+rule+"\nvirtual v\nmember A limit=20")
			s.stay = func() Tick { return s.wait(50) } // 1,000 a second
			load := stream{source: sender(1), rate: 2000}
			s.run(5e9, load)
			from := s.now
			s.run(10e9, load)
			served, came, refused, waits := s.since(from)
			slices.Sort(waits)
			median, most := waits[len(waits)/2], waits[len(waits)-1]
			t.Logf("codel=%s: came %.0f, served %.0f, refused %v, wait %d ms, at most %d ms", rule, came, served, refused, median/1e6, most/1e6)
			if served < 0.98*10_000 {
				t.Errorf("seed %d, codel=%s: %.0f served of 10,000 that could be", seed, rule, served)
			}
			if rule == "on" && (median > 5*target || most > 30*target) {
				t.Errorf("seed %d: waits of %d ms, at most %d ms", seed, median/1e6, most/1e6)
			}
			if rule == "off" && median < 1e9 {
				t.Errorf("seed %d: waits of %d ms without codel", seed, median/1e6)
			}
		}
	})
}

// The top class alone is more than can be served. It goes first; the lowest gets
// what ageing promises and is not starved: nobody is served while somebody waits
// who came so much earlier.
func TestClassesUnderOverload(t *testing.T) {
	const age = 100e6
	seeds(t, func(t *testing.T, seed uint64) {
		s := newSim(seed, "pool p class-age=100ms\nvirtual low\nvirtual top class=7\nmember A limit=20")
		s.stay = func() Tick { return s.wait(50) } // 1,000 a second
		var got [2]float64
		var last [2]Tick // ticket of who was served last, by class
		s.served = func(c *simulated) {
			got[c.virtual]++
			if c.granted > c.Since { // waited
				last[c.virtual] = max(last[c.virtual], c.Since)
			}
			// Both queues are full after a while, so their heads are as old as this.
			if ahead := last[1] - last[0]; s.now > start+5e9 && (ahead > 7*age+100e6 || ahead < 7*age-100e6) {
				t.Fatalf("seed %d: the top class is ahead by %d ms at %d s", seed, ahead/1e6, (s.now-start)/1e9)
			}
		}
		s.run(15e9, stream{virtual: 0, rate: 300}, stream{virtual: 1, rate: 1100})
		t.Logf("served %v", got)
		if share := got[0] / (got[0] + got[1]); share < 0.15 {
			t.Errorf("seed %d: the lowest class got %.3f of all", seed, share)
		}
	})
	// With room for it the top class hardly waits, whatever the lowest does.
	s := newSim(9, "pool p class-age=10s\nvirtual low\nvirtual top class=7\nmember A limit=20")
	s.stay = func() Tick { return s.wait(50) }
	longest := Tick(0)
	s.served = func(c *simulated) {
		if c.virtual == 1 {
			longest = max(longest, c.granted-c.Since)
		}
	}
	s.run(15e9, stream{virtual: 0, rate: 2000}, stream{virtual: 1, rate: 500})
	if longest > 100e6 {
		t.Errorf("one of the top class has waited %d ms", longest/1e6)
	}
}
