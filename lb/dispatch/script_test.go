package dispatch

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs the stories in testdata, one file for each rule. What the
// commands mean is said at their methods below; -rewrite regenerates the
// answers.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t, s.td = t, d
			return s.command()
		})
		s.t = t
		s.end()
	})
}

// script is a front end whose clients do what a story says.
type script struct {
	t  *testing.T
	td *datadriven.TestData

	*topology
	*Dispatcher
	now     Tick
	clients map[int]*scripted
	wakes   []int
	out     strings.Builder
}

// scripted is one client. It is parked if it has a waiter, and connected if
// it has a path.
type scripted struct {
	loop    int
	virtual VirtualID
	a       Attempt
	waiter  Waiter
	path    *Path
}

// start is the Tick of at=0s.
const start = Tick(time.Hour)

var verbs = map[string]func(*script){
	"config":    (*script).config,
	"arrive":    (*script).arrive,
	"dialled":   (*script).dialled,
	"fail":      (*script).fail,
	"short":     (*script).short,
	"unfit":     (*script).unfit,
	"release":   (*script).release,
	"leave":     (*script).leave,
	"run":       (*script).run,
	"set-limit": (*script).setLimit,
	"set-state": (*script).setState,
	"set-pool":  (*script).setPool,
	"show":      (*script).show,
	"stats":     (*script).stats,

	// While the loops stand still; see script_edit_test.go.
	"add":      (*script).add,
	"set":      (*script).set,
	"remove":   (*script).remove,
	"forget":   (*script).forgetIt,
	"monitor":  (*script).monitor,
	"pause":    (*script).pause,
	"resume":   (*script).resume,
	"flush":    (*script).flush,
	"waiters":  (*script).waiters,
	"usable":   (*script).usable,
	"withdraw": (*script).withdraw,
}

func (s *script) command() string {
	s.out.Reset()
	verb := verbs[s.td.Cmd]
	if verb == nil {
		s.td.Fatalf(s.t, "no such command")
	}
	if at, ok := s.arg("at"); ok {
		s.now = start + s.duration(at)
	}
	verb(s)
	s.pump()
	if s.out.Len() == 0 {
		return "ok\n"
	}
	return s.out.String()
}

// config begins a story with a new dispatcher: a line for each object, in the words of the
// topology.
func (s *script) config() {
	s.end()
	s.out.Reset()
	loops := 1
	s.td.MaybeScanArgs(s.t, "loops", &loops)
	top, err := parseTopology(s.td.Input)
	if err != nil {
		s.td.Fatalf(s.t, "%v", err)
	}
	top.Loops = loops
	s.topology, s.now, s.clients = top, start, map[int]*scripted{}
	s.Dispatcher = New(top.Config, func(loop int) { s.wakes = append(s.wakes, loop) })
}

// arrive lets clients in: numbers or ranges; loop= and virtual= default to the
// first, sticky= is the member they are persisted to, from= is the address they
// come from (# in it stands for the client's number), accepted= is when they were
// accepted if not now.
func (s *script) arrive() {
	loop, v := 0, VirtualID(0)
	s.td.MaybeScanArgs(s.t, "loop", &loop)
	if name, ok := s.arg("virtual"); ok {
		v = VirtualID(s.index("virtual", name))
	}
	sticky := Sticky(0)
	if name, ok := s.arg("sticky"); ok {
		sticky = Sticky(s.index("member", name)) + 1
	}
	since := s.now
	if at, ok := s.arg("accepted"); ok {
		since = start + s.duration(at)
	}
	tally := s.tally()
	for _, id := range s.ids() {
		c := &scripted{loop: loop, virtual: v, a: Attempt{Since: since, Source: s.source(id)}}
		s.clients[id] = c
		verdict := Verdict{}
		if sticky != 0 {
			verdict = s.Loop(loop).arriveAs(s.now, v, sticky, uint32(id), c.a)
		} else {
			verdict = s.Loop(loop).Arrive(s.now, v, uint32(id), c.a)
		}
		tally.add(id, s.took(id, c, verdict))
	}
	tally.print()
}

