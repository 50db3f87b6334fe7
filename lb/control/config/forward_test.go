package config

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// forwarding is a virtual server whose connections are forwarded to servers on
// a device of their own.
var forwarding = []string{
	"-tap=tap0", "-tap=tap1,side=servers,address=10.0.0.9/24,gateway=10.0.0.254", "-pool=p",
	"-virtual=v,listen=198.18.0.9:80,front=tap,mode=forward,snat=10.0.0.9/10.0.0.8", "-member=10.0.0.1:80,pool=p",
}

func TestSides(t *testing.T) {
	for _, tt := range []struct {
		file, line string
		clients    string // name side
		servers    string
	}{
		{"", "-tap=a", "a both", ""},
		{"", "-tap=a,side=clients", "a clients", ""},
		{"", "-tap=a -tap=b,side=servers", "a clients", "b servers"},
		{"", "-tap=b,side=servers -tap=a", "a clients", "b servers"},
		{"", "-tap=a,side=clients -tap=b,side=servers", "a clients", "b servers"},
		{"tap a", "-tap=b", "b both", ""},
		{"tap a", "-tap=b,side=servers", "a clients", "b servers"},
		{"tap a\ntap b,side=servers", "-tap=c", "c clients", "b servers"},
		{"tap a\ntap b,side=servers", "-tap=c,side=servers", "a clients", "c servers"},
		{"tap a\ntap b,side=servers", "-tap=c -tap=d,side=servers", "c clients", "d servers"},
	} {
		env := testEnv(map[string]string{"f": tt.file + "\nlisten :80"})
		c, err := Parse(append(strings.Fields(tt.line), "-flagfile=f"), env)
		if err != nil {
			t.Errorf("%q, %s: %v", tt.file, tt.line, err)
			continue
		}
		show := func(d *Tap) string {
			if d == nil {
				return ""
			}
			return d.Device + " " + d.Side.String()
		}
		if got := show(c.Tap); got != tt.clients {
			t.Errorf("%q, %s: clients on %s", tt.file, tt.line, got)
		}
		if got := show(c.ServerTap); got != tt.servers {
			t.Errorf("%q, %s: servers on %s", tt.file, tt.line, got)
		}
	}
}

func TestSideMistakes(t *testing.T) {
	const twice = "given twice; allowed is once, and once more with side=servers"
	for args, want := range map[string]string{
		"-tap=a -tap=b":                            `-tap "b": ` + twice,
		"-tap=a -tap=b,side=clients":               `-tap "b,side=clients": ` + twice,
		"-tap=a -tap=b,side=servers -tap=c":        `-tap "c": ` + twice,
		"-tap=a -tap=b,side=server":                `-tap "b,side=server": side="server": allowed is both|clients|servers`,
		"-tap=b,side=servers":                      `-tap "b,side=servers": side="servers": there is none for clients; allowed is both, or one more -tap for clients`,
		"-tap=a,side=both -tap=b,side=servers":     `-tap "a,side=both": side="both": servers are on another, b; allowed is clients`,
		"-tap=a -tap=a,side=servers":               `-tap "a,side=servers": dev="a": has clients on it; allowed is another for servers`,
		"-tap=a -tap=b,side=servers,rack=on":       `-tap "b,side=servers,rack=on": rack="on": means nothing with side=servers; allowed is it without that, or not at all`,
		"-tap=a -tap=b,side=servers,flow-table=4M": `-tap "b,side=servers,flow-table=4M": flow-table="4M": means nothing with side=servers; allowed is it without that, or not at all`,
		"-tap=a,address=10.0.0.9/24,gateway=10.0.0.1 -tap=b,side=servers": `-tap "a,address=10.0.0.9/24,gateway=10.0.0.1": gateway="10.0.0.1": ` +
			"is for servers, which are not on it; allowed is none, or it on the device with side=servers",
		"-tap=a,gateway=10.0.0.1":                     `-tap "a,gateway=10.0.0.1": gateway="10.0.0.1": 10.0.0.1 is in no network of its address=; allowed is a router that is in one`,
		"-tap=a,gateway=fe80::1,address=10.0.0.9/24":  `-tap "a,gateway=fe80::1,address=10.0.0.9/24": gateway="fe80::1": fe80::1 is in no network of its address=; allowed is a router that is in one`,
		"-tap=a,gateway=10.0.0.9,address=10.0.0.9/24": `-tap "a,gateway=10.0.0.9,address=10.0.0.9/24": gateway="10.0.0.9": 10.0.0.9 is an address of ours; allowed is that of a router`,
		"-tap=a -tap=b,side=servers,address=2001:db8::9/64,mtu=1279": `-tap "b,side=servers,address=2001:db8::9/64,mtu=1279": mtu="1279": ` +
			"too small for the IPv6 addresses on it; allowed is 0, or 1280 to 65521",
	} {
		checkMistakes(t, append(strings.Fields(args), ok), testEnv(nil), []string{want})
	}
}

