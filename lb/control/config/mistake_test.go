package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const (
	limits = "allowed is 0 (no limit) to 1099511627775"
	span   = ", such as 500ms, 30s or 5m"
	ok     = "-listen=:8080" // makes the rest of the flags valid
)

const needsToken = "not an address of this host only, so a client needs a token; " +
	"allowed is it with -admin-token-file FILE, or unix:PATH, or a loopback address"

// mistakes has one case for each way to be wrong: the flags, and all lines
// that are reported.
var mistakes = []struct {
	args []string
	want []string
}{
	// Flags.
	{[]string{ok, "80"}, []string{`"80": not a flag; allowed are flags, which begin with -, and their values`}},
	{[]string{ok, "--"}, []string{`"--": not a flag; allowed are flags, which begin with -, and their values`}},
	{[]string{"-listne", ":80"}, []string{`-listne ":80": unknown flag; did you mean listen? ` + allowedAre("", flagNames)}},
	{[]string{ok, "-xyzzy=1"}, []string{`-xyzzy "1": unknown flag; ` + allowedAre("", flagNames)}},
	{[]string{"-listen"}, []string{`-listen "": value missing; allowed is -listen ADDR`}},
	{[]string{"-listen", "-demo"}, []string{`-listen "": value missing; allowed is -listen ADDR`}},
	{[]string{ok, "-member", ""}, []string{`-member "": value missing; allowed is -member IP:PORT[,KEY=VALUE...]`}},
	{[]string{"-loops", "2"}, []string{`no virtual server; allowed is -listen ADDR, or -virtual NAME,listen=ADDR,pool=NAME[,KEY=VALUE...]`}},
	{[]string{ok, "-listen", ":81"}, []string{`-listen ":81": given twice; allowed is one -listen, or for more addresses -virtual NAME,listen=ADDR,pool=NAME[,KEY=VALUE...] for each`}},

	// Settings.
	{[]string{ok, "-loops", "1", "-loops", "2"}, []string{`-loops "2": given twice; allowed is once`}},
	{[]string{ok, "-loops", "-1"}, []string{`-loops "-1": allowed is 0 (one a core) to 1024`}},
	{[]string{ok, "-max-connections", "1e3"}, []string{`-max-connections "1e3": allowed is 0 (what RLIMIT_NOFILE allows) to 2147483647`}},
	{[]string{ok, "-log-level", "INFO"}, []string{`-log-level "INFO": allowed is debug|info|warn|error`}},
	{[]string{ok, "-log-level", "info+1"}, []string{`-log-level "info+1": allowed is debug|info|warn|error`}},
	{[]string{ok, "-log-format", "xml"}, []string{`-log-format "xml": allowed is text|json`}},
	{[]string{ok, "-access-log", "a\nb"}, []string{`-access-log "a\nb": allowed is a path without control characters`}},
	{[]string{ok, "-drain-time", "-5s"}, []string{`-drain-time "-5s": allowed is 0 (cut at once) to 87600h` + span}},
	{[]string{ok, "-demo=maybe"}, []string{`-demo "maybe": allowed is true|false`}},
	{[]string{ok, "-admin", "10.0.0.1:1"}, []string{`-admin "10.0.0.1:1": ` + needsToken}},
	{[]string{ok, "-admin", "224.0.0.1:1"}, []string{`-admin "224.0.0.1:1": ` + errAdmin.Error()}},
	{[]string{ok, "-admin", "localhost:1"}, []string{`-admin "localhost:1": ` + errAdmin.Error()}},
	{[]string{ok, "-admin", "unix:"}, []string{`-admin "unix:": ` + errAdmin.Error()}},
	{[]string{ok, "-admin", "unix:" + strings.Repeat("x", 108)}, []string{`-admin "unix:` + strings.Repeat("x", 108) + `": ` + errAdmin.Error()}},
	{[]string{ok, "-admin", "127.0.0.1:8080"}, []string{`-admin "127.0.0.1:8080": address taken by virtual server default with :8080; allowed is one that no other has`}},

	// Pairs of keys and values.
	{[]string{ok, "-pool", "a,"}, []string{`-pool "a,": ="": key missing; ` + allowedAre("", names(poolKeys))}},
	{[]string{ok, "-node", "10.0.0.1,=5"}, []string{`-node "10.0.0.1,=5": ="5": key missing; allowed are address, connection-limit, ratio, state`}},
	{[]string{ok, "-node", "10.0.0.1,state="}, []string{`-node "10.0.0.1,state=": state="": value missing; allowed is state=enabled|disabled|offline`}},
	{[]string{ok, "-node", "10.0.0.1,state"}, []string{`-node "10.0.0.1,state": state="": value missing; allowed is state=enabled|disabled|offline`}},
	{[]string{ok, "-node", "10.0.0.1,fast"}, []string{`-node "10.0.0.1,fast": "fast": not a key=value; allowed are address, connection-limit, ratio, state`}},
	{[]string{ok, "-node", "10.0.0.1,address=10.0.0.2"}, []string{`-node "10.0.0.1,address=10.0.0.2": address="10.0.0.2": key given twice; allowed is once`}},
	{[]string{ok, "-node", "10.0.0.1,limit=5"}, []string{`-node "10.0.0.1,limit=5": limit="5": unknown key; did you mean connection-limit? allowed are address, connection-limit, ratio, state`}},
	{[]string{ok, "-member", "10.0.0.1:80, connection-limit=5"}, []string{`-member "10.0.0.1:80, connection-limit=5":  connection-limit="5": unknown key; did you mean connection-limit? allowed are address, pool, connection-limit, ratio, priority-group, state`}},
	{[]string{ok, "-member", "connection-limit=5"}, []string{`-member "connection-limit=5": address missing; allowed is address=IP:PORT`}},
	{[]string{"-virtual", "web"}, []string{
		`-virtual "web": listen missing; allowed is listen=ADDR`,
		`-virtual "web": pool missing; it may be left out only when there is one pool; allowed are none: there is none yet`,
	}},

	// Numbers, durations, words.
	{[]string{ok, "-member", "10.0.0.1:80,connection-limit=-1"}, []string{`-member "10.0.0.1:80,connection-limit=-1": connection-limit="-1": ` + limits}},
	{[]string{ok, "-member", "10.0.0.1:80,connection-limit=+5"}, []string{`-member "10.0.0.1:80,connection-limit=+5": connection-limit="+5": ` + limits}},
	{[]string{ok, "-member", "10.0.0.1:80,connection-limit= 5"}, []string{`-member "10.0.0.1:80,connection-limit= 5": connection-limit=" 5": ` + limits}},
	{[]string{ok, "-node", "10.0.0.1,connection-limit=1099511627776"}, []string{`-node "10.0.0.1,connection-limit=1099511627776": connection-limit="1099511627776": ` + limits}},
	{[]string{ok, "-pool", "a,connection-limit=1e3"}, []string{`-pool "a,connection-limit=1e3": connection-limit="1e3": ` + limits}},
	{[]string{ok, "-pool", "a,queue-depth-limit=0x10"}, []string{`-pool "a,queue-depth-limit=0x10": queue-depth-limit="0x10": allowed is 0 (no limit of its own) to 1099511627775`}},
	{[]string{ok, "-pool", "a,reselect-tries=255"}, []string{`-pool "a,reselect-tries=255": reselect-tries="255": allowed is 0 to 254`}},
	{[]string{ok, "-pool", "a,connect-timeout=0"}, []string{`-pool "a,connect-timeout=0": connect-timeout="0": allowed is more than 0, up to 87600h` + span}},
	{[]string{ok, "-pool", "a,connect-timeout=5"}, []string{`-pool "a,connect-timeout=5": connect-timeout="5": allowed is more than 0, up to 87600h` + span}},
	{[]string{ok, "-pool", "a,queue-time-limit=-1"}, []string{`-pool "a,queue-time-limit=-1": queue-time-limit="-1": allowed is 0 (never) to 87600h` + span + `; a bare number is milliseconds`}},
	{[]string{ok, "-pool", "a,queue-time-limit=9223372036854775807"}, []string{`-pool "a,queue-time-limit=9223372036854775807": queue-time-limit="9223372036854775807": allowed is 0 (never) to 87600h` + span + `; a bare number is milliseconds`}},
	{[]string{ok, "-pool", "a,queue-on-connection-limit=yes"}, []string{`-pool "a,queue-on-connection-limit=yes": queue-on-connection-limit="yes": allowed is on|off`}},
	{[]string{ok, "-pool", "a,load-balancing-mode=random"}, []string{`-pool "a,load-balancing-mode=random": load-balancing-mode="random": allowed is round-robin|ratio|least-connections|source-hash`}},
	{[]string{ok, "-node", "10.0.0.1,state=up"}, []string{`-node "10.0.0.1,state=up": state="up": allowed is enabled|disabled|offline`}},
	{[]string{"-virtual", "a,listen=:1,pool=p,keepalive=500ms", "-pool", "p"}, []string{`-virtual "a,listen=:1,pool=p,keepalive=500ms": keepalive="500ms": allowed is 0 (off), or 1s to 9h` + span}},

	// Names.
	{[]string{ok, "-pool", "a b"}, []string{`-pool "a b": name="a b": allowed is 1 to 64 of A-Z a-z 0-9 . _ -`}},
	{[]string{ok, "-pool", "é"}, []string{`-pool "é": name="é": allowed is 1 to 64 of A-Z a-z 0-9 . _ -`}},
	{[]string{ok, "-pool", "a", "-pool", "a"}, []string{`-pool "a": name="a": name used twice; allowed is a name of its own for each pool`}},
	{[]string{ok, "-virtual", "default,listen=:1,pool=default"}, []string{`-virtual "default,listen=:1,pool=default": name="default": name used twice; allowed is a name of its own for each virtual server`}},
	{[]string{ok, "-pool", "app", "-member", "10.0.0.1:80,pool=ap"}, []string{`-member "10.0.0.1:80,pool=ap": pool="ap": no such pool; did you mean app? allowed are app, default`}},
	{[]string{"-virtual", "a,listen=:1,pool=b"}, []string{`-virtual "a,listen=:1,pool=b": pool="b": no such pool; allowed are none: there is none yet`}},
	{[]string{ok, "-virtual", "a,listen=:1", "-pool", "app"}, []string{`-virtual "a,listen=:1": pool missing; it may be left out only when there is one pool; allowed are app, default`}},

	// Addresses.
	{[]string{"-listen", "localhost:80"}, []string{`-listen "localhost:80": ` + errListen.Error()}},
	{[]string{"-listen", ":65536"}, []string{`-listen ":65536": ` + errListen.Error()}},
	{[]string{"-listen", "::1:80"}, []string{`-listen "::1:80": ` + errListen.Error()}},
	{[]string{"-listen", "224.0.0.1:80"}, []string{`-listen "224.0.0.1:80": ` + errListen.Error()}},
	{[]string{ok, "-member", "10.0.0.1"}, []string{`-member "10.0.0.1": address="10.0.0.1": ` + errMember.Error()}},
	{[]string{ok, "-member", "10.0.0.1:0"}, []string{`-member "10.0.0.1:0": address="10.0.0.1:0": ` + errMember.Error()}},
	{[]string{ok, "-member", "0.0.0.0:80"}, []string{`-member "0.0.0.0:80": address="0.0.0.0:80": ` + errMember.Error()}},
	{[]string{ok, "-member", "[fe80::1%eth0]:80"}, []string{`-member "[fe80::1%eth0]:80": address="[fe80::1%eth0]:80": ` + errZone.Error()}},
	{[]string{ok, "-node", "fe80::1%eth0"}, []string{`-node "fe80::1%eth0": address="fe80::1%eth0": ` + errZone.Error()}},
	{[]string{ok, "-node", "10.0.0.1:80"}, []string{`-node "10.0.0.1:80": address="10.0.0.1:80": ` + errNode.Error()}},
	{[]string{ok, "-node", "::"}, []string{`-node "::": address="::": ` + errNode.Error()}},
	{[]string{ok, "-node", "10.0.0.1", "-node", "::ffff:10.0.0.1"}, []string{`-node "::ffff:10.0.0.1": address="10.0.0.1": node given twice; allowed is one -node for each server`}},
	{[]string{ok, "-member", "10.0.0.1:80", "-member", "10.0.0.1:80,pool=default"}, []string{`-member "10.0.0.1:80,pool=default": address="10.0.0.1:80": member given twice in pool default; allowed is once`}},

	// Several at once, none of them twice in other words.
	{[]string{"-listen", "x", "-pool", "app,connection-limit=x,lb=y", "-member", "z,pool=app", "-member", "10.0.0.1:80,pool=a/b"}, []string{
		`-listen "x": ` + errListen.Error(),
		`-pool "app,connection-limit=x,lb=y": connection-limit="x": ` + limits,
		`-pool "app,connection-limit=x,lb=y": lb="y": unknown key; ` + allowedAre("", names(poolKeys)),
		`-member "z,pool=app": address="z": ` + errMember.Error(),
		`-member "10.0.0.1:80,pool=a/b": pool="a/b": allowed is 1 to 64 of A-Z a-z 0-9 . _ -`,
	}},
}

