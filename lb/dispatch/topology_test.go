package dispatch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	stateNames  = []string{Enabled: "enabled", Disabled: "disabled", Offline: "offline"}
	reasonNames = []string{
		NotRefused: "not", QueueOff: "queue off", Overflow: "overflow", Expired: "expired",
		NoMember: "no member", DialFailed: "dial failed",
	}
)

// topology is a Config with names, written one object a line:
//
//	node n limit=3
//	pool p limit=3 depth=2 queue=off queue-time=10s when-down=queue when-down-time=1s tries=1
//	virtual v pool=p limit=3
//	member A pool=p node=n limit=1 depth=1 state=offline
//
// The pool of a virtual server or member defaults to the one before it, the
// node of a member to one of its own, the depth of a queue to any number, and
// everything else to none. A pool queues unless it says queue=off.
type topology struct {
	Config
	names map[string][]string // by kind
}

func parseTopology(text string) (*topology, error) {
	t := &topology{Config: Config{Loops: 1}, names: map[string][]string{}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := t.object(words[0], words[1], words[2:]); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
		}
	}
	return t, nil
}

// mustTopology is for configurations in Go tests.
func mustTopology(loops int, text string) *topology {
	t, err := parseTopology(text)
	if err != nil {
		panic(err)
	}
	t.Loops = loops
	return t
}

func (t *topology) object(kind, name string, options []string) error {
	t.names[kind] = append(t.names[kind], name)
	var set setter
	switch kind {
	case "virtual":
		set = t.virtual()
	case "pool":
		set = t.pool()
	case "member":
		set = t.member()
	case "node":
		set = t.node()
	default:
		return fmt.Errorf("no such object")
	}
	for _, o := range options {
		key, val, _ := strings.Cut(o, "=")
		if err := set(key, val); err != nil {
			return err
		}
	}
	if kind == "member" && !slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(o, "node=") }) {
		t.Members[len(t.Members)-1].Node = NodeID(len(t.Nodes))
		return t.object("node", "of-"+name, nil)
	}
	return nil
}

func (t *topology) index(kind, name string) int { return slices.Index(t.names[kind], name) }

type setter func(key, val string) error

func (t *topology) virtual() setter {
	t.Virtuals = append(t.Virtuals, VirtualConfig{Pool: PoolID(max(len(t.Pools)-1, 0))})
	v := &t.Virtuals[len(t.Virtuals)-1]
	return func(key, val string) error {
		if key == "pool" {
			v.Pool = PoolID(t.index("pool", val))
			return nil
		}
		return setNumber(&v.Limit, val)
	}
}

func (t *topology) pool() setter {
	t.Pools = append(t.Pools, PoolConfig{Queue: true, Depth: -1})
	p := &t.Pools[len(t.Pools)-1]
	return func(key, val string) error { return setPoolRule(p, key, val) }
}

func (t *topology) node() setter {
	t.Nodes = append(t.Nodes, NodeConfig{})
	n := &t.Nodes[len(t.Nodes)-1]
	return func(_, val string) error { return setNumber(&n.Limit, val) }
}

func (t *topology) member() setter {
	t.Members = append(t.Members, MemberConfig{Pool: PoolID(len(t.Pools) - 1), Depth: -1})
	m := &t.Members[len(t.Members)-1]
	return func(key, val string) error {
		switch key {
		case "pool":
			m.Pool = PoolID(t.index("pool", val))
		case "node":
			m.Node = NodeID(t.index("node", val))
		case "depth":
			return setNumber(&m.Depth, val)
		case "state":
			m.State = State(slices.Index(stateNames, val))
		default:
			return setNumber(&m.Limit, val)
		}
		return nil
	}
}

func setPoolRule(p *PoolConfig, key, val string) (err error) {
	switch key {
	case "limit":
		return setNumber(&p.Limit, val)
	case "depth":
		return setNumber(&p.Depth, val)
	case "down-depth":
		return setNumber(&p.DownDepth, val)
	case "queue":
		p.Queue = val == "on"
	case "when-down":
		p.WhenDownQueue = val == "queue"
	case "queue-time":
		return setTime(&p.QueueTime, val)
	case "when-down-time":
		return setTime(&p.WhenDownTime, val)
	case "tries":
		n := int64(0)
		err = setNumber(&n, val)
		p.Tries = uint8(n)
	default:
		err = fmt.Errorf("no rule %q", key)
	}
	return err
}

// setNumber reads a number; "any" is what a depth without a bound is.
func setNumber(to *int64, val string) (err error) {
	if val == "any" {
		val = "-1"
	}
	*to, err = strconv.ParseInt(val, 10, 64)
	return err
}

func setTime(to *Tick, val string) error {
	d, err := time.ParseDuration(val)
	*to = Tick(d)
	return err
}

// checkEmpty checks that nothing is in use and nobody waits (invariant 9),
// and that every token is back (invariant 1).
func checkEmpty(t failer, d *Dispatcher) {
	t.Helper()
	check := func(kind string, i int, l Load) {
		t.Helper()
		if l.InUse != 0 || l.Waiting != 0 {
			t.Errorf("%s %d is not empty at the end: %+v", kind, i, l)
		}
	}
	for i := range d.virtuals {
		check("virtual", i, d.Virtual(VirtualID(i)))
	}
	for i := range d.pools {
		check("pool", i, d.Pool(PoolID(i)))
	}
	for i := range d.members {
		check("member", i, d.Member(MemberID(i)).Load)
	}
	for i := range d.nodes {
		check("node", i, d.Node(NodeID(i)))
	}
	for i, h := range d.homes {
		if h.live.Load() != 0 || h.flags.Load() != 0 || h.state.Load() != 0 {
			t.Errorf("home %d at the end: live %d, flags %b, state %b", i, h.live.Load(), h.flags.Load(), h.state.Load())
		}
	}
}

// failer is a testing.TB, or one of rapid's.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}