func TestForwardMistakes(t *testing.T) {
	const nothing = ": means nothing with mode=forward; allowed is it without that, or not at all"
	const members = "virtual server v has mode=forward, and "
	const there = "; allowed is a server in a network of its address=, or its gateway= for "
	virtual := func(keys string) string { return "v,listen=198.18.0.9:80,front=tap,mode=forward" + keys }
	for _, tt := range []struct{ tap, pool, virtual, member, want string }{
		{"", "", virtual(",keepalive=30s"), "", `keepalive="30s"` + nothing},
		{"", "", virtual(",tcp-user-timeout=1m"), "", `tcp-user-timeout="1m"` + nothing},
		{"", "", virtual(",accept-proxy-protocol=on"), "", `accept-proxy-protocol="on"` + nothing},
		{"", "", virtual(",trusted-proxies=10.0.0.0/8"), "", `trusted-proxies="10.0.0.0/8"` + nothing},
		{"", "", "v,listen=198.18.0.9:80,front=tap,snat=10.0.0.9", "", `snat="10.0.0.9": only for mode=forward, and this is tcp; allowed is it with mode=forward, or not at all`},
		{"", "", "v,listen=:80,mode=forward", "", `mode="forward": needs front=tap; allowed is it with that and -tap NAME, or mode=tcp`},
		{"", "", virtual(",snat=10.0.0.9/2001:db8::9"), "", `snat="10.0.0.9/2001:db8::9": 2001:db8::9 is no IPv4 address, which its clients have; allowed are those`},
		{"", "", virtual(",snat=198.18.0.9"), "", `snat="198.18.0.9": 198.18.0.9 is the address of virtual server v; allowed are addresses that have no other use`},
		{"", "", virtual(",snat=10.0.0.1"), "10.0.0.1:80", `snat="10.0.0.1": 10.0.0.1 is the address of member p/10.0.0.1:80; allowed are addresses that have no other use`},
		{"", "", virtual(",snat=10.0.0.254"), "", `snat="10.0.0.254": 10.0.0.254 is the address of the gateway of tap tap1; allowed are addresses that have no other use`},
		{"", "send-proxy-protocol=v2", virtual(""), "", `-pool "p,send-proxy-protocol=v2": send-proxy-protocol="v2": ` +
			"virtual server v has mode=forward, which puts nothing into a connection; allowed is off"},
		{"", "", virtual(""), "[2001:db8::1]:80", `address="[2001:db8::1]:80": ` + members + "IPv4 clients; allowed is such a server, or mode=tcp"},
		{"", "", virtual(""), "10.0.0.9:80", `address="10.0.0.9:80": ` + members + "this is an address of ours on a TAP device; allowed is a server's"},
		{"", "", virtual(""), "198.18.0.9:81", `address="198.18.0.9:81": ` + members + "this is an address of ours on a TAP device; allowed is a server's"},
		{"", "", virtual(""), "127.0.0.1:80", `address="127.0.0.1:80": ` + members + "tap tap1 does not lead there" + there + "IPv4, or mode=tcp"},
		{"tap1,side=servers,address=10.0.0.9/24", "", virtual(""), "10.0.1.1:80", `address="10.0.1.1:80": ` + members + "tap tap1 does not lead there" + there + "IPv4, or mode=tcp"},
		{"tap1,side=servers,address=10.0.0.9", "", virtual(""), "10.0.1.1:80", `-tap "tap1,side=servers,address=10.0.0.9": address="10.0.0.9": ` + errOwn.Error()},
		{"", "", virtual(",refuse=close"), "", `refuse="close": with front=tap a client is not connected yet when it is refused; allowed is reset|drop`},
		{"", "", virtual(",mode=tcp"), "", `mode="tcp": key given twice; allowed is once`},
		{"", "", "v,listen=198.18.0.9:80,front=tap,mode=forwards,snat=10.0.0.9,keepalive=1m", "", `mode="forwards": allowed is tcp|forward`},
	} {
		if tt.tap == "" {
			tt.tap = "tap1,side=servers,address=10.0.0.9/24,gateway=10.0.0.254"
		}
		pool, label := "p", "-virtual "+quote(tt.virtual)+": "
		if tt.pool != "" {
			pool += "," + tt.pool
		}
		args := []string{"-tap=tap0", "-tap=" + tt.tap, "-pool=" + pool, "-virtual=" + tt.virtual}
		if tt.member != "" {
			args = append(args, "-member="+tt.member+",pool=p")
		}
		switch {
		case strings.HasPrefix(tt.want, "-"):
			label = ""
		case strings.HasPrefix(tt.want, "address="):
			label = "-member " + quote(tt.member+",pool=p") + ": "
		}
		checkMistakes(t, args, testEnv(nil), []string{label + tt.want})
	}
	alone := []string{"-tap=tap0,side=clients", "-pool=p", "-virtual=" + virtual("")}
	checkMistakes(t, alone, testEnv(nil), []string{`-tap "tap0,side=clients": side="clients": virtual server v has mode=forward, ` +
		"and there is no device for servers; allowed is both, or one more -tap with side=servers"})
}

