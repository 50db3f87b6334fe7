package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// oldValues is keyValues for the keys that are not there.
var oldValues = map[string][]string{
	"connection-limit": {"0", "1", "1099511627775"}, "queue-depth-limit": {"0", "3"},
	"queue-on-connection-limit": {"on", "off"}, "queue-depth-cap": {"members", "none"},
	"queue-time-limit": {"1500", "1h2m3.4s"}, "when-down": {"queue", "refuse"}, "when-down-time-limit": {"0", "1m"},
	"reselect-tries": {"0", "254"}, "connect-timeout": {"1ns"}, "on-client-close": {"leave", "keep", "abort"},
	"idle-timeout":       {"0", "90m"},
	"half-close-timeout": {"0", "1s"}, "keepalive": {"0", "9h"}, "tcp-user-timeout": {"0", "1ms"},
	"state":   {"enabled", "disabled", "offline"},
	"address": {"none", "198.18.0.2/24", "198.18.0.2/24/2001:db8::2/64"}, "mac": {"auto", "02:00:00:00:00:01"},
	"mtu": {"0", "1500"}, "mss": {"0", "1400"}, "rack": {"on", "off"}, "congestion-control": {"cubic", "reno"},
	"time-wait": {"1", "60s"}, "receive-buffer": {"4097", "64K"}, "send-buffer": {"1M"}, "syn-table": {"1", "16M"},
	"flow-table": {"1", "16M"},
}

// proxies are the keys that do not go together as one likes.
var (
	proxies = []string{"", ",trusted-proxies=::/0/0.0.0.0/0", ",accept-proxy-protocol=on,trusted-proxies=10.0.0.0/8"}
	kernels = []string{"", ",front=kernel", ",refuse=close", ",front=kernel,refuse=http-503"}
	taps    = []string{"", ",refuse=drop", ",syn-proof=always", ",syn-proof=off,syn-share=0", ",syn-share=100"}

	forwards = []string{",mode=forward", ",mode=forward,snat=10.0.0.98", ",mode=forward,snat=10.0.0.99/10.0.0.98,refuse=drop"}
	links    = []string{"", ",gateway=10.0.0.97", ",gateway=fe80::1/10.0.0.97,mtu=1400", ",mac=02:00:00:00:00:02"}
)

// drawKeys sets some keys of a table, but for those that are left out.
func drawKeys[K any](t *rapid.T, flag string, keys []key[K], left ...string) (pairs string) {
	for _, k := range keys {
		values := oldValues[k.name]
		for _, kv := range keyValues {
			if kv.flag == flag && kv.key == k.name && k.name != "accept-proxy-protocol" && k.name != "trusted-proxies" {
				values = kv.values
			}
		}
		if len(values) > 0 && !k.fixed && !slices.Contains(left, k.name) && rapid.Bool().Draw(t, k.name) {
			value, _, _ := strings.Cut(rapid.SampledFrom(values).Draw(t, "value of "+k.name), ">")
			pairs += "," + k.name + "=" + value
		}
	}
	return pairs
}

var monitorText = rapid.StringMatching(`[ -~é日\r\n]{1,20}`).Filter(func(s string) bool {
	_, err := parseSend(escape(s))
	return err == nil && s != anyAnswer
})