func TestMistakes(t *testing.T) {
	for _, tt := range mistakes {
		checkMistakes(t, tt.args, testEnv(nil), tt.want)
	}
}

func checkMistakes(t *testing.T, args []string, env Env, want []string) {
	t.Helper()
	_, err := Parse(args, env)
	var got Mistakes
	if !errors.As(err, &got) {
		t.Errorf("%q: error %v, want Mistakes", args, err)
		return
	}
	if got.Error() != strings.Join(want, "\n") {
		t.Errorf("%q:\ngot  %s\nwant %s", args, got, strings.Join(want, "\n     "))
	}
}

func TestTakenAddresses(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		taken bool
	}{
		{":80", ":80", true},
		{":80", "10.0.0.1:80", true},
		{"[::1]:80", ":80", true},
		{"0.0.0.0:80", "10.0.0.1:80", true},
		{"10.0.0.1:80", "[::ffff:10.0.0.1]:80", true},
		{"[::]:80", "[::1]:80", true},
		{"[::]:80", "0.0.0.0:80", false},
		{"[::]:80", "10.0.0.1:80", false},
		{"10.0.0.1:80", "10.0.0.2:80", false},
		{":80", ":81", false},
		{":0", ":0", false}, // any free port, twice
	} {
		_, err := Parse([]string{"-pool", "p", "-virtual", "a,listen=" + tt.a, "-virtual", "b,listen=" + tt.b}, Env{})
		if (err != nil) != tt.taken {
			t.Errorf("%s and %s: %v", tt.a, tt.b, err)
		}
	}
}