// What is set of forwarding while it runs holds for new connections; the mode
// is for the start.
func TestForwardChanges(t *testing.T) {
	c := mustParse(t, forwarding...)
	n := c.Clone()
	if !reflect.DeepEqual(c, n) || n.ServerTap == c.ServerTap || &n.ServerTap.Gateways[0] == &c.ServerTap.Gateways[0] ||
		&n.Virtuals[0].SNAT[0] == &c.Virtuals[0].SNAT[0] {
		t.Errorf("%+v is no copy of %+v", n, c)
	}
	err := n.SetVirtual("v", Setting{"snat", "10.0.0.7"}, Setting{"mode", "forward"})
	if want := []netip.Addr{netip.MustParseAddr("10.0.0.7")}; err != nil || !slices.Equal(n.Virtuals[0].SNAT, want) || Unchangeable(c, n) != nil {
		t.Errorf("%v, %v, %v", err, n.Virtuals[0].SNAT, Unchangeable(c, n))
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{c.Clone().SetVirtual("v", Setting{"mode", "tcp"}), `virtual v: mode="tcp": can't be changed while it runs; allowed is forward, or a restart`},
		{c.Clone().SetVirtual("v", Setting{"keepalive", "1m"}), `virtual v: keepalive="1m": means nothing with mode=forward; allowed is it without that, or not at all`},
		{c.Clone().SetVirtual("v", Setting{"snat", "10.0.0.1"}), `virtual v: snat="10.0.0.1": 10.0.0.1 is the address of member p/10.0.0.1:80; ` +
			`allowed are addresses that have no other use`},
		{c.Clone().SetPool("p", Setting{"send-proxy-protocol", "v1"}), `pool p: send-proxy-protocol="v1": virtual server v has mode=forward, ` +
			`which puts nothing into a connection; allowed is off`},
		{c.Clone().AddMember("p", Setting{"address", "10.0.0.8:80"}), `virtual v: snat="10.0.0.9/10.0.0.8": 10.0.0.8 is the address of member p/10.0.0.8:80; ` +
			`allowed are addresses that have no other use`},
		{c.Clone().AddMember("p", Setting{"address", "[::2]:80"}), `member p/[::2]:80: address="[::2]:80": virtual server v has mode=forward, ` +
			`and IPv4 clients; allowed is such a server, or mode=tcp`},
	} {
		if errorText(tt.err) != tt.want {
			t.Errorf("got  %v\nwant %s", tt.err, tt.want)
		}
	}
}