// source is the address that from= gives a client.
func (s *script) source(id int) Source {
	text, ok := s.arg("from")
	if !ok {
		return Source{}
	}
	a, err := netip.ParseAddr(strings.ReplaceAll(text, "#", strconv.Itoa(id)))
	if err != nil {
		s.td.Fatalf(s.t, "%v", err)
	}
	return SourceOf(a)
}

// took notes what a verdict means for the client, and tells it.
func (s *script) took(id int, c *scripted, v Verdict) string {
	switch v.Kind {
	case Proceed:
		c.path = &v.Path
		return "proceed " + s.pathName(v.Path)
	case Wait:
		c.waiter = v.Waiter
		return fmt.Sprintf("wait %d", v.Position)
	}
	delete(s.clients, id)
	return "refused " + reasonNames[v.Reason]
}

// dialled: the dials of these clients succeeded.
func (s *script) dialled() {
	s.each(func(_ int, c *scripted) string {
		s.Loop(c.loop).Dialled(s.now, s.pathOf(c))
		return ""
	})
}

// fail: their dials failed.
func (s *script) fail() {
	s.each(func(id int, c *scripted) string {
		path := *s.pathOf(c)
		c.path = nil
		return s.took(id, c, s.Loop(c.loop).Failed(s.now, path, uint32(id), &c.a))
	})
}

// release: these connections ended.
func (s *script) release() {
	s.each(func(id int, c *scripted) string {
		s.Loop(c.loop).Release(s.now, *s.pathOf(c))
		delete(s.clients, id)
		return ""
	})
}

// leave: these clients, parked, are gone.
func (s *script) leave() {
	s.each(func(id int, c *scripted) string {
		if !s.Loop(c.loop).Leave(s.now, c.waiter, c.a.Since) {
			return "too late to leave"
		}
		delete(s.clients, id)
		return ""
	})
}

// run lets time pass: each loop runs when it is due, until at=.
func (s *script) run() {
	to := s.now
	for _, l := range s.loops {
		for l.Due() != 0 && l.Due() <= to {
			s.now = max(l.Due(), start)
			l.Run(min(s.now, to))
		}
	}
	s.now = to
}

// setLimit and setState change a member, node, pool or virtual server; loop=
// says on whose thread.
func (s *script) setLimit() {
	l := s.changer()
	n := int64(0)
	s.td.ScanArgs(s.t, "to", &n)
	kind, i := s.object()
	switch kind {
	case "virtual":
		l.SetVirtualLimit(s.now, VirtualID(i), n)
	case "pool":
		l.SetPoolLimit(s.now, PoolID(i), n)
	case "node":
		l.SetNodeLimit(s.now, NodeID(i), n)
	case "member":
		l.SetMemberLimit(s.now, MemberID(i), n)
	}
}

func (s *script) setState() {
	l := s.changer()
	to, _ := s.arg("to")
	state := State(slices.Index(stateNames, to))
	switch kind, i := s.object(); kind {
	case "node":
		l.SetNodeState(s.now, NodeID(i), state)
	case "member":
		l.SetMemberState(s.now, MemberID(i), state)
	}
}

// setPool changes the rules of a pool; those not named stay.
func (s *script) setPool() {
	_, i := s.object()
	for _, a := range s.td.CmdArgs {
		if a.Key != "pool" && a.Key != "at" {
			if err := setPoolRule(&s.Pools[i], a.Key, a.Vals[0]); err != nil {
				s.td.Fatalf(s.t, "%v", err)
			}
		}
	}
	s.changer().SetPoolRules(s.now, PoolID(i), s.Pools[i])
}

// pump does what an event loop does after each call: it collects outcomes.
// Wake-ups are told, to show when none is needed.
func (s *script) pump() {
	if s.Dispatcher == nil {
		return
	}
	slices.Sort(s.wakes)
	for _, loop := range slices.Compact(s.wakes) {
		fmt.Fprintf(&s.out, "wake loop %d\n", loop)
	}
	s.wakes = s.wakes[:0]
	tally := s.tally()
	for _, l := range s.loops {
		if l.Due() == 1 { // a pass used up its budget
			l.Run(s.now)
		}
		for o, ok := l.Next(); ok; o, ok = l.Next() {
			tally.add(int(o.Conn), s.ended(int(o.Conn), o))
		}
	}
	tally.print()
}

