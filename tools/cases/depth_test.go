package cases

import (
	"strings"
	"testing"
	"time"
)

// checked returns the effective depth that "penstock check" prints.
func (s setup) checked(t testing.TB) string {
	t.Helper()
	for line := range strings.Lines(s.check(t)) {
		if w := strings.Fields(line); len(w) > 3 && w[0] == "effective" && w[2] == "depth" {
			return w[3]
		}
	}
	t.Fatal("check prints no effective queue depth")
	return ""
}

// fill connects n clients that are served by s, and returns the visits.
func (p *proxy) fill(s *server, n int) (in []*visit) {
	p.t.Helper()
	p.polite(n)
	for range n {
		in = append(in, s.next(patience))
	}
	return in
}

// A client is refused only when the queue is as deep as check says.
func TestC29RefusedOnlyWhenFull(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	s := setup{pool: "queue-depth-limit=3", members: []string{a.limit(2)}}
	if got := s.checked(t); got != "3" {
		t.Errorf("check: depth %s; want 3", got)
	}
	p := s.start(t)
	in := p.fill(a, 2)
	p.polite(3)
	p.awaitDepth(3)
	p.turnedAway() // the 6th
	p.ended("QF")
	in[0].end()
	in[0] = a.next(patience)
	p.awaitDepth(2)
	p.polite(1) // the next one waits
	p.awaitDepth(3)
	for range 3 {
		in[0].end()
		in[0] = a.next(patience)
	}
	in[0].end()
	in[1].end()
}

// The depth is by default the sum of the members' limits.
func TestDefaultDepthIsSumOfLimits(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	b := a.beside("B")
	s := setup{pool: "queue-depth-cap=members", members: []string{a.limit(2), b.limit(3)}}
	if got := s.checked(t); got != "5" {
		t.Errorf("check: depth %s; want 5", got)
	}
	p := s.start(t)
	in := p.fill(a, 5)
	p.polite(5)
	p.awaitDepth(5)
	p.turnedAway()
	if d := p.pool().EffectiveDepth; d == nil || *d != 5 {
		t.Errorf("API: effective depth %v; want 5", d)
	}
	for range 5 {
		in[0].end()
		in = append(in[1:], a.next(patience))
	}
	for _, v := range in {
		v.end()
	}
}

// Where one member has no limit, nobody waits.
func TestC29NoLimitNobodyWaits(t *testing.T) {
	t.Parallel()
	a, b := listen(t, "A", hold), listen(t, "B", hold)
	p := setup{pool: "queue-depth-cap=members", members: []string{a.limit(1), b.addr}}.start(t)
	clients := p.connectMany(20)
	for _, c := range clients {
		c.served(patience)
	}
	if n := a.now.Load(); n != 1 {
		t.Errorf("A has %d", n)
	}
	if s := p.pool(); s.Connq.Serviced != 0 {
		t.Errorf("%d have waited", s.Connq.Serviced)
	}
	for _, c := range clients {
		c.Close()
	}
}

// What is shown is what acts.
func TestC75ShownIsWhatActs(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{2, 5} {
		t.Run(itoa(limit), func(t *testing.T) {
			t.Parallel()
			a := listen(t, "A", nil)
			s := setup{pool: "queue-depth-limit=" + itoa(limit), members: []string{a.limit(1)}}
			if got := s.checked(t); got != itoa(limit) {
				t.Errorf("check: %s", got)
			}
			p := s.start(t)
			if got := p.metric(`penstock_pool_connq_depth_limit{pool="p"}`); got != float64(limit) {
				t.Errorf("metrics: limit %v", got)
			}
			v := p.fill(a, 1)[0]
			p.polite(limit)
			p.awaitDepth(limit)
			if got := p.metric(`penstock_pool_connq_depth{pool="p"}`); got != float64(limit) {
				t.Errorf("metrics: depth %v", got)
			}
			p.turnedAway()
			for range limit {
				v.end()
				v = a.next(patience)
			}
			v.end()
		})
	}
}

// Only those who are parked wait.
func TestC74OnlyParkedWait(t *testing.T) {
	t.Parallel()
	a := listen(t, "A", nil)
	p := setup{members: []string{a.limit(5)}}.start(t)
	in := p.fill(a, 5)
	parked := time.Now()
	p.polite(3)
	p.awaitDepth(3)
	never(t, 300*time.Millisecond, "depth other than 3", func() bool { return p.depth() != 3 })
	for _, v := range in[:3] {
		v.end()
		in = append(in, a.next(patience))
	}
	wait := time.Since(parked)
	for _, v := range in[3:] {
		v.end()
	}
	waited := 0
	for _, line := range p.awaitLog(8) {
		if line["position"] == "0" {
			continue
		}
		waited++
		between(t, "wait in the log", line.span("wait"), 290*time.Millisecond, wait+10*time.Millisecond)
	}
	if waited != 3 {
		t.Errorf("%d have waited", waited)
	}
}
