package codel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const (
	ms     Tick = 1e6
	second Tick = 1e9
)

// fast is a rate at which target and interval are the RFC's.
const fast = 1000.0

// ask asks about heads that have waited for the sojourn, each step, and returns
// when one was refused, in ms from the start.
func (c *CoDel) ask(from, to, step, sojourn Tick, rate float64) (refused []int64) {
	for now := from; now < to; now += step {
		if c.Drop(now, sojourn, rate) {
			refused = append(refused, (now-from)/ms)
		}
	}
	return refused
}

// The first goes after an interval, the next ones after 100 ms, 100/sqrt(2),
// 100/sqrt(3) and so on.
func TestLaw(t *testing.T) {
	var c CoDel
	var want []int64
	for at, n := 100.0, 1.0; at < 1000; n++ {
		want = append(want, int64(math.Ceil(at)))
		at += 100 / math.Sqrt(n)
	}
	if got := c.ask(second, 2*second, ms, 10*ms, fast); !slices.Equal(got, want) {
		t.Errorf("refused at %v ms, want %v", got, want)
	}
}

// What leaves after a wait below the target ends it, whatever the others wait.
func TestOneShortWaitIsEnough(t *testing.T) {
	var c CoDel
	now := second
	for range 100 {
		if got := c.ask(now, now+99*ms, ms, 40*ms, fast); len(got) > 0 {
			t.Fatalf("refused at %v ms", got)
		}
		if now += 99 * ms; c.Drop(now, 5*ms-1, fast) {
			t.Fatal("refused below the target")
		}
		now += ms
	}
}

// 5 ms are the target, not below it.
func TestTarget(t *testing.T) {
	for sojourn, want := range map[Tick]bool{5*ms - 1: false, 5 * ms: true} {
		var c CoDel
		if got := c.ask(second, 2*second, ms, sojourn, fast); len(got) > 0 != want {
			t.Errorf("waits of %d: refused %v", sojourn, got)
		}
	}
}

// At 10 a second the target is 200 ms and the interval 4 s.
func TestSlowQueue(t *testing.T) {
	var c CoDel
	if got := c.ask(second, 60*second, 100*ms, 199*ms, 10); got != nil {
		t.Errorf("refused below the target: %v", got)
	}
	got := c.ask(100*second, 110*second, 100*ms, 300*ms, 10)
	if want := []int64{4000, 8000}; !slices.Equal(got, want) {
		t.Errorf("refused at %v, want %v", got, want)
	}
}

// A queue that stands again soon is treated as it was when it ended, and later
// as for the first time.
func TestStandsAgain(t *testing.T) {
	for _, c := range []struct {
		pause Tick
		want  []int64
	}{
		{second, []int64{100, 125, 150, 173, 196}}, // 16 since it began: 100/sqrt(16), 100/sqrt(17) ms
		{3 * second, []int64{100, 200}},
	} {
		var q CoDel
		if got := q.ask(second, second+775*ms, ms, 10*ms, fast); len(got) != 17 {
			t.Fatalf("%d refused at first", len(got))
		}
		now := second + 775*ms
		q.Drop(now, ms, fast)
		now += c.pause
		if got := q.ask(now, now+201*ms, ms, 10*ms, fast); !slices.Equal(got, c.want) {
			t.Errorf("after %d ms: refused at %v, want %v", c.pause/ms, got, c.want)
		}
	}
}

// Between two heads the queue was empty: the second did not wait behind the
// first, and a standing queue is something else.
func TestEmptyQueue(t *testing.T) {
	var c CoDel
	for now := second; now < 20*second; now += 50 * ms {
		if c.Drop(now, 50*ms, fast) { // came just after the one before had left
			t.Fatal("refused")
		}
	}
	if got := c.ask(20*second, 21*second, 50*ms, 51*ms, fast); len(got) == 0 {
		t.Error("none refused of a standing queue")
	}
}

func TestUnknownRate(t *testing.T) {
	var c CoDel
	if got := c.ask(second, 100*second, 10*ms, 50*second, 0); got != nil {
		t.Errorf("refused at %v", got)
	}
}

