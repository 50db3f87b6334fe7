package config

import (
	"strings"
	"testing"
)

const (
	seconds   = "; a bare number is seconds"
	units     = "; K is 1024, M is 1048576"
	shortMore = "allowed is more than 0, up to 87600h" + span + seconds
)

// keyMistakes has values that a key does not allow, and what it says.
var keyMistakes = []struct{ flag, words, key, value, want string }{
	{"virtual", "v,listen=:1", "persist", "on", errPrefix.Error()},
	{"virtual", "v,listen=:1", "persist", "source/", errPrefix.Error()},
	{"virtual", "v,listen=:1", "persist", "source/0", errPrefix.Error()},
	{"virtual", "v,listen=:1", "persist", "source/33", errPrefix.Error()},
	{"virtual", "v,listen=:1", "persist", "source/24/129", errPrefix.Error()},
	{"virtual", "v,listen=:1", "persist", "source/24/0", errPrefix.Error()},
	{"virtual", "v,listen=:1", "persist", "source/24/64/1", errPrefix.Error()},
	{"virtual", "v,listen=:1", "persist", "source/+24", errPrefix.Error()},
	{"virtual", "v,listen=:1", "persist-timeout", "0", shortMore},
	{"virtual", "v,listen=:1", "persist-timeout", "-5", shortMore},
	{"virtual", "v,listen=:1", "persist-timeout", "9223372036854775807", shortMore},
	{"virtual", "v,listen=:1", "override-connection-limit", "yes", "allowed is on|off"},
	{"virtual", "v,listen=:1", "accept-proxy-protocol", "v1", "allowed is on|off"},
	{"virtual", "v,listen=:1", "trusted-proxies", "10.0.0.0/33", errTrusted.Error()},
	{"virtual", "v,listen=:1", "trusted-proxies", "8/10.0.0.0", errTrusted.Error()},
	{"virtual", "v,listen=:1", "trusted-proxies", "10.0.0.0/8/16", errTrusted.Error()},
	{"virtual", "v,listen=:1", "trusted-proxies", "10.0.0.0//8", errTrusted.Error()},
	{"virtual", "v,listen=:1", "trusted-proxies", "none/10.0.0.0", errTrusted.Error()},
	{"virtual", "v,listen=:1", "trusted-proxies", "fe80::1%eth0", errZone.Error()},
	{"virtual", "v,listen=:1", "trusted-proxies", "10.1.2.3/8", "10.1.2.3/8 has bits beyond its first 8; allowed is 10.0.0.0/8"},
	{"virtual", "v,listen=:1", "trusted-proxies", "::ffff:10.0.0.0/95", "fewer than 96 bits of an IPv4 address in IPv6; " + errTrusted.Error()},
	{"virtual", "v,listen=:1", "proxy-header-timeout", "0", "allowed is more than 0, up to 1h" + span},
	{"virtual", "v,listen=:1", "queue-class", "8", errClass.Error()},
	{"virtual", "v,listen=:1", "queue-class", "-1", errClass.Error()},
	{"virtual", "v,listen=:1", "queue-class-from", "10.0.0.0:7", errClasses.Error()},
	{"virtual", "v,listen=:1", "queue-class-from", "10.0.0.0/8", errClasses.Error()},
	{"virtual", "v,listen=:1", "queue-class-from", "10.0.0.0/8:8", errClasses.Error()},
	{"virtual", "v,listen=:1", "queue-class-from", "10.0.0.0/8:1/", errClasses.Error()},
	{"virtual", "v,listen=:1", "queue-class-from", "10.0.0.0/8:1/10.0.0.0/8:2", "10.0.0.0/8 given twice; allowed is once"},
	{"virtual", "v,listen=:1", "front", "nic", "allowed is kernel|tap"},
	{"virtual", "v,listen=:1", "refuse", "silence", "allowed is reset|close|http-503|drop"},
	{"virtual", "v,listen=10.0.0.1:1", "mode", "udp", "allowed is tcp|forward"},
	{"virtual", "v,listen=10.0.0.1:1,front=tap,mode=forward", "snat", "10.0.0.0/8", errSNAT.Error()},
	{"virtual", "v,listen=10.0.0.1:1,front=tap,mode=forward", "snat", "automap", errSNAT.Error()},
	{"virtual", "v,listen=10.0.0.1:1,front=tap,mode=forward", "snat", "127.0.0.1", errSNAT.Error()},
	{"virtual", "v,listen=10.0.0.1:1,front=tap,mode=forward", "snat", "0.0.0.0", errSNAT.Error()},
	{"virtual", "v,listen=10.0.0.1:1,front=tap,mode=forward", "snat", "10.0.0.9/none", errSNAT.Error()},
	{"virtual", "v,listen=10.0.0.1:1,front=tap,mode=forward", "snat", "fe80::1%eth0", errZone.Error()},
	{"virtual", "v,listen=10.0.0.1:1,front=tap,mode=forward", "snat", "10.0.0.8/::ffff:10.0.0.8", "10.0.0.8 given twice; allowed is once"},
	{"virtual", "v,listen=10.0.0.1:1,front=tap", "syn-proof", "on", "allowed is auto|always|off"},
	{"virtual", "v,listen=10.0.0.1:1,front=tap", "syn-share", "101", "allowed is 0 (all of it) to 100"},
	{"virtual", "v,listen=10.0.0.1:1,front=tap", "syn-share", "25%", "allowed is 0 (all of it) to 100"},
	{"pool", "a", "load-balancing-mode", "random", "allowed is round-robin|ratio|least-connections|source-hash"},
	{"pool", "a", "slow-ramp-time", "-1", "allowed is 0 (at once) to 87600h" + span + seconds},
	{"pool", "a", "min-active-members", "65536", "allowed is 0 (all are used) to 65535"},
	{"pool", "a", "service-down-action", "drop", "allowed is none|reset|reselect"},
	{"pool", "a", "monitor", "default", "allowed is tcp|http|none"},
	{"pool", "a", "monitor-interval", "0", "allowed is 10ms to 24h" + span + seconds},
	{"pool", "a", "monitor-interval", "9ms", "allowed is 10ms to 24h" + span + seconds},
	{"pool", "a", "monitor-timeout", "0", "allowed is 10ms to 168h" + span + seconds},
	{"pool", "a", "monitor-send", "/a b", errPath.Error()},
	{"pool", "a", "monitor-send", `/a\r\nX`, errPath.Error()},
	{"pool", "a", "monitor-send", `\x`, errText.Error()},
	{"pool", "a", "monitor-recv", `a\`, errText.Error()},
	{"pool", "a", "monitor-recv", "\x01", errText.Error()},
	{"pool", "a", "monitor-recv", "\xff", errText.Error()},
	{"pool", "a", "monitor-recv", strings.Repeat("x", maxMonitorText+1), errText.Error()},
	{"pool", "a", "send-proxy-protocol", "on", "allowed is off|v1|v2"},
	{"pool", "a", "persist-wait", "5", "allowed is 0 (as long as for any) to 87600h" + span},
	{"pool", "a", "queue-fair", "on", errPrefix.Error()},
	{"pool", "a", "queue-discipline", "lifo", "allowed is fifo|codel"},
	{"pool", "a", "refuse-early", "yes", "allowed is on|off"},
	{"pool", "a", "queue-class-age", "0", "allowed is more than 0, up to 24h" + span},
	{"member", "10.0.0.1:80", "ratio", "0", "allowed is 1 to 65535, or node"},
	{"member", "10.0.0.1:80", "ratio", "65536", "allowed is 1 to 65535, or node"},
	{"member", "10.0.0.1:80", "priority-group", "65536", "allowed is 0 to 65535"},
	{"node", "10.0.0.1", "ratio", "0", "allowed is 1 to 65535"},
	{"node", "10.0.0.1", "ratio", "node", "allowed is 1 to 65535"},
	{"tap", "tap0", "address", "198.18.0.1", errOwn.Error()},
	{"tap", "tap0", "address", "198.18.0.1/33", errOwn.Error()},
	{"tap", "tap0", "address", "198.18.0.1/0", errOwn.Error()},
	{"tap", "tap0", "address", "198.18.0.1/24/", errOwn.Error()},
	{"tap", "tap0", "address", "24/198.18.0.1", errOwn.Error()},
	{"tap", "tap0", "address", "none/24", errOwn.Error()},
	{"tap", "tap0", "address", "127.0.0.1/8", errOwn.Error()},
	{"tap", "tap0", "address", "::/64", errOwn.Error()},
	{"tap", "tap0", "address", "224.0.0.1/24", errOwn.Error()},
	{"tap", "tap0", "address", "fe80::1%tap0/64", errZone.Error()},
	{"tap", "tap0", "address", "198.18.0.0/24", "198.18.0.0/24 is the network itself; " + errOwn.Error()},
	{"tap", "tap0", "address", "2001:db8::/64", "2001:db8::/64 is the network itself; " + errOwn.Error()},
	{"tap", "tap0", "address", "198.18.0.1/24/198.18.0.1/25", "198.18.0.1 given twice; allowed is once"},
	{"tap", "tap0", "side", "server", "allowed is both|clients|servers"},
	{"tap", "tap0", "gateway", "198.18.0.0/24", errGateway.Error()},
	{"tap", "tap0", "gateway", "127.0.0.1", errGateway.Error()},
	{"tap", "tap0", "gateway", "198.18.0.254/198.18.0.253", errGateway.Error()},
	{"tap", "tap0", "gateway", "198.18.0.254/fe80::1/fe80::2", errGateway.Error()},
	{"tap", "tap0", "gateway", "none/fe80::1", errGateway.Error()},
	{"tap", "tap0", "gateway", "fe80::1%tap0", errZone.Error()},
	{"tap", "tap0", "mac", "02:00:00:00:00", errMAC.Error()},
	{"tap", "tap0", "mac", "00:00:00:00:00:00", errMAC.Error()},
	{"tap", "tap0", "mac", "01:00:5e:00:00:01", errMAC.Error()},
	{"tap", "tap0", "mac", "02:00:00:00:00:00:00:01", errMAC.Error()},
	{"tap", "tap0", "mtu", "575", "allowed is 0 (as the device has it), or 576 to 65521"},
	{"tap", "tap0", "mtu", "65522", "allowed is 0 (as the device has it), or 576 to 65521"},
	{"tap", "tap0", "mss", "87", "allowed is 0 (what the MTU allows), or 88 to 65521"},
	{"tap", "tap0", "rack", "yes", "allowed is on|off"},
	{"tap", "tap0", "congestion-control", "bbr", "allowed is cubic|reno"},
	{"tap", "tap0", "time-wait", "0", "allowed is 100ms to 1m" + span + seconds},
	{"tap", "tap0", "time-wait", "61", "allowed is 100ms to 1m" + span + seconds},
	{"tap", "tap0", "receive-buffer", "4095", "allowed is 4K to 64M" + units},
	{"tap", "tap0", "receive-buffer", "65M", "allowed is 4K to 64M" + units},
	{"tap", "tap0", "send-buffer", "4m", "allowed is 4K to 64M" + units},
	{"tap", "tap0", "send-buffer", "1G", "allowed is 4K to 64M" + units},
	{"tap", "tap0", "send-buffer", "M", "allowed is 4K to 64M" + units},
	{"tap", "tap0", "send-buffer", "-4M", "allowed is 4K to 64M" + units},
	{"tap", "tap0", "syn-table", "0", "allowed is 1 to 16M" + units},
	{"tap", "tap0", "syn-table", "17M", "allowed is 1 to 16M" + units},
	{"tap", "tap0", "flow-table", "0", "allowed is 1 to 16M" + units},
	{"tap", "tap0", "flow-table", "17M", "allowed is 1 to 16M" + units},
	{"tap", "tap0", "syn-table", "9223372036854775807M", "allowed is 1 to 16M" + units},
}

func TestKeyMistakes(t *testing.T) {
	for _, tt := range keyMistakes {
		g := given{flag: tt.flag, value: tt.words + "," + tt.key + "=" + tt.value}
		if tt.flag == "virtual" {
			g.value += ",pool=default"
		}
		args := []string{ok, "-" + tt.flag, g.value}
		if tt.flag == "virtual" && strings.Contains(tt.words, "front=tap") {
			args = append(args, "-tap=tap0")
		}
		checkMistakes(t, args, testEnv(nil), []string{
			g.String() + ": " + tt.key + "=" + quote(tt.value) + ": " + tt.want,
		})
	}
}

// keyValues has for each key what it is if nobody sets it, and then values
// that can be set, with how they are shown.
var keyValues = []struct {
	flag, key, def string
	values         []string // value>shown, or both at once if they are the same
}{
	{"virtual", "persist", "off", []string{"off", "source>source/32/128", "source/24>source/24/64", "source/32>source/32/128", "source/8/56"}},
	{"virtual", "persist-timeout", "3m", []string{"1>1s", "1ms", "180s>3m"}},
	{"virtual", "override-connection-limit", "off", []string{"on", "off"}},
	{"virtual", "accept-proxy-protocol", "off", []string{"off"}},
	{"virtual", "trusted-proxies", "none", []string{"none", "0.0.0.0/0/::/0", "192.0.2.1>192.0.2.1/32",
		"::ffff:10.0.0.0/104>10.0.0.0/8", "::ffff:10.0.0.1>10.0.0.1/32", "::1/10.0.0.0/8>::1/128/10.0.0.0/8"}},
	{"virtual", "proxy-header-timeout", "3s", []string{"1s"}},
	{"virtual", "queue-class", "0", []string{"0", "7"}},
	{"virtual", "queue-class-from", "none", []string{"none", "0.0.0.0/0:0", "10.0.0.0/8:7/10.1.0.0/16:3>10.1.0.0/16:3/10.0.0.0/8:7"}},
	{"virtual", "mode", "tcp", []string{"tcp"}},
	{"pool", "load-balancing-mode", "round-robin", []string{"ratio", "least-connections", "source-hash", "round-robin"}},
	{"pool", "slow-ramp-time", "10s", []string{"0", "30>30s", "1500ms>1.5s"}},
	{"pool", "min-active-members", "0", []string{"0", "65535"}},
	{"pool", "service-down-action", "none", []string{"none", "reset", "reselect"}},
	{"pool", "monitor", "none", []string{"none", "tcp", "http"}},
	{"pool", "monitor-interval", "5s", []string{"10ms", "24h", "2>2s"}},
	{"pool", "monitor-timeout", "16s", []string{"10ms", "168h", "2>2s"}},
	{"pool", "send-proxy-protocol", "off", []string{"v1", "v2", "off"}},
	{"pool", "persist-wait", "0", []string{"0", "2s"}},
	{"pool", "queue-fair", "off", []string{"source/24>source/24/64", "off"}},
	{"pool", "queue-discipline", "fifo", []string{"codel", "fifo"}},
	{"pool", "refuse-early", "off", []string{"on", "off"}},
	{"pool", "queue-class-age", "1s", []string{"1ms", "24h"}},
	{"member", "ratio", "node", []string{"1", "65535", "node"}},
	{"member", "priority-group", "0", []string{"0", "65535"}},
	{"node", "ratio", "1", []string{"1", "65535"}},
}

func TestKeyValues(t *testing.T) {
	for _, tt := range keyValues {
		c := mustParse(t, "-virtual", "v,listen=:80,pool=p", "-pool", "p", "-node", "10.0.0.1", "-member", "10.0.0.1:80,pool=p")
		if got := shown(c, tt.flag, tt.key); got != tt.def {
			t.Errorf("%s %s is %s at first, want %s", tt.flag, tt.key, got, tt.def)
		}
		for _, v := range tt.values {
			value, want, differs := strings.Cut(v, ">")
			if !differs {
				want = value
			}
			if err := setAny(c, tt.flag, Setting{tt.key, value}); err != nil {
				t.Errorf("%s %s=%s: %v", tt.flag, tt.key, value, err)
			}
			if got := shown(c, tt.flag, tt.key); got != want {
				t.Errorf("%s %s=%s is %s, want %s", tt.flag, tt.key, value, got, want)
			}
		}
	}
}

// setAny changes the only object of a kind.
func setAny(c *Config, flag string, s ...Setting) error {
	switch flag {
	case flagVirtual:
		return c.SetVirtual("v", s...)
	case flagPool:
		return c.SetPool("p", s...)
	case flagMember:
		return c.SetMember("p", "10.0.0.1:80", s...)
	}
	return c.SetNode("10.0.0.1", s...)
}

func shown(c *Config, flag, key string) string {
	of := map[string][]Setting{
		flagVirtual: c.Virtuals[0].Settings(), flagPool: c.Pools[0].Settings(),
		flagMember: c.Pools[0].Members[0].Settings(), flagNode: c.Nodes[0].Settings(),
	}
	for _, s := range of[flag] {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// The text that a monitor sends and looks for, as it is written and as meant.
func TestMonitorText(t *testing.T) {
	for given, text := range map[string]string{
		"/healthz?a=1":  "/healthz?a=1",
		`GET /\r\n\r\n`: "GET /\r\n\r\n",
		`a\,b\\`:        `a,b\`,
		`a \#b`:         "a #b",
		"é":             "é",
	} {
		p := mustParse(t, ok, "-pool", "default,monitor=http,monitor-send="+given+",connection-limit=7").Pools[0]
		if p.MonitorSend != text || p.ConnectionLimit != 7 {
			t.Errorf("%s: %q and limit %d, want %q and 7", given, p.MonitorSend, p.ConnectionLimit, text)
		}
		if got := monitorSendKey.get(&p); got != given {
			t.Errorf("%s is shown as %s", given, got)
		}
	}
	c := mustParse(t, ok)
	if err := c.SetPool("default", Setting{"monitor", "http"}, Setting{"monitor-recv", "a,b"}); err != nil || c.Pools[0].MonitorRecv != "a,b" {
		t.Errorf("a bare comma in a change: %v, %q", err, c.Pools[0].MonitorRecv)
	}
}

