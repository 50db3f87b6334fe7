package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// twoPools has a node in both, one that was given, and one that was implied.
func twoPools(t *testing.T) *Config {
	return mustParse(t, "-virtual=web,listen=:80,pool=app,trusted-proxies=10.0.0.1,queue-class-from=10.0.0.0/8:1",
		"-virtual=db,listen=:81,pool=db", "-pool=app", "-pool=db", "-node=10.0.0.9,connection-limit=5",
		"-member=10.0.0.1:80,pool=app,connection-limit=1", "-member=10.0.0.9:80,pool=app,connection-limit=2",
		"-member=10.0.0.1:81,pool=db,connection-limit=4", "-member=10.0.0.2:81,pool=db,connection-limit=8")
}

func TestClone(t *testing.T) {
	c := twoPools(t)
	c.Warnings = []string{"one"}
	before := fmt.Sprintf("%+v", *c)
	n := c.Clone()
	if !reflect.DeepEqual(n, c) {
		t.Errorf("%+v, want %+v", n, c)
	}
	n.Virtuals[0].Name, n.Virtuals[0].TrustedProxies[0] = "x", n.Virtuals[0].QueueClassFrom[0].Prefix
	n.Virtuals[0].QueueClassFrom[0].Class = 7
	n.Pools[0].Name, n.Pools[0].Members[0].Ratio, n.Nodes[0].Ratio = "x", 9, 9
	n.Warnings[0] = "x"
	if after := fmt.Sprintf("%+v", *c); after != before {
		t.Errorf("%s, was %s", after, before)
	}
}