// The devices stay as they are.
func TestForwardReload(t *testing.T) {
	rest := "\npool p\nvirtual v,listen=198.18.0.9:80,front=tap,mode=forward\nmember 10.0.0.1:80,pool=p\n"
	two := "tap tap0\ntap tap1,side=servers,address=10.0.0.9/24"
	files := map[string]string{"f": two + rest}
	args := []string{"-flagfile=f"}
	old, err := Parse(args, testEnv(files))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		two + rest + "virtual w,listen=198.18.0.9:81,front=tap,mode=forward,snat=10.0.0.9": "",
		two + strings.Replace(rest, "mode=forward", "mode=forward,snat=10.0.0.7", 1):       "",
		two + strings.Replace(rest, "mode=forward", "mode=tcp", 1):                         `virtual v: mode="tcp": can't be changed while it runs; allowed is forward, another name, or a restart`,
		two + ",gateway=10.0.0.254" + rest:                                                 `tap tap1: gateway="10.0.0.254": can't be changed while it runs; allowed is none, or a restart`,
		"tap tap0,flow-table=9\ntap tap1,side=servers,address=10.0.0.9/24" + rest:          `tap tap0: flow-table="9": can't be changed while it runs; allowed is 4M, or a restart`,
		"tap tap0,address=10.0.0.9/24" + rest: `tap tap0: address="10.0.0.9/24": can't be changed while it runs; allowed is none, or a restart` + "\n" +
			`-tap "tap1": can't be taken away while it runs; allowed is to keep it, or a restart`,
	} {
		files["f"] = text
		_, err := Reload(old, args, testEnv(files))
		if got := errorText(err); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
	one := mustParse(t, "-tap=tap0", ok)
	files["f"] = two + "\nlisten :8080\n"
	_, err = Reload(one, args, testEnv(files))
	if want := `-tap "tap1": can't be added while it runs; allowed is none, or a restart`; errorText(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A member has no more connections than there are ports for, if each needs one.
func TestMemberLimits(t *testing.T) {
	const none, one = 0, 64512
	tcp, own, a, b, ab := "", ",mode=forward", ",mode=forward,snat=10.0.0.7", ",mode=forward,snat=10.0.0.8", ",mode=forward,snat=10.0.0.8/10.0.0.7"
	for _, tt := range []struct {
		virtuals []string
		given    string
		want     int64
		depth    int64
	}{
		{nil, "0", none, 0},
		{[]string{tcp}, "0", none, 0},
		{[]string{own}, "0", none, 0},
		{[]string{own}, "70000", 70000, 70000},
		{[]string{a}, "0", one, one},
		{[]string{a}, "7", 7, 7},
		{[]string{a}, "64513", one, one},
		{[]string{a, a}, "0", one, one},
		{[]string{a, b}, "0", 2 * one, 2 * one},
		{[]string{a, ab}, "0", 2 * one, 2 * one},
		{[]string{ab}, "70000", 70000, 70000},
		{[]string{a, own}, "0", none, 0},
		{[]string{a, tcp}, "70000", 70000, 70000},
	} {
		args := []string{"-tap=tap0,address=10.0.0.9/24", "-pool=p", "-pool=other", "-member=10.0.0.1:80,pool=p,connection-limit=" + tt.given,
			"-virtual=o,listen=198.18.0.10:80,pool=other,front=tap,mode=forward,snat=10.0.0.6"}
		for i, keys := range tt.virtuals {
			args = append(args, "-virtual=v"+string(rune('0'+i))+",pool=p,front=tap,listen=198.18.0.9:8"+string(rune('0'+i))+keys)
		}
		c := mustParse(t, args...)
		if got := c.MemberLimits(0)[0]; got != tt.want || c.Depth(0) != tt.depth || c.MemberDepths(0)[0] != tt.depth {
			t.Errorf("%q, connection-limit=%s: %d, depths %d and %d; want %d, %d", tt.virtuals, tt.given, got, c.Depth(0), c.MemberDepths(0)[0], tt.want, tt.depth)
		}
	}
}