// ended notes how a wait ended, and tells it.
func (s *script) ended(id int, o Outcome) string {
	if o.Reason != NotRefused {
		delete(s.clients, id)
		return "refused " + reasonNames[o.Reason]
	}
	s.clients[id].path = &o.Path
	return "granted " + s.pathName(o.Path)
}

// end empties the place and checks that nothing is left (invariant 9).
func (s *script) end() {
	if s.Dispatcher == nil {
		return
	}
	for len(s.clients) > 0 {
		for _, id := range s.sorted() {
			if c := s.clients[id]; c != nil && c.path != nil {
				s.Loop(c.loop).Release(s.now, *c.path)
				delete(s.clients, id)
			} else if c != nil && s.Loop(c.loop).Leave(s.now, c.waiter, c.a.Since) {
				delete(s.clients, id)
			}
			s.pump()
		}
	}
	checkEmpty(s.t, s.Dispatcher)
}

func (s *script) sorted() []int {
	ids := make([]int, 0, len(s.clients))
	for id := range s.clients {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// each applies do to the clients the command names.
func (s *script) each(do func(int, *scripted) string) {
	tally := s.tally()
	for _, id := range s.ids() {
		c := s.clients[id]
		if c == nil {
			s.td.Fatalf(s.t, "there is no client %d", id)
		}
		tally.add(id, do(id, c))
	}
	tally.print()
}

// ids are the clients that the command names: 3, or 3..9.
func (s *script) ids() (ids []int) {
	for _, a := range s.td.CmdArgs {
		if len(a.Vals) > 0 {
			continue
		}
		from, to, _ := strings.Cut(a.Key, "..")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && to != "" {
			last, err = strconv.Atoi(to)
		}
		if err != nil {
			s.td.Fatalf(s.t, "%v", err)
		}
		for id := first; id <= last; id++ {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *script) arg(key string) (string, bool) {
	a, ok := s.td.Arg(key)
	if !ok {
		return "", false
	}
	return a.SingleVal(s.t), true
}

// object is what the command's first key=name names.
func (s *script) object() (kind string, i int) {
	a := s.td.CmdArgs[0]
	return a.Key, s.index(a.Key, a.Vals[0])
}

func (s *script) index(kind, name string) int {
	i := s.topology.index(kind, name)
	if i < 0 {
		s.td.Fatalf(s.t, "there is no %s %q", kind, name)
	}
	return i
}

func (s *script) changer() *Loop {
	loop := 0
	s.td.MaybeScanArgs(s.t, "loop", &loop)
	return s.Loop(loop)
}

func (s *script) duration(text string) Tick {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.td.Fatalf(s.t, "%v", err)
	}
	return Tick(d)
}

func (s *script) pathOf(c *scripted) *Path {
	if c.path == nil {
		s.td.Fatalf(s.t, "not connected")
	}
	return c.path
}

func (s *script) pathName(p Path) string {
	if p.Probe {
		return s.names["member"][p.Member] + " as probe"
	}
	return s.names["member"][p.Member]
}

// tally prints what happened to each client, or, of many, to how many.
type tally struct {
	s     *script
	lines []string
	kinds map[string]int
}

const tallyLines = 12

func (s *script) tally() *tally { return &tally{s: s, kinds: map[string]int{}} }

func (t *tally) add(id int, what string) {
	if what == "" {
		return
	}
	if len(t.lines) <= tallyLines {
		t.lines = append(t.lines, fmt.Sprintf("%d: %s\n", id, what))
	}
	kind := what
	if strings.HasPrefix(what, "wait") {
		kind = "wait"
	}
	t.kinds[kind]++
}

func (t *tally) print() {
	if len(t.lines) <= tallyLines {
		t.s.out.WriteString(strings.Join(t.lines, ""))
		return
	}
	kinds := make([]string, 0, len(t.kinds))
	for k := range t.kinds {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Compare(a, b) })
	for _, k := range kinds {
		fmt.Fprintf(&t.s.out, "%d clients: %s\n", t.kinds[k], k)
	}
}
