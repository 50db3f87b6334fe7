package dispatch

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	stateNames  = []string{Enabled: "enabled", Disabled: "disabled", Offline: "offline"}
	reasonNames = []string{
		NotRefused: "not", QueueOff: "queue off", Overflow: "overflow", Expired: "expired",
		NoMember: "no member", DialFailed: "dial failed", Early: "early", Shed: "shed", Flushed: "flushed",
	}
	modeNames = []string{
		InTurn: "round-robin", ByRatio: "ratio", LeastConnections: "least-connections", BySource: "source-hash",
	}
)

// topology is a Config with names, written one object a line:
//
//	node n limit=3
//	pool p limit=3 depth=2 queue=off queue-time=10s when-down=queue when-down-time=1s tries=1
//	     mode=ratio min-active=1 slow-ramp=10s persist-wait=1s fair=32/64 codel=on refuse-early=on class-age=1s
//	virtual v pool=p limit=3 persist=32/64 timeout=180s override=on class=3 class-from=10.0.0.0/8:7/192.0.2.0/24:3
//	member A pool=p node=n limit=1 depth=1 state=offline ratio=2 priority=10
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
	return t.setVirtual(v)
}

func (t *topology) setVirtual(v *VirtualConfig) setter {
	return func(key, val string) (err error) {
		switch key {
		case "pool":
			v.Pool = PoolID(t.index("pool", val))
		case "persist":
			v.Persist, err = parsePrefix(val)
			if v.Timeout == 0 {
				v.Timeout = 180e9
			}
		case "timeout":
			return setTime(&v.Timeout, val)
		case "override":
			v.Override = val == "on"
		case "class":
			return setUint(&v.Class, val)
		case "class-from":
			v.Classes, err = parseClasses(val)
		default:
			return setNumber(&v.Limit, val)
		}
		return err
	}
}

// parsePrefix reads V4/V6 bits; off is none.
func parsePrefix(val string) (p Prefix, err error) {
	if val == "off" {
		return p, nil
	}
	_, err = fmt.Sscanf(val, "%d/%d", &p.V4, &p.V6)
	return p, err
}

var classRule = regexp.MustCompile(`([^/]+/\d+):(\d+)`)

func parseClasses(val string) (rules []ClassRule, err error) {
	for _, m := range classRule.FindAllStringSubmatch(val, -1) {
		var rule ClassRule
		if rule.Prefix, err = netip.ParsePrefix(m[1]); err == nil {
			err = setUint(&rule.Class, m[2])
		}
		rules = append(rules, rule)
	}
	return rules, err
}

func (t *topology) pool() setter {
	t.Pools = append(t.Pools, PoolConfig{Queue: true, Depth: -1})
	p := &t.Pools[len(t.Pools)-1]
	return func(key, val string) error { return setPoolRule(p, key, val) }
}

func (t *topology) node() setter {
	t.Nodes = append(t.Nodes, NodeConfig{})
	return setNode(&t.Nodes[len(t.Nodes)-1])
}

func setNode(n *NodeConfig) setter {
	return func(key, val string) error {
		if key == "state" {
			n.State = State(slices.Index(stateNames, val))
			return nil
		}
		return setNumber(&n.Limit, val)
	}
}

func (t *topology) member() setter {
	name := t.names["member"][len(t.Members)]
	t.Members = append(t.Members, MemberConfig{Pool: PoolID(len(t.Pools) - 1), Depth: -1, Key: keyOf(name)})
	return t.setMember(&t.Members[len(t.Members)-1])
}

// keyOf is what source-hash knows a member by.
func keyOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

func (t *topology) setMember(m *MemberConfig) setter {
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
		case "ratio":
			return setUint(&m.Ratio, val)
		case "priority":
			return setUint(&m.Priority, val)
		default:
			return setNumber(&m.Limit, val)
		}
		return nil
	}
}

func setPoolRule(p *PoolConfig, key, val string) error {
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
		return setUint(&p.Tries, val)
	default:
		return setPoolMethod(p, key, val)
	}
	return nil
}

// setPoolMethod is for the keys that say who is served by whom.
func setPoolMethod(p *PoolConfig, key, val string) (err error) {
	switch key {
	case "mode":
		p.Mode = Mode(slices.Index(modeNames, val))
	case "min-active":
		p.MinActive, err = strconv.Atoi(val)
	case "slow-ramp":
		return setTime(&p.SlowRamp, val)
	case "persist-wait":
		return setTime(&p.PersistWait, val)
	case "fair":
		p.Fair, err = parsePrefix(val)
	case "codel":
		p.CoDel = val == "on"
	case "refuse-early":
		p.RefuseEarly = val == "on"
	case "class-age":
		return setTime(&p.ClassAge, val)
	default:
		err = fmt.Errorf("no rule %q", key)
	}
	return err
}

func setUint[T ~uint8 | ~uint16 | ~uint32](to *T, val string) error {
	n, err := strconv.ParseUint(val, 10, 32)
	*to = T(n)
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
	for _, l := range d.loops { // one may have stopped with a pass put off
		for l.Due() == 1 {
			l.Run(1)
		}
	}
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
		if h.waits() != 0 || h.flags.Load() != 0 || h.state.Load() != 0 {
			t.Errorf("home %d at the end: waiting %d, flags %b, state %b", i, h.waits(), h.flags.Load(), h.state.Load())
		}
	}
}

// failer is a testing.TB, or one of rapid's.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}