// drawArgs is a valid configuration.
func drawArgs(t *rapid.T) (args []string) {
	device, forward := rapid.Bool().Draw(t, "device"), false
	var left []string // keys that mean nothing
	if device {
		args = append(args, "-tap=tap0"+drawKeys(t, flagTap, tapKeys))
		if forward = rapid.Bool().Draw(t, "forward"); forward {
			args = append(args, "-tap=tap1,side=servers,address=10.0.0.99/24/2001:db8::1/64"+rapid.SampledFrom(links).Draw(t, "servers' device"))
			left = []string{"keepalive", "tcp-user-timeout", "proxy-header-timeout", "send-proxy-protocol", "mode"}
		}
	}
	pools := rapid.IntRange(1, 3).Draw(t, "pools")
	for p := range pools {
		pool := fmt.Sprintf("-pool=p%d%s", p, drawKeys(t, flagPool, poolKeys, left...))
		if strings.Contains(pool, "monitor=http") || strings.Contains(pool, "monitor=none") {
			pool += ",monitor-send=" + escape(monitorText.Draw(t, "send")) + ",monitor-recv=" + escape(monitorText.Draw(t, "recv"))
		}
		args = append(args, pool)
	}
	for v := range rapid.IntRange(1, 3).Draw(t, "virtuals") {
		listen, front := "", rapid.SampledFrom(kernels).Draw(t, "front")
		proxy := rapid.SampledFrom(proxies).Draw(t, "proxies")
		switch {
		case forward:
			listen, front, proxy = "198.18.0.1", ",front=tap"+rapid.SampledFrom(forwards).Draw(t, "snat"), ""
		case device:
			listen, front = "198.18.0.1", ",front=tap"+rapid.SampledFrom(taps).Draw(t, "tap keys")
		}
		args = append(args, fmt.Sprintf("-virtual=v%d,listen=%s:%d,pool=p%d%s", v, listen, 80+v, rapid.IntRange(0, pools-1).Draw(t, "pool"),
			drawKeys(t, flagVirtual, virtualKeys, left...)+front+proxy))
	}
	for m := range rapid.IntRange(0, 6).Draw(t, "members") {
		args = append(args, fmt.Sprintf("-member=10.0.0.%d:%d,pool=p%d%s", rapid.IntRange(1, 4).Draw(t, "node"), 80+m,
			rapid.IntRange(0, pools-1).Draw(t, "pool"), drawKeys(t, flagMember, memberKeys)))
	}
	for n := range 5 {
		if rapid.Bool().Draw(t, "given") {
			args = append(args, fmt.Sprintf("-node=10.0.0.%d%s", n+1, drawKeys(t, flagNode, nodeKeys)))
		}
	}
	return rapid.Permutation(args).Draw(t, "order")
}

// A configuration as flags is the same configuration, on the command line and
// line by line in a file. So it is after a change.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := drawArgs(t)
		c, err := Parse(args, Env{})
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		checkSame(t, c)
		drawChange(t, c)
		again := checkSame(t, c)
		again.number()
		if c.number(); !reflect.DeepEqual(c, again) {
			t.Fatalf("%q: numbers %+v, want %+v", c.Flags(), again, c)
		}
	})
}

func checkSame(t *rapid.T, c *Config) *Config {
	env := testEnv(map[string]string{"f": strings.Join(c.Flags(), "\n")})
	file, err := Parse([]string{"-flagfile=f"}, env)
	if err != nil {
		t.Fatalf("%q: %v", c.Flags(), err)
	}
	file.FlagFile = ""
	line, err := Parse(c.Flags(), Env{})
	if err != nil {
		t.Fatalf("%q: %v", c.Flags(), err)
	}
	for _, got := range []*Config{file, line} {
		if Inherit(c, got); !reflect.DeepEqual(c, got) {
			t.Fatalf("%q:\ngot  %+v\nwant %+v", c.Flags(), got, c)
		}
	}
	return line
}

// drawChange adds and removes members, and sets keys of what is there.
func drawChange(t *rapid.T, c *Config) {
	before := c.Clone()
	for n := range rapid.IntRange(0, 5).Draw(t, "changes") {
		next := c.Clone()
		p := &next.Pools[rapid.IntRange(0, len(c.Pools)-1).Draw(t, "pool")]
		var err error
		switch {
		case rapid.Bool().Draw(t, "add"):
			err = next.AddMember(p.Name, Setting{"address", fmt.Sprintf("10.0.0.%d:%d", 4+n, n+1)}, Setting{"ratio", "2"})
		case len(p.Members) == 0:
			err = next.SetPool(p.Name, Setting{"min-active-members", "3"})
		case rapid.Bool().Draw(t, "remove"):
			err = next.RemoveMember(p.Name, p.Members[0].Address.String())
		default:
			err = next.SetNode(p.Members[0].Address.Addr().String(), Setting{"ratio", "3"})
		}
		if err != nil {
			t.Fatal(err)
		}
		*c = *next
	}
	Inherit(before, c)
}