// Monitors come with the second member unless somebody has decided, and the
// timeout follows the interval.
func TestMonitorDefault(t *testing.T) {
	const a, b = "-member=10.0.0.1:80", "-member=10.0.0.2:80"
	for _, tt := range []struct {
		args    []string
		monitor Monitor
		timeout string
	}{
		{nil, MonitorNone, "16s"},
		{[]string{a}, MonitorNone, "16s"},
		{[]string{a, b}, MonitorTCP, "16s"},
		{[]string{a, b, "-pool=default,monitor=none"}, MonitorNone, "16s"},
		{[]string{a, "-pool=default,monitor=http,monitor-interval=2"}, MonitorHTTP, "7s"},
		{[]string{a, "-pool=default,monitor-interval=24h"}, MonitorNone, "72h0m1s"},
		{[]string{a, "-pool=default,monitor-interval=2,monitor-timeout=20"}, MonitorNone, "20s"},
	} {
		p := mustParse(t, append(tt.args, ok)...).Pools[0]
		if p.Monitor != tt.monitor || formatTime(p.MonitorTimeout) != tt.timeout {
			t.Errorf("%q: monitor %s, timeout %v", tt.args, p.Monitor, p.MonitorTimeout)
		}
	}
	c := mustParse(t, ok, a)
	if err := c.AddMember("default", Setting{"address", "10.0.0.2:80"}); err != nil || c.Pools[0].Monitor != MonitorTCP {
		t.Errorf("with the second member: monitor %s, %v", c.Pools[0].Monitor, err)
	}
	if err := c.SetPool("default", Setting{"monitor-interval", "1s"}); err != nil || shown(c, flagPool, "monitor-timeout") != "4s" {
		t.Errorf("monitor-interval=1s: timeout %v, %v", c.Pools[0].MonitorTimeout, err)
	}
	if err := c.RemoveMember("default", "10.0.0.2:80"); err != nil || c.Pools[0].Monitor != MonitorNone {
		t.Errorf("without the second member: monitor %s, %v", c.Pools[0].Monitor, err)
	}
}