func TestFlagFileMistakes(t *testing.T) {
	env := testEnv(map[string]string{"f": "listen :80\n\n-member\n" +
		"# 4\n-mebmer 10.0.0.1:80 # why\nloops = 3\nflagfile g\nlisten :81\n-h\nnode 10.0.0.1,state=up\n"})
	checkMistakes(t, []string{"-flagfile", "f", "-flagfile=g"}, env, []string{
		`f:3: -member "": value missing; allowed is -member IP:PORT[,KEY=VALUE...]`,
		`f:5: -mebmer "10.0.0.1:80": unknown flag; did you mean member? ` + allowedAre("", flagNames),
		`f:7: -flagfile "g": allowed is only on the command line, not inside of a flag file`,
		`f:9: -h "": unknown flag; ` + allowedAre("", flagNames),
		`-flagfile "g": given twice; allowed is one flag file`,
		`f:6: -loops "= 3": allowed is 0 (one a core) to 1024`,
		`f:8: -listen ":81": given twice; allowed is one -listen, or for more addresses -virtual NAME,listen=ADDR,pool=NAME[,KEY=VALUE...] for each`,
		`f:10: -node "10.0.0.1,state=up": state="up": allowed is enabled|disabled|offline`,
	})
	checkMistakes(t, []string{ok, "-flagfile", "g"}, env, []string{
		`-flagfile "g": open g: file does not exist; allowed is a file that can be read`,
	})
	checkMistakes(t, []string{ok, "-flagfile", "g"}, Env{}, []string{
		`-flagfile "g": files can't be read here; allowed is a file that can be read`,
	})
}

