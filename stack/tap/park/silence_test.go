package park

import (
	"math/rand/v2"
	"testing"

	"penstock/stack/tap/rows"
)

// The gaps between SYNs, in seconds, and how long the client waits on after its
// last one.
var schedules = []struct {
	name string
	gaps []float64
	wait float64
}{
	{"linux", []float64{1, 1, 1, 1, 1, 2, 4, 9, 16, 32}, 64},
	{"linux exactly", []float64{1, 1, 1, 1, 1, 2, 4, 8, 16, 32}, 64},
	{"linux before 6.5", []float64{1, 2, 4, 8, 16, 32}, 64},
	{"linux, one SYN", nil, 1},
	{"classic", []float64{3, 6, 12, 24}, 48},
	{"windows", []float64{1, 2}, 4},
	{"windows, twice", []float64{1, 2, 1, 2}, 4},
	{"windows, more tries", []float64{1, 2, 4, 8}, 16},
	{"windows, old", []float64{3, 6}, 12},
	{"macos", []float64{1, 1, 1, 1, 1, 2, 4, 8, 16, 32}, 32},
}

const (
	stepEvery = second / 20
	walks     = 20 // of these make one walk through a table of one row
)

// playSchedule plays one client's SYNs into a table of its own and returns when it
// was called silent, counted from its last SYN: 0 if before that, an hour if never.
func playSchedule(sends []int64) (silent int64) {
	const start = 7 * second
	table := New(10, 1)
	k, s := key4(1), linux(9, 0)
	i, _ := table.Add(&k, &s, 1, start)
	last, gone, next := sends[len(sends)-1], false, 1
	for now := int64(0); ; now += stepEvery {
		for next < len(sends) && sends[next] <= now {
			s.Options.TSVal = uint32(sends[next] / ms)
			table.Repeat(i, &s, 1, start+sends[next])
			next++
		}
		table.Silent(start+now, rows.Len/walks, func(uint32) { gone = true })
		if gone && now < last {
			return 0
		}
		if gone || now > last+3600*second {
			return now - last
		}
	}
}

// times adds up gaps that are off by up to jitter of them, at random. The SYN
// behind gap number lost is left out, if there is one.
func times(gaps []float64, jitter float64, lost int, rnd *rand.Rand) (sends []int64, longest float64) {
	at, before := 0.0, 0.0
	sends = []int64{0}
	for i, g := range gaps {
		at += g * (1 - jitter + 2*jitter*rnd.Float64())
		if i == lost {
			continue
		}
		sends = append(sends, int64(at*1e9))
		longest = max(longest, at-before)
		before = at
	}
	return sends, longest
}

// Nobody who keeps to a schedule is called silent while it lasts, and everybody
// is soon after. Each client stops after each of its SYNs once, too: then what
// counts is the gap that would have been next.
func TestSchedules(t *testing.T) {
	for _, c := range schedules {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(40 / slower) {
				rnd := rand.New(rand.NewPCG(seed, 2))
				for tries := range len(c.gaps) + 1 {
					wait := c.wait
					if tries < len(c.gaps) {
						wait = c.gaps[tries] * 1.15
					}
					sends, longest := times(c.gaps[:tries], 0.15, -1, rnd)
					at := float64(playSchedule(sends)) / 1e9
					if most := max(4, 7*longest) + 1.1; at < wait || at > most {
						t.Fatalf("seed %d, %d SYNs: silent %.2f s after the last, should be in %.2f to %.2f", seed, tries+1, at, wait, most)
					}
				}
			}
		})
	}
}

// Of two SYNs or more, any that is lost is forgiven.
func TestLostSynIsForgiven(t *testing.T) {
	for _, c := range schedules {
		for lost := 1; lost < len(c.gaps); lost++ {
			sends, _ := times(c.gaps, 0.02, lost, rand.New(rand.NewPCG(uint64(lost), 3)))
			if playSchedule(sends) == 0 {
				t.Errorf("%s: silent because SYN %d was lost", c.name, lost+2)
			}
		}
	}
}

// What came twice on the way says nothing of the schedule.
func TestDoubledSyns(t *testing.T) {
	table := New(10, 1)
	k, s := key4(1), linux(9, 100)
	i, _ := table.Add(&k, &s, 1, 0)
	before := *table.At(i)
	table.Repeat(i, &s, 1, 200*ms)
	if got := *table.At(i); got != before {
		t.Errorf("the same segment, doubled: %+v, was %+v", got, before)
	}
	s.Options.TSVal += 1000
	table.Repeat(i, &s, 1, second)
	s.Options.TSVal += 200
	table.Repeat(i, &s, 1, second+200*ms)
	if got := table.At(i).gap; got != 1000/gapUnit {
		t.Errorf("gap %d ms, should be 1000", int(got)*gapUnit)
	}
}

// A SYN that was held up on the way, with the next one right behind it, leaves
// the client as patiently waited for as before.
func TestLateSyn(t *testing.T) {
	sends := []int64{0, 1 * second, 3 * second, 7*second + 7*second, 15 * second}
	if at := playSchedule(sends); at < 7*11*second {
		t.Errorf("silent %d ms after two SYNs in one second, behind a gap of 11", at/ms)
	}
}

func TestExpect(t *testing.T) {
	table := New(10, 1)
	k, s := key4(1), linux(9, 100)
	i, _ := table.Add(&k, &s, 1, 0)
	silent := func(now int64) (n int) {
		for !table.Silent(now, 100, func(uint32) { n++ }) {
		}
		return n
	}
	table.Expect(i, false, second)
	if silent(100*second) != 0 {
		t.Error("silent though nothing is expected")
	}
	table.Expect(i, true, 100*second)
	table.Repeat(i, &s, 1, 101*second)
	if silent(102*second) != 0 {
		t.Error("silent a second after its SYN")
	}
	if silent(101*second+7*101*second+1) != 1 {
		t.Error("not silent")
	}
	if silent(2000*second) != 1 {
		t.Error("one that was left is not told of again")
	}
}

// A walk goes over at most its budget, and over what can't be due in one step a
// row.
func TestWalkIsBounded(t *testing.T) {
	table := New(1<<20, 1)
	fill(t, table, key4, 10*rows.Len)
	calls := func(now int64, budget int) (n, most int) {
		for done := false; !done; n++ {
			told := 0
			done = table.Silent(now, budget, func(uint32) { told++ })
			most = max(most, told)
		}
		return n, most
	}
	if n, _ := calls(second, 1); n != 10 {
		t.Errorf("%d steps for 10 rows that are not due", n)
	}
	n, most := calls(100*second, 64)
	if n != 10*rows.Len/64 || most != 64 {
		t.Errorf("%d calls for %d records, at most %d in one", n, 10*rows.Len, most)
	}
}