func TestSet(t *testing.T) {
	c := twoPools(t)
	for _, err := range []error{
		c.SetVirtual("web", Setting{"pool", "db"}, Setting{"refuse", "close"}),
		c.SetPool("app", Setting{"queue-time-limit", "1500"}, Setting{"refuse-early", "on"}),
		c.SetMember("app", "[::ffff:10.0.0.1]:80", Setting{"state", "offline"}),
		c.SetNode("10.0.0.1", Setting{"connection-limit", "3"}),
		c.SetPool("app"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if c.Virtuals[0].Pool != 1 || c.Virtuals[0].Refuse != RefuseClose || c.Pools[0].QueueTime.Milliseconds() != 1500 ||
		c.Pools[0].Members[0].State != Offline {
		t.Errorf("%+v", c)
	}
	i := c.Pools[0].Members[0].Node
	if n := c.Nodes[i]; n.ConnectionLimit != 3 || n.Implied {
		t.Errorf("node %+v, want one that somebody gave", n)
	}
	if want := "pool app: no virtual server uses it"; !slices.Contains(c.Warnings, want) {
		t.Errorf("warnings %q, want %q", c.Warnings, want)
	}
}

// A change is checked as the flags are, and all its mistakes are told.
func TestSetMistakes(t *testing.T) {
	fixed := func(keys ...string) string { return "allowed are " + strings.Join(keys, ", ") }
	virtual := allowedAre("", append([]string{"pool"}, changeable(virtualKeys)...))
	for _, tt := range []struct {
		set  func(c *Config) error
		want string
	}{
		{func(c *Config) error {
			return c.SetVirtual("web", Setting{"listen", ":1"}, Setting{"name", "x"}, Setting{"pool", "d"}, Setting{"lisen", "x"})
		}, `virtual web: listen=":1": can't be changed; ` + virtual + "\n" +
			`virtual web: name="x": can't be changed; ` + virtual + "\n" +
			`virtual web: lisen="x": unknown key; ` + virtual + "\n" +
			`virtual web: pool="d": no such pool; allowed are app, db`},
		{func(c *Config) error {
			return c.SetVirtual("web", Setting{"accept-proxy-protocol", "on"}, Setting{"trusted-proxies", "none"})
		},
			`virtual web: trusted-proxies="none": with accept-proxy-protocol=on nobody could connect; ` +
				`allowed are addresses and prefixes, such as 10.0.0.0/8; 0.0.0.0/0/::/0 is anybody`},
		{func(c *Config) error {
			return c.SetPool("app", Setting{"connect-timeout", "0"}, Setting{"connect-timeout", "1s"}, Setting{"monitor-send", ""})
		}, `pool app: connect-timeout="0": allowed is more than 0, up to 87600h` + span + "\n" +
			`pool app: connect-timeout="1s": key given twice; allowed is once` + "\n" +
			`pool app: monitor-send="": value missing; allowed is monitor-send=TEXT`},
		{func(c *Config) error {
			return c.SetPool("app", Setting{"refuse-early", "on"}, Setting{"queue-time-limit", "0"})
		},
			`pool app: refuse-early="on": with queue-time-limit=0 nobody waits too long; allowed is off, or a queue-time-limit above 0`},
		{func(c *Config) error { return c.SetPool("app", Setting{"monitor-recv", "OK"}) },
			`pool app: monitor-recv="OK": only monitor=http reads an answer, and this is tcp (more than one member); ` +
				`allowed is none, monitor=http or monitor=none`},
		{func(c *Config) error { return c.SetMember("app", "10.0.0.1:80", Setting{"pool", "db"}) },
			`member app/10.0.0.1:80: pool="db": can't be changed; ` + fixed("connection-limit", "ratio", "priority-group", "state")},
		{func(c *Config) error { return c.SetNode("10.0.0.1", Setting{"address", "::1"}) },
			`node 10.0.0.1: address="::1": can't be changed; ` + fixed("connection-limit", "ratio", "state")},
		{func(c *Config) error {
			return c.AddMember("app", Setting{"address", "10.0.0.1"}, Setting{"pool", "db"}, Setting{"ratio", "0"})
		},
			`member of pool app: address="10.0.0.1": ` + errMember.Error() + "\n" +
				`member of pool app: ratio="0": allowed is 1 to 65535, or node` + "\n" +
				`member of pool app: pool="db": allowed is app, or none`},
		{func(c *Config) error { return c.AddMember("app", Setting{"state", "enabled"}) },
			`member of pool app: address="": missing; allowed is IP:PORT`},
		{func(c *Config) error { return c.AddMember("app", Setting{"address", "10.0.0.1:80"}) },
			`member of pool app: address="10.0.0.1:80": member is there already; allowed is another`},
	} {
		var got Mistakes
		if err := tt.set(twoPools(t)); !errors.As(err, &got) || got.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

func TestUnknownObjects(t *testing.T) {
	c := twoPools(t)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{c.SetVirtual("x"), "virtual x: "},
		{c.SetPool("x"), "pool x: "},
		{c.SetMember("x", "10.0.0.1:80"), "member x/10.0.0.1:80: "},
		{c.SetMember("app", "10.0.0.1:81"), "member app/10.0.0.1:81: "},
		{c.SetMember("app", "10.0.0.1"), "member app/10.0.0.1: "},
		{c.SetNode("10.0.0.3"), "node 10.0.0.3: "},
		{c.SetNode(""), "node : "},
		{c.AddMember("x", Setting{"address", "10.0.0.1:1"}), "pool x: "},
		{c.RemoveMember("db", "10.0.0.1:80"), "member db/10.0.0.1:80: "},
	} {
		if !errors.Is(tt.err, ErrUnknown) || tt.err.Error() != tt.want+ErrUnknown.Error() {
			t.Errorf("%v, want %s", tt.err, tt.want)
		}
	}
}

// Members come and go with the nodes that nobody gave; depth and indices are
// those of the members that are there.
func TestMembersComeAndGo(t *testing.T) {
	c := twoPools(t)
	check := func(nodes string, depth int64) {
		t.Helper()
		var got []string
		for _, n := range c.Nodes {
			got = append(got, n.Address.String())
		}
		if s := strings.Join(got, " "); s != nodes || c.Depth(1) != depth {
			t.Errorf("nodes %s, depth %d; want %s, %d", s, c.Depth(1), nodes, depth)
		}
		for _, p := range c.Pools {
			for _, m := range p.Members {
				if c.Nodes[m.Node].Address != m.Address.Addr() {
					t.Errorf("member %s is on node %s", m.Address, c.Nodes[m.Node].Address)
				}
			}
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check("10.0.0.9 10.0.0.1 10.0.0.2", 12)
	must(c.RemoveMember("app", "10.0.0.1:80"))
	check("10.0.0.9 10.0.0.1 10.0.0.2", 12) // db has one there
	must(c.RemoveMember("db", "10.0.0.1:81"))
	check("10.0.0.9 10.0.0.2", 8)
	must(c.RemoveMember("app", "10.0.0.9:80"))
	check("10.0.0.9 10.0.0.2", 8) // it was given
	must(c.RemoveMember("db", "10.0.0.2:81"))
	check("10.0.0.9", Unlimited)
	if want := "pool db: no members: its clients wait"; !slices.Contains(c.Warnings, want) {
		t.Errorf("warnings %q, want %q", c.Warnings, want)
	}
	must(c.AddMember("db", Setting{"address", "10.0.0.5:81"}, Setting{"connection-limit", "3"}, Setting{"pool", "db"}))
	must(c.AddMember("app", Setting{"address", "[::ffff:10.0.0.9]:80"}))
	check("10.0.0.9 10.0.0.5", 3)
	if m, n := c.Pools[1].Members[0], c.Nodes[1]; m.ID != -1 || n.ID != -1 || !n.Implied || c.Nodes[0].ID != 0 {
		t.Errorf("member %+v, nodes %+v", m, c.Nodes)
	}
	again, err := Parse(c.Flags(), testEnv(nil))
	if err != nil {
		t.Fatal(err)
	}
	Inherit(c, again)
	if !reflect.DeepEqual(c, again) {
		t.Errorf("%+v\nits flags make %+v", c, again)
	}
}
