package dispatch

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestFairTwin compares the order in which a fair pool with classes serves its
// waiters with that of a list of queues, by sender and class, served in turn.
func TestFairTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newFairMachine(t)
		t.Repeat(rapid.StateMachineActions(m))
		m.empty(t)
	})
}

// fairTwin is what waits: for each class the senders in turn, each with its
// clients, oldest first; and those back from a failed dial, whose turn was.
type fairTwin struct {
	lines [8][]*fairFlow
	back  []*fairClient
}

type fairFlow struct {
	sender  int
	clients []*fairClient
}

type fairClient struct {
	id, loop, sender int
	class            uint8
	a                Attempt
	waiter           Waiter
	path             *Path
}

func compareAge(a, b *fairClient) int {
	return cmp.Or(cmp.Compare(a.a.Since, b.a.Since), cmp.Compare(a.loop, b.loop))
}

func (f *fairTwin) park(c *fairClient) {
	if c.a.Tries > 0 {
		f.back = append(f.back, c)
		return
	}
	ln := &f.lines[c.class]
	i := slices.IndexFunc(*ln, func(fl *fairFlow) bool { return fl.sender == c.sender })
	if i < 0 {
		i = len(*ln)
		*ln = append(*ln, &fairFlow{sender: c.sender})
	}
	fl := (*ln)[i]
	fl.clients = append(fl.clients, c)
	slices.SortStableFunc(fl.clients, compareAge)
}

// next is who is to be served next.
func (f *fairTwin) next(age Tick) (best *fairClient) {
	consider := func(c *fairClient) {
		turn := func(c *fairClient) Tick { return c.a.Since + Tick(7-c.class)*age }
		if best == nil || cmp.Or(cmp.Compare(turn(c), turn(best)), compareAge(c, best)) < 0 {
			best = c
		}
	}
	for _, ln := range f.lines {
		if len(ln) > 0 {
			consider(ln[0].clients[0])
		}
	}
	for _, c := range f.back {
		consider(c)
	}
	return best
}

// remove takes a waiter out; served says that its sender's turn is over.
func (f *fairTwin) remove(c *fairClient, served bool) {
	f.back = slices.DeleteFunc(f.back, func(o *fairClient) bool { return o == c })
	for k, ln := range f.lines {
		for i, fl := range ln {
			if !slices.Contains(fl.clients, c) {
				continue
			}
			fl.clients = slices.DeleteFunc(fl.clients, func(o *fairClient) bool { return o == c })
			if served || len(fl.clients) == 0 {
				ln = slices.Delete(ln, i, i+1)
			}
			if served && len(fl.clients) > 0 {
				ln = append(ln, fl)
			}
			f.lines[k] = ln
			return
		}
	}
}

type fairMachine struct {
	*Dispatcher
	twin    fairTwin
	clients map[int]*fairClient
	now     Tick
	age     Tick
	lastID  int
}

func newFairMachine(t *rapid.T) *fairMachine {
	age := someTimes.Draw(t, "class age")
	top := mustTopology(rapid.IntRange(1, 2).Draw(t, "loops"),
		"pool p fair=32/64 tries=9\nvirtual v\nvirtual w class=1\nvirtual x class=7\nmember A limit=2")
	top.Pools[0].ClassAge = age
	return &fairMachine{
		Dispatcher: New(top.Config, func(int) {}), clients: map[int]*fairClient{}, now: start, age: age,
	}
}

func (m *fairMachine) Arrive(t *rapid.T) {
	v := rapid.IntRange(0, 2).Draw(t, "virtual")
	s := rapid.IntRange(1, 5).Draw(t, "sender")
	loop := rapid.IntRange(0, len(m.loops)-1).Draw(t, "loop")
	for range rapid.SampledFrom([]int{1, 1, 3, 10}).Draw(t, "clients") {
		m.lastID++
		m.now++
		c := &fairClient{id: m.lastID, loop: loop, sender: s, class: []uint8{0, 1, 7}[v], a: Attempt{Since: m.now, Source: sender(s)}}
		m.clients[c.id] = c
		m.took(t, c, m.Loop(loop).Arrive(m.now, VirtualID(v), uint32(c.id), c.a))
		m.Check(t)
	}
}

