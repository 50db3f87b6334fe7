package cases

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// gauge counts connections against a limit that moves. Lowering it closes
// nothing: it counts when somebody comes.
type gauge struct {
	mu          sync.Mutex
	limit       int // 0: none
	now         int
	came, worst int // worst: the most above the limit when somebody came
}

func (g *gauge) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now++
	g.came++
	if g.limit > 0 {
		g.worst = max(g.worst, g.now-g.limit)
	}
}

func (g *gauge) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now--
}

// allow sets the limit: to the looser of old and next while either may be in
// force.
func (g *gauge) allow(next int, both bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if both && (g.limit == 0 || next == 0) {
		next = 0
	} else if both {
		next = max(next, g.limit)
	}
	g.limit = next
}

// stormy is a member of the storm. It is counted anew each time it is added:
// who was connected before it was removed belongs to the one that is gone.
type stormy struct {
	*server
	mu     sync.Mutex
	gauge  *gauge
	of     map[*visit]*gauge
	absent bool // it may get nobody
	ghosts int  // who came all the same
	worst  int  // of gauges before this one

	// What is asked for.
	present bool
	limit   int
	keys    string
}

func (m *stormy) enter(v *visit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.absent {
		m.ghosts++
	}
	m.of[v] = m.gauge
	m.gauge.enter()
}

func (m *stormy) leave(v *visit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of[v].leave()
	delete(m.of, v)
}

// storm is a proxy whose flag file changes all the time.
type storm struct {
	t       *testing.T
	p       *proxy
	f       flagFile
	r       *rand.Rand
	members []*stormy

	pool, virtual           gauge
	poolLimit, virtualLimit int
	poolKeys, virtualKeys   string

	beside  *server // of a virtual server that comes and goes
	there   bool
	visitor *client // of it
}

func newStorm(t *testing.T) *storm {
	s := &storm{t: t, r: rand.New(rand.NewPCG(3, 5))}
	for _, name := range []string{"A", "B", "C", "D"} {
		m := &stormy{gauge: &gauge{}, of: map[*visit]*gauge{}, present: name < "D", absent: name == "D", limit: 3}
		m.server = listen(t, name, func(v *visit) {
			text, _ := v.line()
			time.Sleep(time.Duration(len(text)) * 100 * time.Microsecond)
			v.Write([]byte(text + "\n"))
			v.end()
		})
		m.gauge.limit = 3
		m.watch(
			func(v *visit) { s.pool.enter(); s.virtual.enter(); m.enter(v) },
			func(v *visit) { s.pool.leave(); s.virtual.leave(); m.leave(v) },
		)
		s.members = append(s.members, m)
	}
	s.beside = listen(t, "W", hold)
	s.p, s.f = filed(t, s.lines(), setup{})
	return s
}

// lines is the flag file for what is asked for.
func (s *storm) lines() string {
	var b strings.Builder
	keys := func(more string, limit int) string {
		return fmt.Sprintf("connection-limit=%d%s", limit, more)
	}
	fmt.Fprintf(&b, "-virtual v,listen=127.0.0.1:0,pool=p,persist=source,persist-timeout=1s,%s\n", keys(s.virtualKeys, s.virtualLimit))
	fmt.Fprintf(&b, "-pool p,queue-depth-cap=none,queue-time-limit=0,when-down-time-limit=0,monitor=none,%s\n", keys(s.poolKeys, s.poolLimit))
	for _, m := range s.members {
		if m.present {
			fmt.Fprintf(&b, "-member %s,pool=p,%s\n", m.addr, keys(m.keys, m.limit))
		}
	}
	if s.there {
		fmt.Fprintf(&b, "-virtual w,listen=127.0.0.1:0,pool=q\n-pool q,monitor=none\n-member %s,pool=q\n", s.beside.addr)
	}
	return b.String()
}

// pick returns one of several texts.
func (s *storm) pick(texts ...string) string { return texts[s.r.IntN(len(texts))] }

// change asks for something else.
func (s *storm) change() {
	for _, m := range s.members {
		if s.r.IntN(2) == 0 {
			m.limit = 1 + s.r.IntN(6)
		}
		if s.r.IntN(4) == 0 {
			m.present = !m.present
		}
		m.keys = s.pick("", "", "", ",state=disabled", ",state=offline") +
			s.pick("", ",ratio=3") + s.pick("", ",priority-group=1")
	}
	s.poolLimit, s.virtualLimit = s.r.IntN(10), s.r.IntN(12)
	s.poolKeys = s.pick("", ",load-balancing-mode=ratio", ",load-balancing-mode=least-connections", ",load-balancing-mode=source-hash") +
		s.pick("", ",min-active-members=1", ",min-active-members=2") + s.pick("", ",persist-wait=50ms") +
		s.pick(",slow-ramp-time=0", ",slow-ramp-time=300ms") + s.pick("", ",queue-fair=source/30")
	s.virtualKeys = s.pick("", ",queue-class=2", ",queue-class-from=127.0.1.0/28:5")
	s.there = s.r.IntN(3) == 0
}

