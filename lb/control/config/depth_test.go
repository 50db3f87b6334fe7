package config

import "testing"

func TestDepth(t *testing.T) {
	const a, b = "-member=10.0.0.1:80,connection-limit=", "-member=10.0.0.2:80,connection-limit="
	for _, tt := range []struct {
		name string
		args []string
		want int64
	}{
		{"sum of the members", []string{a + "3", b + "4"}, 7},
		{"lowered", []string{a + "3", b + "4", "-pool=default,queue-depth-limit=5"}, 5},
		{"not raised", []string{a + "3", b + "4", "-pool=default,queue-depth-limit=9"}, 7},
		{"cap lifted", []string{a + "3", b + "4", "-pool=default,queue-depth-cap=none"}, Unlimited},
		{"cap lifted, a limit of its own", []string{a + "3", "-pool=default,queue-depth-cap=none,queue-depth-limit=9"}, 9},
		{"queue off", []string{a + "3", "-pool=default,queue-on-connection-limit=off,queue-depth-cap=none"}, 0},
		{"nothing to wait at", []string{a + "3", b + "0"}, 0},
		{"nothing to wait at, depth set", []string{a + "3", b + "0", "-pool=default,queue-depth-limit=9"}, 0},
		{"pool stands in", []string{a + "3", b + "0", "-pool=default,connection-limit=6"}, 6},
		{"node stands in", []string{a + "3", b + "0", "-pool=default,connection-limit=6", "-node=10.0.0.2,connection-limit=5"}, 5},
		{"virtual stands in", []string{b + "0", "-virtual=v,listen=:1,connection-limit=4,pool=default"}, 4},
		{"other pool's virtual does not", []string{b + "0", "-pool=x", "-virtual=v,listen=:1,connection-limit=4,pool=x"}, 0},
		{"no members", nil, Unlimited},
		{"no members, depth set", []string{"-pool=default,queue-depth-limit=9"}, 9},
		{"no members, refused when down", []string{"-pool=default,when-down=refuse,queue-depth-limit=9"}, 0},
	} {
		c := mustParse(t, append(tt.args, "-listen=:8080")...)
		for i := range c.Pools {
			if got := c.Depth(i); c.Pools[i].Name == defaultName && got != tt.want {
				t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
			}
		}
	}
}

func TestMemberDepths(t *testing.T) {
	for _, c := range []struct {
		pool, member, virtual string
		want                  int64
	}{
		{"", ",connection-limit=3", "", 3},
		{",queue-depth-limit=2", ",connection-limit=3", "", 2},
		{",queue-depth-limit=9", ",connection-limit=3", "", 3},
		{",queue-depth-cap=none", ",connection-limit=3", "", Unlimited},
		{",queue-depth-cap=none,queue-depth-limit=9", ",connection-limit=3", "", 9},
		{",queue-on-connection-limit=off", ",connection-limit=3", "", 0},
		{"", "", "", 0},
		{",connection-limit=5", "", "", 5},
		{"", "", ",connection-limit=4", 4},
	} {
		cfg, err := Parse([]string{
			"-virtual", "v,listen=:80,pool=p" + c.virtual, "-pool", "p" + c.pool, "-member", "10.0.0.1:80,pool=p" + c.member,
		}, Env{})
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.MemberDepths(0)[0]; got != c.want {
			t.Errorf("pool %q, member %q, virtual server %q: %d, want %d", c.pool, c.member, c.virtual, got, c.want)
		}
	}
}