func (m *fairMachine) Come(t *rapid.T) { m.Arrive(t) }

func (m *fairMachine) took(t *rapid.T, c *fairClient, v Verdict) {
	switch v.Kind {
	case Proceed:
		if m.twin.next(m.age) != nil {
			t.Fatalf("client %d overtakes", c.id)
		}
		c.path = &v.Path
	case Wait:
		c.waiter = v.Waiter
		m.twin.park(c)
	default:
		t.Fatalf("client %d: %+v", c.id, v)
	}
}

func (m *fairMachine) Release(t *rapid.T) {
	c := m.pick(t, true)
	m.Loop(c.loop).Release(m.now, *c.path)
	delete(m.clients, c.id)
}

func (m *fairMachine) Fail(t *rapid.T) {
	c := m.pick(t, true)
	if c.a.Tries == 9 {
		t.Skip("often enough")
	}
	path := *c.path
	c.path = nil
	v := m.Loop(c.loop).Failed(m.now, path, uint32(c.id), &c.a)
	m.took(t, c, v)
	m.Loop(0).SetMemberUp(m.now, 0, true) // it is well again at once
}

func (m *fairMachine) Leave(t *rapid.T) {
	c := m.pick(t, false)
	m.leave(c)
}

func (m *fairMachine) leave(c *fairClient) {
	m.Loop(c.loop).Leave(m.now, c.waiter, c.a.Since)
	m.twin.remove(c, false)
	delete(m.clients, c.id)
}

func (m *fairMachine) SetLimit(t *rapid.T) {
	m.Loop(0).SetMemberLimit(m.now, 0, rapid.Int64Range(1, 4).Draw(t, "limit"))
}

func (m *fairMachine) Time(t *rapid.T) {
	m.now += Tick(rapid.SampledFrom([]int{1, 10, 100, 1000}).Draw(t, "ms")) * 1e6
}

func (m *fairMachine) pick(t *rapid.T, connected bool) *fairClient {
	var ids []int
	for id, c := range m.clients {
		if (c.path != nil) == connected {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		t.Skip("nobody")
	}
	slices.Sort(ids)
	return m.clients[rapid.SampledFrom(ids).Draw(t, "client")]
}

// Check follows the grants, each of which must be the next one's.
func (m *fairMachine) Check(t *rapid.T) {
	got := map[int]Outcome{}
	for _, l := range m.loops {
		if d := l.Due(); d != 0 && d <= m.now {
			l.Run(m.now)
		}
	}
	for _, l := range m.loops {
		for o, ok := l.Next(); ok; o, ok = l.Next() {
			got[int(o.Conn)] = o
		}
	}
	for len(got) > 0 {
		c := m.twin.next(m.age)
		if c == nil {
			t.Fatalf("nobody waits, but granted %v", got)
		}
		o, ok := got[c.id]
		if !ok {
			t.Fatalf("granted %v, but it is the turn of %d of sender %d", got, c.id, c.sender)
		}
		delete(got, c.id)
		c.path = &o.Path
		m.twin.remove(c, true)
	}
	l := m.Member(0).Load
	if c := m.twin.next(m.age); c != nil && l.InUse < l.Limit {
		t.Fatalf("client %d waits with %+v", c.id, l)
	}
}

func (m *fairMachine) empty(t *rapid.T) {
	for len(m.clients) > 0 {
		for _, c := range m.clients {
			if c.path == nil {
				m.leave(c)
			} else {
				m.Loop(c.loop).Release(m.now, *c.path)
				delete(m.clients, c.id)
			}
			m.Check(t)
		}
	}
	checkEmpty(t, m.Dispatcher)
}
