package dispatch

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"
)

// sim is a day of traffic in a second: clients come as they like, and each one
// that is served stays for a while. The clock is given.
type sim struct {
	*Dispatcher
	now    Tick
	rnd    *rand.Rand
	events events
	all    []simulated // clients, by number
	stay   func() Tick
	loop   int
	served func(*simulated)
}

type simulated struct {
	Attempt
	loop    int
	virtual VirtualID
	sender  int
	reason  Reason
	granted Tick // when it was served; 0 not, or not yet
	path    Path
}

// event is something that will happen: the end of a client or, if what is below
// 0, the coming of another one.
type event struct {
	at   Tick
	what int
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() (x any) {
	last := len(*e) - 1
	x = (*e)[last]
	*e = (*e)[:last]
	return x
}

func newSim(seed uint64, text string) *sim {
	s := &sim{now: start, rnd: rand.New(rand.NewPCG(seed, seed)), served: func(*simulated) {}}
	s.Dispatcher = New(mustTopology(2, text).Config, func(int) {})
	return s
}

// stream is clients who come at random, so many a second.
type stream struct {
	sender  int
	virtual VirtualID
	source  Source
	rate    float64
}

func (s *sim) wait(rate float64) Tick { return Tick(s.rnd.ExpFloat64() * 1e9 / rate) }

// run lets the streams come for a while, and time pass until then.
func (s *sim) run(span Tick, streams ...stream) {
	end := s.now + span
	for i, st := range streams {
		heap.Push(&s.events, event{s.now + s.wait(st.rate), -1 - i})
	}
	for {
		due := s.due()
		if len(s.events) > 0 && (due == 0 || s.events[0].at <= due) {
			e := heap.Pop(&s.events).(event)
			if s.now = max(s.now, e.at); e.what >= 0 {
				c := &s.all[e.what]
				s.Loop(c.loop).Release(s.now, c.path)
			} else if e.at < end {
				st := streams[-1-e.what]
				s.arrive(st.sender, st.virtual, st.source)
				heap.Push(&s.events, event{s.now + s.wait(st.rate), e.what})
			}
		} else if due != 0 && due < end {
			s.now = max(s.now, due)
			for _, l := range s.loops {
				l.Run(s.now)
			}
		}
		s.collect()
		if s.now >= end {
			s.events = slices.DeleteFunc(s.events, func(e event) bool { return e.what < 0 })
			heap.Init(&s.events)
			return
		}
	}
}

// due is when a loop has to be run.
func (s *sim) due() (at Tick) {
	for _, l := range s.loops {
		at = sooner(at, l.Due())
	}
	return at
}

func (s *sim) arrive(sender int, v VirtualID, from Source) {
	id := len(s.all)
	s.loop = (s.loop + 1) % len(s.loops)
	s.all = append(s.all, simulated{
		Attempt: Attempt{Since: s.now, Source: from}, loop: s.loop, virtual: v, sender: sender,
	})
	c := &s.all[id]
	verdict := s.Loop(c.loop).Arrive(s.now, v, uint32(id), c.Attempt)
	if c.reason = verdict.Reason; verdict.Kind == Proceed {
		s.serve(id, verdict.Path)
	}
}

func (s *sim) serve(id int, path Path) {
	c := &s.all[id]
	c.granted, c.path = s.now, path
	s.served(c)
	heap.Push(&s.events, event{s.now + s.stay(), id})
}

func (s *sim) collect() {
	for _, l := range s.loops {
		for o, ok := l.Next(); ok; o, ok = l.Next() {
			if s.all[o.Conn].reason = o.Reason; o.Reason == NotRefused {
				s.serve(int(o.Conn), o.Path)
			}
		}
	}
}

// since counts what became of those who came after a moment.
func (s *sim) since(from Tick) (served, came float64, refused map[Reason]float64, waits []Tick) {
	refused = map[Reason]float64{}
	for i := range s.all {
		c := &s.all[i]
		if c.granted > from {
			served++
			waits = append(waits, c.granted-c.Since)
		}
		if c.Since <= from {
			continue
		}
		came++
		if c.reason != NotRefused {
			refused[c.reason]++
		}
	}
	return served, came, refused, waits
}

func constant(d Tick) func() Tick { return func() Tick { return d } }

func seeds(t *testing.T, do func(t *testing.T, seed uint64)) {
	t.Helper()
	if slower > 1 {
		t.Skip("one thread: there is nothing to race")
	}
	for seed := range uint64(3) {
		do(t, seed+1)
	}
}