// loosen lets all limits be those that are in force or those that are asked
// for; tighten, those that are asked for.
func (s *storm) loosen()  { s.limits(true) }
func (s *storm) tighten() { s.limits(false) }

func (s *storm) limits(both bool) {
	s.pool.allow(s.poolLimit, both)
	s.virtual.allow(s.virtualLimit, both)
	for _, m := range s.members {
		m.mu.Lock()
		switch {
		case m.present && m.absent:
			m.worst = max(m.worst, m.gauge.worst)
			m.gauge, m.absent = &gauge{limit: m.limit}, false
		case m.present:
			m.gauge.allow(m.limit, both)
		case !both:
			m.absent = true
		}
		m.mu.Unlock()
	}
}

// step changes something and has it applied.
func (s *storm) step() {
	s.t.Helper()
	was := s.there
	s.change()
	s.loosen()
	s.p.reload(s.f, s.lines())
	// Who had its slot before the change may be dialled after it. When the
	// loops have stood still once more, it has been.
	s.p.settled()
	for _, m := range s.members {
		m.marked()
	}
	s.tighten()
	switch {
	case s.there && !was:
		at := fields(s.p.lastLine("virtual=w"))["address"]
		s.visitor = (&proxy{t: s.t, addr: at}).connect()
		s.visitor.served(patience)
	case was && !s.there: // who is connected has lost nothing
		s.visitor.say("bye")
		s.visitor.CloseWrite()
		if how, _ := s.visitor.ends(patience); how != byFIN {
			s.t.Errorf("client of a virtual server that went ended by %s", how)
		}
	}
}

// load has n clients come again and again until over is set. It returns how
// often they were served, when they have gone.
func (s *storm) load(n int, over *atomic.Bool) func() int64 {
	var all sync.WaitGroup
	var served atomic.Int64
	for i := range n {
		all.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(i)))
			for !over.Load() && !s.t.Failed() {
				c, err := s.p.dial("127.0.1." + itoa(1+i))
				if err != nil {
					s.t.Error(err)
					return
				}
				text := strings.Repeat("x", 1+r.IntN(40))
				c.say(text + "\n")
				if how, got := c.ends(patience); how != byFIN || got != text+"\n" {
					s.t.Errorf("after %v a client ends by %s with %q", time.Since(c.at), how, got)
				}
				c.Close()
				served.Add(1)
			}
		})
	}
	return func() int64 { all.Wait(); return served.Load() }
}

// Reloads at random under load, with limits that move and members, pools and
// virtual servers that come and go: no connection is lost, none is above the
// limit in force, nobody is left behind.
func TestStormOfReloads(t *testing.T) {
	s := newStorm(t)
	var over atomic.Bool
	gone := s.load(40, &over)
	for range count(200, 1000) {
		s.step()
		time.Sleep(time.Duration(s.r.IntN(15)) * time.Millisecond)
		if t.Failed() {
			break
		}
	}
	for _, m := range s.members { // something that serves all
		m.present, m.keys, m.limit = true, "", 5
	}
	s.poolLimit, s.virtualLimit, s.poolKeys, s.virtualKeys, s.there = 0, 0, "", "", false
	s.loosen()
	s.p.reload(s.f, s.lines())
	over.Store(true)
	served := gone()
	if s.visitor != nil {
		s.visitor.Close()
	}
	s.judge(served)
}

func (s *storm) judge(served int64) {
	t := s.t
	t.Logf("%d served", served)
	if n := s.pool.came; int64(n) != served {
		t.Errorf("%d came to a server; want %d", n, served)
	}
	if s.pool.worst > 0 || s.virtual.worst > 0 {
		t.Errorf("%d above the pool's limit, %d above the virtual server's", s.pool.worst, s.virtual.worst)
	}
	for _, m := range s.members {
		if m.ghosts > 0 {
			t.Errorf("%s: %d came after it was removed", m.name, m.ghosts)
		}
		if n := max(m.worst, m.gauge.worst); n > 0 {
			t.Errorf("%s: %d above its limit", m.name, n)
		}
	}
}
