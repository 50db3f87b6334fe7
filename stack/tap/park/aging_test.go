package park

import (
	"math/rand/v2"
	"testing"
)

// clock is a client's clock of timestamps.
type clock struct {
	start uint32
	rate  float64 // ticks a second
	step  int64   // it is brought up to date every so many nanoseconds
}

func (c *clock) at(now int64) uint32 {
	return c.start + uint32(uint64(float64(now/c.step*c.step)*c.rate/1e9))
}

// linuxSends are the times of Linux' SYNs.
var linuxSends = []int64{0, 1, 2, 3, 4, 5, 7, 11, 20, 36, 68}

// A clock of milliseconds, up to 500 ppm wrong and in steps of 1 to 4 ms, over a
// network that takes 0 to 80 ms: the timestamp is never ahead of it, and never
// more behind than the network, the steps and the margin account for. Both the
// timestamp and our count of milliseconds go round meanwhile.
func TestAgedTimestamps(t *testing.T) {
	const wraps = int64(1<<32) * ms
	for seed := range uint64(300 / slower) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		start := wraps - rnd.Int64N(60)*second
		c := clock{-rnd.Uint32N(60_000), 1000 * (1 + (rnd.Float64()-0.5)/1000), (1 + rnd.Int64N(4)) * ms}
		table := New(10, 1)
		k, s := key4(1), linux(9, c.at(0))
		i, _ := table.Add(&k, &s, 1, start)
		for n := 1; n < len(linuxSends); n++ {
			sent := linuxSends[n] * second
			delay := rnd.Int64N(80 * ms)
			s.Options.TSVal = c.at(sent)
			table.Repeat(i, &s, 1, start+sent+delay)
			for now := sent + delay; n+1 < len(linuxSends) && now < linuxSends[n+1]*second; now += 1 + rnd.Int64N(700*ms) {
				behind := int32(c.at(now) - table.Syn(i, start+now).Options.TSVal)
				most := int32((delay+c.step)/ms) + 7 + int32((now-sent)*3/2/second)
				if behind < 0 || behind > most {
					t.Fatalf("seed %d: %d ms behind the client's clock at %d ms, should be 0 to %d", seed, behind, now/ms, most)
				}
			}
		}
	}
}

// A clock of another rate, or of which nothing is known yet, is left alone.
func TestTimestampsLeftAlone(t *testing.T) {
	for _, rate := range []float64{0, 1, 10, 60, 100, 128, 250, 300, 500, 2000, 10_000, 1e6} {
		c := clock{1 << 31, rate, 1}
		table := New(10, 1)
		k, s := key4(1), linux(9, c.at(0))
		i, _ := table.Add(&k, &s, 1, 0)
		for n, sec := range linuxSends {
			now := sec * second
			s.Options.TSVal = c.at(now)
			if n > 0 {
				table.Repeat(i, &s, 1, now)
			}
			if got := table.Syn(i, now+900*ms).Options.TSVal; got != s.Options.TSVal {
				t.Errorf("%v a second: %d 900 ms after SYN %d, was %d", rate, got, n, s.Options.TSVal)
			}
		}
	}
	table := New(10, 1)
	k, s := key4(1), linux(9, 77)
	i, _ := table.Add(&k, &s, 1, 0)
	if got := table.Syn(i, 3*second).Options.TSVal; got != 77 {
		t.Errorf("aged to %d after one SYN", got)
	}
}

// A SYN that was held up before we saw it, as all are while the machine does
// something else, does not make a clock of milliseconds another one. One that
// turns out to be slower is no longer brought forward.
func TestTimestampsAfterStall(t *testing.T) {
	table := New(10, 1)
	k, s := key4(1), linux(9, 1000)
	i, _ := table.Add(&k, &s, 1, 0)
	heard := func(tsval uint32, now int64) {
		s.Options.TSVal = tsval
		table.Repeat(i, &s, 1, now)
	}
	heard(2000, second)
	for n, stall := range []int64{600, 0, 900, 0, 0} {
		tsval, now := uint32(3000+1000*n), second*int64(2+n)+stall*ms
		heard(tsval, now)
		if got := table.Syn(i, now+second).Options.TSVal; got != tsval+994 {
			t.Errorf("SYN %d, %d ms late: %d a second later, should be %d", n, stall, got, tsval+994)
		}
	}
	heard(7100, 8*second)
	heard(7200, 9*second)
	if got := table.Syn(i, 10*second).Options.TSVal; got != 7200 {
		t.Errorf("brought to %d, though the clock makes 100 a second", got)
	}
}

// The same sequence number with other options: what was said last holds, and an
// option that is gone is gone.
func TestOptionsChange(t *testing.T) {
	table := New(10, 1)
	k, first := key4(1), linux(9, 1000)
	i, _ := table.Add(&k, &first, 1, 0)
	fresh := linux(9, 2000)
	table.Repeat(i, &fresh, 1, second)
	if got := table.Syn(i, 2*second); got.Options.TSVal != 2994 {
		t.Errorf("timestamp %d a second after 2000, should be 2994", got.Options.TSVal)
	}
	bare := Syn{Seq: 9, Window: 8192}
	bare.Options.MSS, bare.Options.WS = 1380, -1
	table.Repeat(i, &bare, 2, 3*second)
	if got := table.Syn(i, 10*second); got != bare {
		t.Errorf("%+v, should be %+v", got, bare)
	}
	if hop := table.At(i).Hop; hop != 2 {
		t.Errorf("hop %d", hop)
	}
	again := linux(9, 5000)
	table.Repeat(i, &again, 2, 5*second)
	if got := table.Syn(i, 6*second); got != again {
		t.Errorf("%+v, should be %+v: one timestamp says nothing of the clock", got, again)
	}
}
