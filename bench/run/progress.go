package run

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"penstock/bench/scenario"
)

// step is what is played now.
type step struct {
	scenario, name string
	round, rounds  int
	peer           string
}

// String is "release-latency 1000, round 2 of 5: haproxy".
func (s step) String() string {
	name := s.scenario
	if s.name != "" {
		name += " " + s.name
	}
	return fmt.Sprintf("%s, round %d of %d: %s", name, s.round, s.rounds, s.peer)
}

// around is what a play takes besides the clients' time: starting and ending
// everything. A guess, for the first play only.
const around = 1500 * time.Millisecond

// length is how long a play of the case takes, about.
func length(c *scenario.Case) time.Duration {
	sum := c.Warm + c.For + around
	for _, cl := range c.Clients {
		if !cl.Config.Open() && cl.Config.Rate > 0 {
			sum += time.Duration(flows(&cl.Config)) * time.Second / time.Duration(cl.Config.Rate)
		}
	}
	return sum
}

// left guesses how long it will take still: the plan is scaled by how long what
// is done has taken. Within a play it counts down, but not below a second.
func left(elapsed, sinceDone, done, planned time.Duration) time.Duration {
	remaining := planned - done
	if done > 0 {
		pace := float64(elapsed-sinceDone) / float64(done)
		remaining = time.Duration(float64(remaining) * pace)
	}
	return max(remaining-sinceDone, time.Second)
}

// eta rounds for people: "45 s", "3 min", "2 h 05 min".
func eta(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%d s", (d+time.Second/2)/time.Second)
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", (d+time.Minute/2)/time.Minute)
	}
	d = (d + time.Minute/2) / time.Minute * time.Minute
	return fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute)
}

// progress is one line on a terminal, written anew every second.
type progress struct {
	out  io.Writer // nil: none
	now  func() time.Time
	stop chan struct{}
	over sync.WaitGroup

	mu            sync.Mutex
	began, last   time.Time // last is when a play was done
	plan, covered time.Duration
	current       step
}

func begin(out io.Writer, now func() time.Time, plan time.Duration) *progress {
	p := &progress{out: out, now: now, stop: make(chan struct{}), plan: plan, began: now(), last: now()}
	if out != nil {
		p.over.Go(p.tick)
	}
	return p
}

func (p *progress) tick() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			p.print()
		case <-p.stop:
			return
		}
	}
}

// step says what begins.
func (p *progress) step(s step) {
	p.mu.Lock()
	p.current = s
	p.mu.Unlock()
	p.print()
}

// done says that as much of the plan is done.
func (p *progress) done(part time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.covered += part
	p.last = p.now()
}

func (p *progress) print() {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.out, clear, p.text())
}

const clear = "\r\x1b[K"

// text is the line.
func (p *progress) text() string {
	now := p.now()
	rest := left(now.Sub(p.began), now.Sub(p.last), p.covered, p.plan)
	return strings.TrimSpace(fmt.Sprintf("%v; %s left", p.current, eta(rest)))
}

// end takes the line away.
func (p *progress) end() {
	close(p.stop)
	p.over.Wait()
	if p.out != nil {
		fmt.Fprint(p.out, clear)
	}
}