// In a standing queue nobody is served who has waited for more than four
// targets.
func TestBound(t *testing.T) {
	var c CoDel
	c.ask(second, second+101*ms, ms, 10*ms, fast)
	for sojourn, want := range map[Tick]bool{20 * ms: false, 20*ms + 1: true, second: true} {
		if got := c.Drop(second+102*ms, sojourn, fast); got != want {
			t.Errorf("wait of %d: refused is %v", sojourn, got)
		}
	}
}

// service is a simulated pool: clients come and slots free at random moments,
// oldest first.
type service struct {
	CoDel
	rnd    *rand.Rand
	rate   float64 // slots that free in a second
	now    Tick
	coming Tick   // when the next client comes
	queue  []Tick // when they came

	waits   []Tick // of those served
	refused int
}

// run lets clients come, so many a second, until the time.
func (s *service) run(until Tick, load float64) {
	for s.now < until {
		s.now += Tick(1e9 / s.rate * s.rnd.ExpFloat64())
		for s.coming < s.now {
			s.queue = append(s.queue, s.coming)
			s.coming += Tick(1e9 / (s.rate * load) * s.rnd.ExpFloat64())
		}
		s.serve()
	}
}

// serve gives a slot to the head, or to one behind it if that is refused.
func (s *service) serve() {
	for len(s.queue) > 0 {
		wait := s.now - s.queue[0]
		alone := len(s.queue) == 1
		s.queue = s.queue[1:]
		if alone || !s.Drop(s.now, wait, s.rate) {
			s.waits = append(s.waits, wait)
			return
		}
		s.refused++
	}
}

// look returns the wait that a part of those served had at most, in targets,
// and which part was refused.
func (s *service) look(part float64) (wait, refused float64) {
	slices.Sort(s.waits)
	target := max(float64(5*ms), 2e9/s.rate)
	at := s.waits[int(part*float64(len(s.waits)-1))]
	return float64(at) / target, float64(s.refused) / float64(s.refused+len(s.waits))
}

// With more coming than can be served, waits settle near the target, no more
// are refused than must be, and when it is over nobody is refused any more.
func TestOverload(t *testing.T) {
	for _, rate := range []float64{10, 1000, 20_000} {
		for _, load := range []float64{1.5, 2, 5} {
			t.Run(fmt.Sprintf("%v at %v", rate, load), func(t *testing.T) {
				s := &service{rate: rate, rnd: rand.New(rand.NewPCG(1, 1))}
				interval := max(100*ms, Tick(40e9/rate))
				s.run(5*interval, load)
				s.waits, s.refused = nil, 0
				s.run(80*interval, load)
				half, refused := s.look(0.5)
				most, _ := s.look(0.9)
				t.Logf("half wait for up to %.1f targets, 9 of 10 up to %.1f; %.1f %% refused", half, most, 100*refused)
				if half > 4 || most > 8 {
					t.Errorf("waits are long: %.1f and %.1f targets", half, most)
				}
				if must := 1 - 1/load; refused > must+0.05 || refused < must-0.05 {
					t.Errorf("%.2f refused, must be %.2f", refused, must)
				}
				s.run(s.now+2*interval, 0.3)
				s.refused = 0
				if s.run(s.now+100*interval, 0.3); s.refused > 0 {
					t.Errorf("%d refused when it was over", s.refused)
				}
			})
		}
	}
}

// A burst that is through within an interval loses nobody.
func TestBurst(t *testing.T) {
	for _, rate := range []float64{10, 1000, 20_000} {
		s := &service{rate: rate, rnd: rand.New(rand.NewPCG(1, 1)), coming: 1 << 60}
		interval := max(100*ms, Tick(40e9/rate))
		n := int(0.7 * rate * float64(interval) / 1e9)
		s.queue = make([]Tick, n)
		s.run(2*interval, 1)
		if s.refused > 0 || len(s.waits) != n {
			t.Errorf("%v a second: %d of %d refused", rate, s.refused, n)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	var c CoDel
	now := second
	if n := testing.AllocsPerRun(1000, func() { now += ms; c.Drop(now, 10*ms, fast) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