// A line stays a line, and its length bounded, whatever is in the value.
func TestMistakesStayLines(t *testing.T) {
	_, err := Parse([]string{ok, "-pool", "a\n\x00" + strings.Repeat(",\x1b", 1000)}, Env{})
	for _, line := range strings.Split(fmt.Sprint(err), "\n") {
		if !strings.HasPrefix(line, `-pool "a\n\x00,\x1b`) || len(line) > 2000 {
			t.Fatalf("line %q", line)
		}
	}
}

func TestNearest(t *testing.T) {
	for s, want := range map[string]string{
		"queue-depth": "queue-depth-cap", "quue-time-limit": "queue-time-limit", "limit": "connection-limit",
		"": "", "xyzzy": "", "e": "", strings.Repeat("x", 1000): "",
	} {
		if got := nearest(s, names(poolKeys)); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// Objects have numbers of 16 bits, which must not be given out twice.
func TestTooMany(t *testing.T) {
	var file strings.Builder
	for i := range MostObjects {
		fmt.Fprintf(&file, "member 10.0.%d.%d:%d\n", i>>8, i&255, 80)
	}
	env := testEnv(map[string]string{"f": file.String(), "g": file.String() + "member 10.0.0.1:81\n", "h": file.String() + "member 10.1.0.1:81\n"})
	if _, err := Parse([]string{"-listen", ":80", "-flagfile", "f"}, env); err != nil {
		t.Fatal(err)
	}
	checkMistakes(t, []string{"-listen", ":80", "-flagfile", "g"}, env, []string{"-member: there are 32001; allowed are 32000"})
	checkMistakes(t, []string{"-listen", ":80", "-flagfile", "h"}, env, []string{"-member: there are 32001; allowed are 32000",
		"-node, with the addresses of members: there are 32001; allowed are 32000"})
}
