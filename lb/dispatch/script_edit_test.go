package dispatch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commands for which the loops stand still. Each ends with Changed.

func (s *script) edited() { s.Changed(s.now) }

// add adds objects, a line each, in the words of the topology.
func (s *script) add() {
	for line := range strings.Lines(s.td.Input) {
		words := strings.Fields(line)
		nodes := len(s.Nodes)
		s.must(s.topology.object(words[0], words[1], words[2:]))
		for i := nodes; i < len(s.Nodes); i++ {
			s.place("node", i, int(s.AddNode(s.Nodes[i])))
		}
		switch last := len(s.names[words[0]]) - 1; words[0] {
		case "pool":
			s.place("pool", last, int(s.AddPool(s.Pools[last])))
		case "member":
			c := &s.Members[last]
			c.Node = NodeID(s.index("node", s.nodeName(words)))
			s.place("member", last, int(s.AddMember(s.now, *c)))
		case "virtual":
			s.place("virtual", last, int(s.AddVirtual(s.Virtuals[last])))
		}
	}
	s.edited()
}

// nodeName is the node of a member's line.
func (s *script) nodeName(words []string) string {
	for _, w := range words {
		if name, ok := strings.CutPrefix(w, "node="); ok {
			return name
		}
	}
	return "of-" + words[1]
}

func (s *script) object2(kind, name string, options []string) error {
	return s.topology.object(kind, name, options)
}

// place moves the object that was added last to the number it got.
func (s *script) place(kind string, from, to int) {
	s.names[kind] = placed(s.names[kind], from, to)
	switch kind {
	case "virtual":
		s.Virtuals = placed(s.Virtuals, from, to)
	case "pool":
		s.Pools = placed(s.Pools, from, to)
	case "member":
		s.Members = placed(s.Members, from, to)
	case "node":
		s.Nodes = placed(s.Nodes, from, to)
	}
}

func placed[T any](of []T, from, to int) []T {
	if from != to {
		of[to] = of[from]
		of = slices.Delete(of, from, from+1)
	}
	return of
}

// set changes objects, a line each: what is not named stays.
func (s *script) set() {
	for line := range strings.Lines(s.td.Input) {
		words := strings.Fields(line)
		i := s.index(words[0], words[1])
		set := s.setterOf(words[0], i)
		for _, o := range words[2:] {
			key, val, _ := strings.Cut(o, "=")
			s.must(set(key, val))
		}
		switch words[0] {
		case "virtual":
			s.SetVirtual(s.now, VirtualID(i), s.Virtuals[i])
		case "pool":
			s.SetPool(s.now, PoolID(i), s.Pools[i])
		case "member":
			s.SetMember(s.now, MemberID(i), s.Members[i])
		case "node":
			s.SetNode(s.now, NodeID(i), s.Nodes[i])
		}
	}
	s.edited()
}

func (s *script) setterOf(kind string, i int) setter {
	switch kind {
	case "virtual":
		return s.topology.setVirtual(&s.Virtuals[i])
	case "pool":
		return func(key, val string) error { return setPoolRule(&s.Pools[i], key, val) }
	case "member":
		return s.topology.setMember(&s.Members[i])
	default:
		return setNode(&s.Nodes[i])
	}
}

// remove takes an object out; forget gives its number up, if nobody is there
// any more.
func (s *script) remove() {
	switch kind, i := s.object(); kind {
	case "virtual":
		s.RemoveVirtual(s.now, VirtualID(i))
	case "pool":
		s.RemovePool(s.now, PoolID(i))
	case "member":
		s.RemoveMember(s.now, MemberID(i))
	case "node":
		s.RemoveNode(s.now, NodeID(i))
	}
	s.edited()
}

func (s *script) forgetIt() {
	kind, i := s.object()
	if kind == "member" && !s.ForgetMember(MemberID(i)) || kind == "virtual" && !s.ForgetVirtual(VirtualID(i)) {
		s.out.WriteString("not yet\n")
		return
	}
	s.names[kind][i] = ""
	s.edited()
}

// monitor is what the monitor says of a member: up or down.
func (s *script) monitor() {
	_, i := s.object()
	says, _ := s.arg("says")
	s.SetMemberUp(s.now, MemberID(i), says == "up")
	s.edited()
}

func (s *script) pause()  { s.hold(true) }
func (s *script) resume() { s.hold(false) }

func (s *script) hold(on bool) {
	_, i := s.object()
	s.Pause(s.now, PoolID(i), on)
	s.edited()
}

// filter is the waiters that a command means: all, or those of class= or
// member= (- is the pool's queue), or of virtual=.
func (s *script) filter() func(*WaiterView) bool {
	class, byClass := s.arg("class")
	member, byMember := s.arg("member")
	virtual, byVirtual := s.arg("virtual")
	return func(w *WaiterView) bool {
		return (!byClass || strconv.Itoa(int(w.Class)) == class) &&
			(!byMember || s.queueName(w) == member) &&
			(!byVirtual || s.names["virtual"][w.Virtual] == virtual)
	}
}

func (s *script) queueName(w *WaiterView) string {
	if w.Member < 0 {
		return "-"
	}
	return s.names["member"][w.Member]
}

func (s *script) flush() {
	_, i := s.object()
	n := s.Flush(s.now, PoolID(i), s.filter())
	fmt.Fprintf(&s.out, "%d flushed\n", n)
	s.edited()
}

// waiters lists who waits in a pool: skip= and most= make a page of it.
func (s *script) waiters() {
	_, i := s.object()
	skip, most := 0, 100
	s.td.MaybeScanArgs(s.t, "skip", &skip)
	s.td.MaybeScanArgs(s.t, "most", &most)
	page, total := s.Waiters(PoolID(i), skip, most, s.filter())
	for _, w := range page {
		fmt.Fprintf(&s.out, "%d. client %d since %s, virtual %s, queue %s, loop %d", w.Position, w.Conn,
			time.Duration(w.Since-start), s.names["virtual"][w.Virtual], s.queueName(&w), w.Loop)
		if w.Class != 0 {
			fmt.Fprintf(&s.out, ", class %d", w.Class)
		}
		if w.Tries != 0 {
			fmt.Fprintf(&s.out, ", %d tries", w.Tries)
		}
		s.out.WriteByte('\n')
	}
	fmt.Fprintf(&s.out, "%d in all\n", total)
}

// usable: may these clients, granted, still be dialled for?
func (s *script) usable() {
	s.each(func(_ int, c *scripted) string { return fmt.Sprint(s.Loop(c.loop).Usable(*s.pathOf(c))) })
}

// withdraw: they are not, and want another member.
func (s *script) withdraw() {
	s.each(func(id int, c *scripted) string {
		path := *s.pathOf(c)
		c.path = nil
		return s.took(id, c, s.Loop(c.loop).Withdraw(s.now, path, uint32(id), &c.a))
	})
}

// short: there was nothing to dial for these clients with.
func (s *script) short() {
	s.each(func(id int, c *scripted) string {
		path := *s.pathOf(c)
		c.path = nil
		return s.took(id, c, s.Loop(c.loop).Short(s.now, path, uint32(id), &c.a))
	})
}

// unfit: the member is not for these clients.
func (s *script) unfit() {
	s.each(func(id int, c *scripted) string {
		path := *s.pathOf(c)
		c.path = nil
		return s.took(id, c, s.Loop(c.loop).Unfit(s.now, path, uint32(id), &c.a))
	})
}

func (s *script) must(err error) {
	if err != nil {
		s.td.Fatalf(s.t, "%v", err)
	}
}
